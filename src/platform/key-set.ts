/**
 * Keys that were written, by a hash of 64 bits, in a few bytes each: to say of most keys that they are not there. What it
 * says to be there may be another key, once in very many, and has to be looked up.
 */
export interface KeySet {
  readonly size: number
  add(key: string): void
  mayHave(key: string): boolean
  /** A key by the two halves of its hash, whatever makes it. Whether it was not there. */
  addHash(first: number, second: number): boolean
}

const SLOTS_FIRST = 1_024
/** Halves of a hash, of which an empty slot has none. */
const EMPTY = 0

export function createKeySet(): KeySet {
  let count = 0
  let [high, low] = [new Uint32Array(SLOTS_FIRST), new Uint32Array(SLOTS_FIRST)]

  /** The slot of a hash, or the empty one where it would stand. */
  function slotOf(first: number, second: number): number {
    const mask = high.length - 1
    let slot = second & mask
    while (high[slot] !== EMPTY && (high[slot] !== first || low[slot] !== second)) slot = (slot + 1) & mask
    return slot
  }

  function put(first: number, second: number): boolean {
    const slot = slotOf(first, second)
    if (high[slot] !== EMPTY) return false
    count++
    high[slot] = first
    low[slot] = second
    return true
  }

  function addHash(first: number, second: number): boolean {
    if (count * 4 >= high.length * 3) grow()
    return put(first === EMPTY ? 1 : first, second)
  }

  function grow(): void {
    const before = [high, low] as const
    high = new Uint32Array(before[0].length * 2)
    low = new Uint32Array(before[0].length * 2)
    count = 0
    for (const [slot, first] of before[0].entries()) if (first !== EMPTY) put(first, before[1][slot] ?? 0)
    // Of a million keys those are megabytes, which a collector that sees a small heap would leave for long.
    for (const { buffer } of before) buffer.transfer(0)
  }

  return {
    get size() {
      return count
    },
    addHash,
    add: (key) => {
      addHash(...hashOf(key))
    },
    mayHave: (key) => high[slotOf(...hashOf(key))] !== EMPTY,
  }
}

function hashOf(key: string): readonly [first: number, second: number] {
  return [Bun.hash.murmur32v3(key) || 1, Bun.hash.cityHash32(key)]
}
