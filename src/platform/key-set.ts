/**
 * Keys that were written, by a hash of 64 bits, in a few bytes each: to say of most keys that they are not there. What it
 * says to be there may be another key, once in very many, and has to be looked up.
 */
export interface KeySet {
  readonly size: number
  add(key: string): void
  mayHave(key: string): boolean
  mayHaveHash(first: number, second: number): boolean
  /** A key by the two halves of its hash, whatever makes it. Whether it was not there. */
  addHash(first: number, second: number): boolean
}

const SLOTS_FIRST = 1_024
/** How full it may be. */
const TAKEN_MAX = 0.8
/**
 * A small one is made twice as wide, and a large one by a quarter: doubled, it took up to 21 bytes for a key, of a log of 1.9
 * million messages 40 MB.
 */
const LARGE_SLOTS = 2 ** 20
const WIDER = 2
const LARGE_WIDER = 1.25
const HASHES = 2 ** 32
/** Halves of a hash, of which an empty slot has none. */
const EMPTY = 0
const INSTEAD_OF_EMPTY = 1

export function createKeySet(): KeySet {
  let count = 0
  /** Each slot is two halves side by side: where they are looked for, one place of memory is read. */
  let slots = new Uint32Array(2 * SLOTS_FIRST)

  function addHash(first: number, second: number): boolean {
    if (2 * count >= TAKEN_MAX * slots.length) slots = widened(slots)
    if (!put(slots, first || INSTEAD_OF_EMPTY, second)) return false
    count++
    return true
  }

  return {
    get size() {
      return count
    },
    addHash,
    add: (key) => {
      addHash(...hashOf(key))
    },
    mayHave: (key) => slots[slotOf(slots, ...hashOf(key))] !== EMPTY,
    mayHaveHash: (first, second) => slots[slotOf(slots, first || INSTEAD_OF_EMPTY, second)] !== EMPTY,
  }
}

/** Where a hash stands, or the empty slot where it would. Hashes lie about in their order, in a table of any width. */
function slotOf(slots: Uint32Array, first: number, second: number): number {
  const { length } = slots
  let slot = 2 * Math.floor((second * (length / 2)) / HASHES)
  while (slots[slot] !== EMPTY && (slots[slot] !== first || slots[slot + 1] !== second)) {
    slot += 2
    if (slot === length) slot = 0
  }
  return slot
}

function put(slots: Uint32Array, first: number, second: number): boolean {
  const slot = slotOf(slots, first, second)
  if (slots[slot] !== EMPTY) return false
  slots[slot] = first
  slots[slot + 1] = second
  return true
}

function widened(slots: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const count = slots.length / 2
  const wider = new Uint32Array(2 * Math.ceil(count * (count < LARGE_SLOTS ? WIDER : LARGE_WIDER)))
  for (let slot = 0; slot < slots.length; slot += 2) {
    const first = slots[slot] ?? EMPTY
    if (first !== EMPTY) put(wider, first, slots[slot + 1] ?? 0)
  }
  // Of a million keys those are megabytes, which a collector that sees a small heap would leave for long.
  slots.buffer.transfer(0)
  return wider
}

function hashOf(key: string): readonly [first: number, second: number] {
  return [Bun.hash.murmur32v3(key) || INSTEAD_OF_EMPTY, Bun.hash.cityHash32(key)]
}
