/**
 * The terms of many texts, quickly: words come again and again, so what `search-terms.ts` says of a word is kept as
 * numbers. A text is then one walk that makes no string of a word that is known, and that passes over what the message
 * has said before. Texts come as UTF-16 units in an array: asking a string for one unit after the other costs more.
 */
import {
  addDense,
  addJoined,
  addOwn,
  CHARACTER,
  CLASSES,
  characterAt,
  classAt,
  compare,
  endOfWord,
  isTouching,
  readWord,
} from "./search-terms.ts"
import { textOfUnits } from "./text-units.ts"

export interface TermBook {
  /** How many terms it has; their numbers are below. */
  readonly size: number
  /** The next message: nothing of it was met. */
  begin(): void
  /** Takes in the terms of the first so many units. */
  read(text: Uint16Array, length: number): void
  /** Takes in a term that stands in no text. */
  addTerm(term: string): void
  /** Takes in terms that were met before, in another message. */
  addMet(numbers: Int32Array): void
  /** What was met since the beginning of the message, each once. A view, right until more is taken in. */
  met(): Int32Array
  /** The term of a number. */
  text(number: number): string
  /** All numbers in the order of their terms. */
  inOrder(): readonly number[]
}

/** About 15 MB of words and their terms, which are those of some hundred sessions. */
const TERMS_MAX = 100_000
/** A longer run is no word that comes again. */
const WORD_UNITS_MAX = 40

/**
 * Flat arrays instead of an object for each word: a word of a text is looked up millions of times, each time somewhere
 * else in memory (a third of the time, measured).
 */
interface Pages {
  readonly numberOf: Map<string, number>
  readonly terms: string[]
  /** By the hash of a word, where its facts begin; 0 where there is none. */
  slots: Int32Array
  /** `FACTS` of each word, from 1. */
  facts: Int32Array
  /** Of each word how it is joined with its neighbours. */
  readonly folded: string[]
  units: Uint16Array
  unitsUsed: number
  numbers: Int32Array
  numbersUsed: number
  /** Which message it is, counted; of each term the last that had it. */
  message: number
  metIn: Int32Array
  /** What this one has, with room for every term that there is. */
  met: Int32Array
  metUsed: number
}

const FACTS = 8
const [HASH, UNITS_FROM, LENGTH, NUMBERS_FROM, NUMBERS_TO, MET_IN] = [0, 1, 2, 3, 4, 5] as const

/**
 * One for all: sessions of one person speak of the same things in the same words. What is kept is forgotten whole when it
 * is too much, but not by who reads with the old one.
 */
export function openTermBooks(termsMax = TERMS_MAX): () => TermBook {
  let current = createTermBook()
  return () => {
    if (current.size > termsMax) current = createTermBook()
    return current
  }
}

export const currentBook = openTermBooks()

export function createTermBook(): TermBook {
  const pages = emptyPages()
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
    addTerm: (term) => meet(pages, numberOf(pages, term)),
    addMet: (numbers) => {
      for (let at = 0; at < numbers.length; at++) meet(pages, numbers[at] as number)
    },
    met: () => pages.met.subarray(0, pages.metUsed),
    text: (number) => pages.terms[number] as string,
    inOrder: () => {
      ordered = withNewer(pages.terms, ordered)
      return ordered
    },
  }
}

function emptyPages(): Pages {
  return {
    numberOf: new Map(),
    terms: [],
    slots: new Int32Array(1 << 12),
    facts: new Int32Array(FACTS << 11),
    folded: [""],
    units: new Uint16Array(1 << 14),
    unitsUsed: 0,
    numbers: new Int32Array(1 << 13),
    numbersUsed: 0,
    message: 1,
    metIn: new Int32Array(1 << 12),
    met: new Int32Array(1 << 12),
    metUsed: 0,
  }
}

/** Few are new where most words were met before, so that those are sorted, and all of them merged. */
function withNewer(terms: readonly string[], ordered: readonly number[]): number[] {
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

function readText(pages: Pages, text: Uint16Array, length: number): void {
  let lastWord = ""
  let lastEnd = -1
  for (let at = 0; at < length; ) {
    const start = at
    at = endOfWord(text, start, length)
    if (at > start) {
      const folded = addWord(pages, text, start, at)
      if (isTouching(text, length, start, at) && folded !== "")
        addTouched(pages, text, length, { start, end: at, word: folded }, { end: lastEnd, word: lastWord })
      lastWord = folded
      lastEnd = at
    } else {
      at = addOther(pages, text, at, length)
    }
  }
}

/** What is no word of a script with spaces; gives where it ends. */
function addOther(pages: Pages, text: Uint16Array, start: number, length: number): number {
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
    addDense(strange, textOfUnits(text, start, end), 0)
    addTerms(pages, strange)
  } else if (own === CHARACTER.picture) addTerms(pages, [character])
  return end
}

/** Gives the word as it is joined with its neighbours. */
function addWord(pages: Pages, text: Uint16Array, start: number, end: number): string {
  const word = knownWord(pages, text, start, end)
  if (word === 0) {
    const run = readWord(textOfUnits(text, start, end), 0, undefined)
    const own: string[] = []
    addOwn(own, run, false)
    addTerms(pages, own)
    return run.word
  }
  const { facts, message } = pages
  if (facts[word + MET_IN] !== message) {
    facts[word + MET_IN] = message
    const { metIn, met, numbers } = pages
    let { metUsed } = pages
    const to = facts[word + NUMBERS_TO] as number
    for (let at = facts[word + NUMBERS_FROM] as number; at < to; at++) {
      const number = numbers[at] as number
      if (metIn[number] === message) continue
      metIn[number] = message
      met[metUsed++] = number
    }
    pages.metUsed = metUsed
  }
  return pages.folded[word / FACTS] as string
}

function meet(pages: Pages, number: number): void {
  const { metIn, message } = pages
  if (metIn[number] === message) return
  metIn[number] = message
  pages.met[pages.metUsed++] = number
}

/** The signs around a word reach no further than this. */
const [BEFORE, BEHIND] = [3, 2] as const

interface Word {
  readonly start: number
  readonly end: number
  readonly word: string
}

function addTouched(
  pages: Pages,
  text: Uint16Array,
  length: number,
  { start, end, word }: Word,
  before: Omit<Word, "start">,
): void {
  const from = Math.max(0, start - BEFORE)
  const around = textOfUnits(text, from, Math.min(length, end + BEHIND))
  const strange: string[] = []
  const placed = { start: start - from, end: end - from, word }
  addJoined(strange, around, placed, { end: before.end - from, word: before.word })
  addTerms(pages, strange)
}

function addTerms(pages: Pages, terms: readonly string[]): void {
  for (const term of withoutSpaces(terms)) meet(pages, numberOf(pages, term))
}

/** Some signs stand for several words, as the one for a blessing does: those are terms each. */
function withoutSpaces(terms: readonly string[]): readonly string[] {
  if (!terms.some((term) => term.includes(" "))) return terms
  return terms.flatMap((term) => term.split(" ")).filter((term) => term !== "")
}

// --- Keeping ----------------------------------------------------------------------------------------------------------

/** Where the facts of a word begin; 0 for a run that is too long to be one. */
function knownWord(pages: Pages, text: Uint16Array, start: number, end: number): number {
  const length = end - start
  if (length > WORD_UNITS_MAX) return 0
  let hash = 0
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (text[at] as number)) | 0
  const { slots, facts, units } = pages
  const mask = slots.length - 1
  let slot = (hash ^ (hash >>> 15)) & mask
  for (;;) {
    const word = slots[slot] as number
    if (word === 0) return remember(pages, textOfUnits(text, start, end), hash, slot)
    if (facts[word + HASH] === hash && facts[word + LENGTH] === length) {
      let unit = facts[word + UNITS_FROM] as number
      let at = start
      while (at < end && units[unit] === text[at]) {
        unit++
        at++
      }
      if (at === end) return word
    }
    slot = (slot + 1) & mask
  }
}

function remember(pages: Pages, text: string, hash: number, slot: number): number {
  const run = readWord(text, 0, undefined)
  const own: string[] = []
  addOwn(own, run, false)
  const terms = withoutSpaces(own)
  const word = pages.folded.length * FACTS
  pages.folded.push(run.word)
  pages.facts = roomy(pages.facts, word, FACTS)
  pages.units = roomy(pages.units, pages.unitsUsed, text.length)
  pages.numbers = roomy(pages.numbers, pages.numbersUsed, terms.length)
  const facts = [hash, pages.unitsUsed, text.length, pages.numbersUsed, pages.numbersUsed + terms.length]
  pages.facts.set(facts, word)
  for (let at = 0; at < text.length; at++) pages.units[pages.unitsUsed++] = text.charCodeAt(at)
  for (const term of terms) pages.numbers[pages.numbersUsed++] = numberOf(pages, term)
  pages.slots[slot] = word
  if (pages.folded.length * 2 >= pages.slots.length) spread(pages)
  return word
}

/** Half of the slots stay empty. */
function spread(pages: Pages): void {
  const slots = new Int32Array(pages.slots.length * 2)
  const mask = slots.length - 1
  for (let word = FACTS; word < pages.folded.length * FACTS; word += FACTS) {
    const hash = pages.facts[word + HASH] as number
    let slot = (hash ^ (hash >>> 15)) & mask
    while (slots[slot] !== 0) slot = (slot + 1) & mask
    slots[slot] = word
  }
  pages.slots = slots
}

function numberOf(pages: Pages, term: string): number {
  const { numberOf: numbers, terms } = pages
  const known = numbers.get(term)
  if (known !== undefined) return known
  // A piece of a text would keep all of the text in memory.
  const own = Buffer.from(term, "utf16le").toString("utf16le")
  terms.push(own)
  numbers.set(own, terms.length - 1)
  pages.metIn = roomy(pages.metIn, terms.length, 1)
  pages.met = roomy(pages.met, terms.length, 1)
  return terms.length - 1
}

function roomy<Items extends Int32Array | Uint16Array>(items: Items, used: number, more: number): Items {
  if (used + more <= items.length) return items
  const larger = new (items.constructor as new (length: number) => Items)(Math.max(used + more, items.length * 2))
  larger.set(items)
  return larger
}
