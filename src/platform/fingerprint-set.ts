/**
 * Sets of keys, known by fingerprints of their 64-bit hashes in a few bytes each. They answer "certainly not there" for
 * most keys that are not. "There" may be another key with the same fingerprint.
 *
 * Both are hash tables with open addressing and linear probing. They are two because one table cannot serve both: half a
 * hash does not say where it stood, so a table of them cannot be rehashed, and a list of tables that grows without rehashing
 * is five times slower for whole hashes (2 million keys: 800 ns to add one, against 150).
 */

const HASHES = 2 ** 32
/** A first half of an empty slot. Hashes whose first half is the same are stored as the other value. */
const EMPTY = 0
const INSTEAD_OF_EMPTY = 1

// --- Whole hashes ---------------------------------------------------------------------------------------------------

const SLOTS_FIRST = 1_024
/** How full a table may be. */
const LOAD_MAX = 0.8
/**
 * A small table doubles, and a large one grows by a quarter: doubled, it took up to 21 bytes for a key, which for a log of
 * 1.9 million messages was 40 MB.
 */
const LARGE_SLOTS = 2 ** 20
const GROWTH = 2
const LARGE_GROWTH = 1.25

/** Fingerprints of 64 bits, 11 bytes for a key: two keys are taken for one about once in 10^19 pairs. */
export class FingerprintSet {
  #size = 0
  /** Two words for each slot, side by side, so that a lookup reads one line of memory. */
  #slots = new Uint32Array(2 * SLOTS_FIRST)

  get size(): number {
    return this.#size
  }

  add(key: string): boolean {
    return this.addHash(...hashPair(key))
  }

  mayHave(key: string): boolean {
    return this.mayHaveHash(...hashPair(key))
  }

  /** A key by the two halves of its hash, whatever made them. Returns whether it was new. */
  addHash(first: number, second: number): boolean {
    if (2 * this.#size >= LOAD_MAX * this.#slots.length) this.#slots = grow(this.#slots)
    if (!insert(this.#slots, first || INSTEAD_OF_EMPTY, second)) return false
    this.#size++
    return true
  }

  mayHaveHash(first: number, second: number): boolean {
    return this.#slots[slotOf(this.#slots, first || INSTEAD_OF_EMPTY, second)] !== EMPTY
  }
}

/** Where a hash stands, or the empty slot where it would. Hashes lie nearly in order, in a table of any size. */
function slotOf(slots: Uint32Array, first: number, second: number): number {
  const { length } = slots
  let slot = 2 * Math.floor((second * (length / 2)) / HASHES)
  while (slots[slot] !== EMPTY && (slots[slot] !== first || slots[slot + 1] !== second)) {
    slot += 2
    if (slot === length) slot = 0
  }
  return slot
}

function insert(slots: Uint32Array, first: number, second: number): boolean {
  const slot = slotOf(slots, first, second)
  if (slots[slot] !== EMPTY) return false
  slots[slot] = first
  slots[slot + 1] = second
  return true
}

function grow(slots: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const count = slots.length / 2
  const larger = new Uint32Array(2 * Math.ceil(count * (count < LARGE_SLOTS ? GROWTH : LARGE_GROWTH)))
  for (let slot = 0; slot < slots.length; slot += 2) {
    const first = slots[slot] ?? EMPTY
    if (first !== EMPTY) insert(larger, first, slots[slot + 1] ?? 0)
  }
  // Megabytes for a million keys, which a collector that sees a small heap would not free for long.
  slots.buffer.transfer(0)
  return larger
}

function hashPair(key: string): readonly [first: number, second: number] {
  return [Bun.hash.murmur32v3(key), Bun.hash.cityHash32(key)]
}

// --- Half hashes ----------------------------------------------------------------------------------------------------

const COMPACT_SLOTS_FIRST = 2 ** 18
/** A full table stays as it is. The next one has as many slots as all before it, up to this many. */
const COMPACT_SLOTS_MAX = 2 ** 21
const COMPACT_LOAD_MAX = 0.7

/**
 * Fingerprints of 32 bits, about 6 bytes for a key, for large sets: a key that is not there is taken for one that is about
 * once in some hundred millions. Only for callers that look up what it says to be there.
 */
export class CompactFingerprintSet {
  readonly #full: Uint32Array[] = []
  #newest = new Uint32Array(COMPACT_SLOTS_FIRST)
  #used = 0
  #size = 0
  #slots = COMPACT_SLOTS_FIRST

  get size(): number {
    return this.#size
  }

  /** A key by the two halves of its hash. Returns whether it was new. */
  addHash(first: number, second: number): boolean {
    const fingerprint = first || INSTEAD_OF_EMPTY
    const slot = compactSlotOf(this.#newest, fingerprint, second)
    if (this.#newest[slot] !== EMPTY || this.#isInFull(fingerprint, second)) return false
    this.#newest[slot] = fingerprint
    this.#size++
    this.#used++
    if (this.#used >= COMPACT_LOAD_MAX * this.#newest.length) {
      this.#full.push(this.#newest)
      this.#newest = new Uint32Array(Math.min(this.#slots, COMPACT_SLOTS_MAX))
      this.#slots += this.#newest.length
      this.#used = 0
    }
    return true
  }

  mayHaveHash(first: number, second: number): boolean {
    const fingerprint = first || INSTEAD_OF_EMPTY
    if (this.#newest[compactSlotOf(this.#newest, fingerprint, second)] !== EMPTY) return true
    return this.#isInFull(fingerprint, second)
  }

  #isInFull(fingerprint: number, second: number): boolean {
    for (const table of this.#full) if (table[compactSlotOf(table, fingerprint, second)] !== EMPTY) return true
    return false
  }
}

/** Where a fingerprint stands, or the empty slot where it would. */
function compactSlotOf(table: Uint32Array, fingerprint: number, second: number): number {
  const { length } = table
  let slot = Math.floor((second * length) / HASHES)
  while (table[slot] !== EMPTY && table[slot] !== fingerprint) {
    slot++
    if (slot === length) slot = 0
  }
  return slot
}
