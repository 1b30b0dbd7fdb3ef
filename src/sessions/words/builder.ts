/**
 * Terms of messages into lists of messages, in memory: what a new segment is made of, and what the newest messages are
 * searched by until they lie in one. Terms are taken as the bytes they are stored as; of each different one a string is
 * made once, at the end. Pure; knows no store.
 */
import { createDocumentsBuilder, type Documents, type FacetRow } from "./documents.ts"

/** The terms of so many messages, in order, each with the messages that hold it. */
export interface Built {
  readonly documents: Documents
  readonly terms: readonly string[]
  numbersOf(index: number): Uint32Array
}

export interface Builder {
  /** Of one message: the terms between two places, one space between two of them, none there twice. */
  add(number: number, row: FacetRow, bytes: Uint8Array, from: number, to: number): void
  finish(): Built
}

const SPACE = 0x20

export function createBuilder(): Builder {
  const documents = createDocumentsBuilder()
  const known = createTermTable()
  let stream = new Uint32Array(1 << 16)
  const numbers: number[] = []
  const ends: number[] = []
  let used = 0
  let isAscending = true
  return {
    add: (number, row, bytes, from, to) => {
      const first = used
      for (let at = from; at < to; ) {
        let hash = 0x811c9dc5
        let end = at
        for (let byte = bytes[end] as number; end < to && byte !== SPACE; byte = bytes[++end] as number)
          hash = Math.imul(hash ^ byte, 0x01000193)
        if (end > at) {
          if (used === stream.length) stream = grown(stream)
          stream[used++] = known.numberOf(bytes, at, end, hash)
        }
        at = end + 1
      }
      documents.add(number, row, used - first)
      isAscending &&= number > (numbers.at(-1) ?? -1)
      numbers.push(number)
      ends.push(used)
    },
    finish: () => {
      const { starts, grouped } = groupedBy(stream.subarray(0, used), known.size(), numbers, ends)
      const terms = known.terms()
      const order = Array.from(terms.keys()).sort((left, right) => compare(terms[left] ?? "", terms[right] ?? ""))
      return {
        documents: documents.finish(),
        terms: order.map((index) => terms[index] ?? ""),
        numbersOf: (index) => {
          const term = order[index] ?? 0
          const own = grouped.subarray(starts[term], starts[term + 1])
          return isAscending ? own : own.toSorted()
        },
      }
    },
  }
}

/** The order of terms everywhere: by their UTF-16 units. */
export function compare(left: string, right: string): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}

function grown(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2)
  larger.set(array)
  return larger
}

/** The terms message by message become the messages term by term: counted, then put in their places. */
function groupedBy(stream: Uint32Array, terms: number, numbers: readonly number[], ends: readonly number[]) {
  const starts = new Uint32Array(terms + 1)
  for (let at = 0; at < stream.length; at++) {
    const next = (stream[at] as number) + 1
    starts[next] = (starts[next] as number) + 1
  }
  for (let term = 0; term < terms; term++) starts[term + 1] = (starts[term + 1] as number) + (starts[term] as number)
  const places = starts.slice()
  const grouped = new Uint32Array(stream.length)
  let at = 0
  for (const [message, end] of ends.entries()) {
    const number = numbers[message] as number
    for (; at < end; at++) {
      const term = stream[at] as number
      const place = places[term] as number
      grouped[place] = number
      places[term] = place + 1
    }
  }
  return { starts, grouped }
}

// --- Terms ------------------------------------------------------------------------------------------------------------

interface TermTable {
  numberOf(bytes: Uint8Array, from: number, to: number, hash: number): number
  size(): number
  terms(): string[]
}

/** A string for every term of every message would cost more than all else: terms are compared as bytes. */
function createTermTable(): TermTable {
  let slots = new Uint32Array(1 << 14)
  let hashes = new Uint32Array(1 << 13)
  let starts = new Uint32Array((1 << 13) + 1)
  let letters = new Uint8Array(1 << 17)
  let size = 0
  const put = (term: number, hash: number) => {
    const mask = slots.length - 1
    let slot = hash & mask
    while (slots[slot] !== 0) slot = (slot + 1) & mask
    slots[slot] = term + 1
  }
  const grow = () => {
    slots = new Uint32Array(slots.length * 2)
    for (let term = 0; term < size; term++) put(term, hashes[term] as number)
    hashes = grown(hashes)
    const more = new Uint32Array(hashes.length + 1)
    more.set(starts)
    starts = more
  }
  const isSame = (term: number, bytes: Uint8Array, from: number, to: number) => {
    const start = starts[term] as number
    if ((starts[term + 1] as number) - start !== to - from) return false
    for (let at = from; at < to; at++) if (letters[start + at - from] !== bytes[at]) return false
    return true
  }
  const append = (bytes: Uint8Array, from: number, to: number, hash: number) => {
    if (size * 2 >= slots.length) grow()
    const start = starts[size] as number
    if (start + to - from > letters.length) {
      const larger = new Uint8Array(Math.max(letters.length * 2, start + to - from))
      larger.set(letters)
      letters = larger
    }
    for (let at = from; at < to; at++) letters[start + at - from] = bytes[at] as number
    hashes[size] = hash
    starts[size + 1] = start + to - from
    put(size, hash)
    return size++
  }
  return {
    numberOf: (bytes, from, to, given) => {
      const hash = given >>> 0
      const mask = slots.length - 1
      for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
        const term = slots[slot] as number
        if (term === 0) return append(bytes, from, to, hash)
        if (hashes[term - 1] === hash && isSame(term - 1, bytes, from, to)) return term - 1
      }
    },
    size: () => size,
    terms: () => {
      const decoder = new TextDecoder()
      return Array.from({ length: size }, (_, term) => decoder.decode(letters.subarray(starts[term], starts[term + 1])))
    },
  }
}
