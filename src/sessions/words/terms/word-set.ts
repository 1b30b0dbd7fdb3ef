/**
 * A set of words over one array of code units. A large archive has hundreds of millions of words and a few hundred
 * thousand distinct ones, so a known word is compared in place and never becomes a string.
 */

import { createCodeUnits } from "./code-units.ts"
import { endOfWord } from "./tokenizer.ts"

export interface WordSet {
  /** Adds a text. Returns whether it was new. */
  add(text: string): boolean
  /**
   * Adds each word of the first `length` code units and reports the new ones. Words are the runs that the tokenizer
   * splits.
   */
  addWords(text: Uint16Array, length: number, isNew: (start: number, end: number) => void): void
}

const SLOTS_FIRST = 1 << 16
const UNITS_FIRST = 1 << 20

/** Open addressing. Keeps no text alive. */
export function createWordSet(): WordSet {
  let slots = new Int32Array(SLOTS_FIRST)
  let hashes = new Int32Array(SLOTS_FIRST / 2)
  let ends = new Int32Array(SLOTS_FIRST / 2)
  let units = new Uint16Array(UNITS_FIRST)
  let size = 0
  let used = 0

  function isAt(number: number, text: Uint16Array, start: number, length: number): boolean {
    const from = number === 0 ? 0 : (ends[number - 1] as number)
    if ((ends[number] as number) - from !== length) return false
    for (let at = 0; at < length; at++) if (units[from + at] !== text[start + at]) return false
    return true
  }

  function slotOf(hash: number): number {
    return (Math.imul(hash ^ (hash >>> 15), 0x9e3779b1) >>> 8) & (slots.length - 1)
  }

  function grow(): void {
    slots = new Int32Array(slots.length * 2)
    hashes = larger(hashes, slots.length / 2)
    ends = larger(ends, slots.length / 2)
    for (let number = 0; number < size; number++) {
      let slot = slotOf(hashes[number] as number)
      while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1)
      slots[slot] = number + 1
    }
  }

  function keep(text: Uint16Array, start: number, end: number, hash: number): void {
    if (used + end - start > units.length) {
      const bigger = new Uint16Array(Math.max(units.length * 2, used + end - start))
      bigger.set(units)
      units = bigger
    }
    for (let at = start; at < end; at++) units[used++] = text[at] as number
    hashes[size] = hash
    ends[size] = used
    size += 1
  }

  function addUnits(text: Uint16Array, start: number, end: number): boolean {
    let hash = 0
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 0x01000193) + (text[at] as number)) | 0
    const mask = slots.length - 1
    let slot = slotOf(hash)
    for (let number = slots[slot] as number; number !== 0; number = slots[slot] as number) {
      if (hashes[number - 1] === hash && isAt(number - 1, text, start, end - start)) return false
      slot = (slot + 1) & mask
    }
    slots[slot] = size + 1
    keep(text, start, end, hash)
    if (size * 2 >= slots.length) grow()
    return true
  }

  const own = createCodeUnits()
  return {
    add: (text) => {
      own.begin(text)
      return addUnits(own.units, 0, own.length)
    },
    addWords: (text, length, isNew) => {
      for (let at = 0; at < length; ) {
        const start = at
        at = endOfWord(text, start, length)
        if (at === start) at += 1
        else if (addUnits(text, start, at)) isNew(start, at)
      }
    },
  }
}

function larger(numbers: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  const bigger = new Int32Array(length)
  bigger.set(numbers)
  return bigger
}
