/**
 * The fast path of the tokenizer: interns words, so that the terms of a known word are numbers in a table. Texts come
 * as UTF-16 code units; a known word costs one hash lookup and no string, and words that the message has said before
 * are skipped. Rules and slow path are in `tokenizer.ts`, whose functions it calls once per distinct word.
 */

import { toText } from "./code-units.ts"
import {
  addDenseTerms,
  addJoinedTerms,
  addWordTerms,
  CHARACTER,
  CLASSES,
  characterAt,
  classAt,
  compare,
  endOfWord,
  isTouching,
  readWord,
} from "./tokenizer.ts"

export interface TermInterner {
  /** Number of interned terms. Term numbers are below it. */
  readonly size: number
  /** Starts the next message. */
  begin(): void
  /** Adds the terms of the first `length` code units. */
  read(text: Uint16Array, length: number): void
  /** Adds a term that is not taken from a text. */
  addTerm(term: string): void
  /** Adds the term numbers of another message. */
  addMet(numbers: Int32Array): void
  /** Distinct term numbers of the message so far. A view, valid until the next call. */
  met(): Int32Array
  /** The term of a number. */
  text(number: number): string
  /** All numbers, sorted by term. */
  inOrder(): readonly number[]
}

/** About 15 MB of words and terms, those of some hundred sessions. */
const TERMS_MAX = 100_000
/** Longer runs rarely come again and are not interned. */
const WORD_UNITS_MAX = 40

/**
 * Open-addressing hash table in flat arrays. With an object per word, lookups took a third of the time in cache misses.
 */
interface InternTables {
  readonly numberOf: Map<string, number>
  readonly terms: string[]
  /** Hash slot → start of the word's entry; 0 if empty. */
  slots: Int32Array
  /** Entry of a word: `HEAD` numbers, its term numbers, its code units packed two per number. */
  entries: Int32Array
  entriesUsed: number
  /** The folded word, as joined terms use it. */
  readonly folded: string[]
  /** The last word that was too long to be interned. */
  longWord: string
  /** Number of the current message, and per term the last message that had it: deduplication without a set. */
  message: number
  metIn: Int32Array
  /** Terms of the current message. */
  met: Int32Array
  metUsed: number
}

const [HASH, MET_IN, LENGTH, COUNT, FOLDED, HEAD] = [0, 1, 2, 3, 4, 5] as const

/**
 * Returns the shared interner: one person's sessions use the same words. When it grows too large a new one replaces it;
 * holders of the old one can go on.
 */
export function openTermInterners(termsMax = TERMS_MAX): () => TermInterner {
  let current = createTermInterner()
  return () => {
    if (current.size > termsMax) current = createTermInterner()
    return current
  }
}

export const currentInterner = openTermInterners()

export function createTermInterner(): TermInterner {
  const pages = emptyTables()
  let ordered: number[] = []
  return {
    get size() {
      return pages.terms.length
    },
    begin: () => {
      pages.message++
      pages.metUsed = 0
    },
    read: (text, length) => readText(pages, text, length),
    addTerm: (term) => collect(pages, numberOf(pages, term)),
    addMet: (numbers) => {
      for (let at = 0; at < numbers.length; at++) collect(pages, numbers[at] as number)
    },
    met: () => pages.met.subarray(0, pages.metUsed),
    text: (number) => pages.terms[number] as string,
    inOrder: () => {
      ordered = mergeInOrder(pages.terms, ordered)
      return ordered
    },
  }
}

function emptyTables(): InternTables {
  return {
    numberOf: new Map(),
    terms: [],
    slots: new Int32Array(1 << 12),
    entries: new Int32Array(1 << 15),
    // 0 means empty.
    entriesUsed: 1,
    folded: [],
    longWord: "",
    message: 1,
    metIn: new Int32Array(1 << 12),
    met: new Int32Array(1 << 12),
    metUsed: 0,
  }
}

/** Sorts only the new terms and merges them with the sorted ones. */
function mergeInOrder(terms: readonly string[], ordered: readonly number[]): number[] {
  const older = ordered.length
  const newer = Array.from({ length: terms.length - older }, (_, index) => older + index)
  newer.sort((left, right) => compare(terms[left] as string, terms[right] as string))
  const all = new Array<number>(terms.length)
  let [old, next] = [0, 0]
  for (let at = 0; at < all.length; at++) {
    const isOld =
      next === newer.length ||
      (old < older && compare(terms[ordered[old] as number] as string, terms[newer[next] as number] as string) < 0)
    all[at] = (isOld ? ordered[old++] : newer[next++]) as number
  }
  return all
}

// --- Reading ----------------------------------------------------------------------------------------------------------

function readText(pages: InternTables, text: Uint16Array, length: number): void {
  let last = 0
  let lastEnd = -1
  for (let at = 0; at < length; ) {
    const start = at
    at = endOfWord(text, start, length)
    if (at > start) {
      const before = last === 0 ? pages.longWord : ""
      const word = addWord(pages, text, start, at)
      if (isTouching(text, length, start, at)) {
        const beside = { end: lastEnd, word: last === 0 ? before : foldedOf(pages, last) }
        addJoinedAround(pages, text, length, { start, end: at, word: foldedOf(pages, word) }, beside)
      }
      last = word
      lastEnd = at
    } else {
      at = addOther(pages, text, at, length)
    }
  }
}

/** Adds a character that belongs to no spaced word. Returns where it ends. */
function addOther(pages: InternTables, text: Uint16Array, start: number, length: number): number {
  const found = CLASSES[text[start] as number] as number
  if (found === CHARACTER.none) return start + 1
  const character = characterAt(text, start, length)
  let end = start + character.length
  const own = classAt(character, 0)
  if (own === CHARACTER.dense) {
    for (let next = character; end < length; end += next.length) {
      next = characterAt(text, end, length)
      if (classAt(next, 0) !== CHARACTER.dense) break
    }
    const strange: string[] = []
    addDenseTerms(strange, toText(text, start, end), 0)
    addTerms(pages, strange)
  } else if (own === CHARACTER.picture) addTerms(pages, [character])
  return end
}

/** Adds a word. Returns the start of its entry; 0 if it is not interned. */
function addWord(pages: InternTables, text: Uint16Array, start: number, end: number): number {
  const word = findOrIntern(pages, text, start, end)
  if (word === 0) {
    const run = readWord(toText(text, start, end), 0, undefined)
    const own: string[] = []
    addWordTerms(own, run, false)
    addTerms(pages, own)
    pages.longWord = run.word
    return 0
  }
  const { entries, message } = pages
  if (entries[word + MET_IN] === message) return word
  entries[word + MET_IN] = message
  const { metIn, met } = pages
  let { metUsed } = pages
  const to = word + HEAD + (entries[word + COUNT] as number)
  for (let at = word + HEAD; at < to; at++) {
    const number = entries[at] as number
    if (metIn[number] === message) continue
    metIn[number] = message
    met[metUsed++] = number
  }
  pages.metUsed = metUsed
  return word
}

/** The folded word, as joined terms use it. */
function foldedOf(pages: InternTables, word: number): string {
  return word === 0 ? pages.longWord : (pages.folded[pages.entries[word + FOLDED] as number] as string)
}

function collect(pages: InternTables, number: number): void {
  const { metIn, message } = pages
  if (metIn[number] === message) return
  metIn[number] = message
  pages.met[pages.metUsed++] = number
}

/** How far the signs reach that join a word with its neighbours. */
const [BEFORE, BEHIND] = [3, 2] as const

interface Word {
  readonly start: number
  readonly end: number
  readonly word: string
}

function addJoinedAround(
  pages: InternTables,
  text: Uint16Array,
  length: number,
  { start, end, word }: Word,
  before: Omit<Word, "start">,
): void {
  if (word === "") return
  const from = Math.max(0, start - BEFORE)
  const around = toText(text, from, Math.min(length, end + BEHIND))
  const strange: string[] = []
  const placed = { start: start - from, end: end - from, word }
  addJoinedTerms(strange, around, placed, { end: before.end - from, word: before.word })
  addTerms(pages, strange)
}

function addTerms(pages: InternTables, terms: readonly string[]): void {
  for (const term of splitAtSpaces(terms)) collect(pages, numberOf(pages, term))
}

/** A few signs fold to several words, such as the Arabic ligature of a blessing; each word is a term. */
function splitAtSpaces(terms: readonly string[]): readonly string[] {
  if (!terms.some((term) => term.includes(" "))) return terms
  return terms.flatMap((term) => term.split(" ")).filter((term) => term !== "")
}

// --- RowCacheOptions ----------------------------------------------------------------------------------------------------------

/** The start of the word's entry; 0 if it is too long to be interned. */
function findOrIntern(pages: InternTables, text: Uint16Array, start: number, end: number): number {
  const length = end - start
  if (length > WORD_UNITS_MAX) return 0
  let hash = 0
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (text[at] as number)) | 0
  const { slots, entries } = pages
  const mask = slots.length - 1
  let slot = (hash ^ (hash >>> 15)) & mask
  for (;;) {
    const word = slots[slot] as number
    if (word === 0) return internWord(pages, toText(text, start, end), hash, slot)
    if (entries[word + HASH] === hash && entries[word + LENGTH] === length) {
      let unit = word + HEAD + (entries[word + COUNT] as number)
      let at = start
      for (; at + 1 < end && entries[unit] === pairOf(text[at] as number, text[at + 1] as number); at += 2) unit++
      if (at === end || (at + 1 === end && entries[unit] === text[at])) return word
    }
    slot = (slot + 1) & mask
  }
}

function pairOf(unit: number, next: number): number {
  return unit | (next << 16)
}

function internWord(pages: InternTables, text: string, hash: number, slot: number): number {
  const run = readWord(text, 0, undefined)
  const own: string[] = []
  addWordTerms(own, run, false)
  const terms = splitAtSpaces(own).map((term) => numberOf(pages, term))
  const pairs = Array.from({ length: (text.length + 1) >> 1 }, (_, at) =>
    pairOf(text.charCodeAt(at * 2), text.charCodeAt(at * 2 + 1) || 0),
  )
  const entry = [hash, 0, text.length, terms.length, pages.folded.length, ...terms, ...pairs]
  pages.folded.push(run.word)
  pages.entries = ensureRoom(pages.entries, pages.entriesUsed, entry.length)
  const word = pages.entriesUsed
  pages.entries.set(entry, word)
  pages.entriesUsed += entry.length
  pages.slots[slot] = word
  if (pages.folded.length * 2 >= pages.slots.length) growSlots(pages)
  return word
}

/** Keeps half of the slots empty. */
function growSlots(pages: InternTables): void {
  const { entries, entriesUsed } = pages
  const slots = new Int32Array(pages.slots.length * 2)
  const mask = slots.length - 1
  for (let word = 1; word < entriesUsed; ) {
    const hash = entries[word + HASH] as number
    let slot = (hash ^ (hash >>> 15)) & mask
    while (slots[slot] !== 0) slot = (slot + 1) & mask
    slots[slot] = word
    word += HEAD + (entries[word + COUNT] as number) + (((entries[word + LENGTH] as number) + 1) >> 1)
  }
  pages.slots = slots
}

function numberOf(pages: InternTables, term: string): number {
  const { numberOf: numbers, terms } = pages
  const known = numbers.get(term)
  if (known !== undefined) return known
  // A copy, because a slice would keep the whole text in memory.
  const own = Buffer.from(term, "utf16le").toString("utf16le")
  terms.push(own)
  numbers.set(own, terms.length - 1)
  pages.metIn = ensureRoom(pages.metIn, terms.length, 1)
  pages.met = ensureRoom(pages.met, terms.length, 1)
  return terms.length - 1
}

function ensureRoom(items: Int32Array, used: number, more: number): Int32Array {
  if (used + more <= items.length) return items
  const larger = new Int32Array(Math.max(used + more, items.length * 2))
  larger.set(items)
  return larger
}
