/**
 * Keys that were met, by a mark of 32 bits each where a second hash puts it: about six bytes for a key, where a set that
 * keeps both hashes (`key-set.ts`) takes eleven. Says of a key that is not there that it may be once in some hundred
 * millions: only for who looks such a key up, and of whom nothing depends on it.
 */
export interface KeyMarks {
  readonly size: number
  mayHaveHash(first: number, second: number): boolean
  /** Whether it was not there. */
  addHash(first: number, second: number): boolean
}

const SLOTS_FIRST = 2 ** 18
/**
 * A table is never widened, because its marks do not say where they came from, nor is there a moment with two copies of it:
 * the next one is as wide as all before it, up to here.
 */
const SLOTS_MAX = 2 ** 21
/** How full a table may be. */
const TAKEN_MAX = 0.7
const HASHES = 2 ** 32
const EMPTY = 0
const INSTEAD_OF_EMPTY = 1

export function createKeyMarks(): KeyMarks {
  let newest = new Uint32Array(SLOTS_FIRST)
  let taken = 0
  let size = 0
  let slots = newest.length
  const full: Uint32Array[] = []

  function isMarked(mark: number, second: number): boolean {
    for (const table of full) if (table[slotOf(table, mark, second)] !== EMPTY) return true
    return false
  }

  return {
    get size() {
      return size
    },
    mayHaveHash: (first, second) => {
      const mark = first || INSTEAD_OF_EMPTY
      return newest[slotOf(newest, mark, second)] !== EMPTY || isMarked(mark, second)
    },
    addHash: (first, second) => {
      const mark = first || INSTEAD_OF_EMPTY
      const slot = slotOf(newest, mark, second)
      if (newest[slot] !== EMPTY || isMarked(mark, second)) return false
      newest[slot] = mark
      size++
      taken++
      if (taken >= TAKEN_MAX * newest.length) {
        full.push(newest)
        newest = new Uint32Array(Math.min(slots, SLOTS_MAX))
        slots += newest.length
        taken = 0
      }
      return true
    },
  }
}

/** Where a mark stands, or the empty slot where it would. */
function slotOf(table: Uint32Array, mark: number, second: number): number {
  const { length } = table
  let slot = Math.floor((second * length) / HASHES)
  while (table[slot] !== EMPTY && table[slot] !== mark) {
    slot++
    if (slot === length) slot = 0
  }
  return slot
}
