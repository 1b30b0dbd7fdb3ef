/**
 * The terms of many texts, quickly: words come again and again, so what `search-terms.ts` says of a word is kept as
 * numbers. A text is then one walk that makes no string of a word that is known. What is kept is bounded, and forgotten
 * whole when it is too much.
 */
import {
  addDense,
  addJoined,
  addOwn,
  CHARACTER,
  CLASSES,
  classAt,
  isTouched,
  isWordClass,
  readWord,
  UNKNOWN,
  widthAt,
} from "./search-terms.ts"

export interface TermNumbers {
  /** In the order of the text; a term that stands there twice is there twice. */
  readonly numbers: Int32Array
  /** What the numbers mean is another thing in another edition. */
  readonly edition: number
}

export interface TermBook {
  read(text: string): TermNumbers
  /** A term that stands in no text. */
  term(term: string): TermNumbers
  /** The term of a number, in this edition. */
  text(number: number): string
  /** Begins a new edition where too much is kept. */
  tidy(): void
  readonly edition: number
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
  /** Room for the numbers of the text that is being read. */
  found: Int32Array
  foundUsed: number
}

const FACTS = 8
const [HASH, UNITS_FROM, LENGTH, NUMBERS_FROM, NUMBERS_TO] = [0, 1, 2, 3, 4] as const

export function createTermBook(termsMax = TERMS_MAX): TermBook {
  let pages = emptyPages()
  let edition = 0

  return {
    get edition() {
      return edition
    },
    read: (text) => ({ numbers: readText(pages, text), edition }),
    term: (term) => ({ numbers: Int32Array.of(numberOf(pages, term)), edition }),
    text: (number) => pages.terms[number] as string,
    tidy: () => {
      if (pages.terms.length <= termsMax) return
      pages = emptyPages()
      edition++
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
    found: new Int32Array(1 << 10),
    foundUsed: 0,
  }
}

function readText(pages: Pages, text: string): Int32Array {
  pages.foundUsed = 0
  let lastWord = ""
  let lastEnd = -1
  for (let at = 0; at < text.length; ) {
    const known = CLASSES[text.charCodeAt(at)] as number
    const found = known === UNKNOWN ? classAt(text, at) : known
    if (isWordClass(found)) {
      const end = endOfWord(text, at)
      const folded = addWord(pages, text, at, end)
      if (isTouched(text, at, end) && folded !== "") {
        const strange: string[] = []
        addJoined(strange, text, { start: at, end, word: folded }, { end: lastEnd, word: lastWord })
        addTerms(pages, strange)
      }
      lastWord = folded
      lastEnd = end
      at = end
    } else if (found === CHARACTER.dense) {
      const strange: string[] = []
      at = addDense(strange, text, at)
      addTerms(pages, strange)
    } else {
      const next = at + widthAt(text, at)
      if (found === CHARACTER.picture) addTerms(pages, [text.slice(at, next)])
      at = next
    }
  }
  return pages.found.slice(0, pages.foundUsed)
}

/** Gives the word as it is joined with its neighbours. */
function addWord(pages: Pages, text: string, start: number, end: number): string {
  const word = knownWord(pages, text, start, end)
  if (word === 0) {
    const run = readWord(text, start, undefined)
    const own: string[] = []
    addOwn(own, run, false)
    addTerms(pages, own)
    return run.word
  }
  const { facts, numbers, foundUsed } = pages
  const from = facts[word + NUMBERS_FROM] as number
  const count = (facts[word + NUMBERS_TO] as number) - from
  pages.found = roomy(pages.found, foundUsed, count)
  const { found } = pages
  for (let at = 0; at < count; at++) found[foundUsed + at] = numbers[from + at] as number
  pages.foundUsed = foundUsed + count
  return pages.folded[word / FACTS] as string
}

function addTerms(pages: Pages, terms: readonly string[]): void {
  const apart = withoutSpaces(terms)
  pages.found = roomy(pages.found, pages.foundUsed, apart.length)
  for (const term of apart) pages.found[pages.foundUsed++] = numberOf(pages, term)
}

/** Some signs stand for several words, as the one for a blessing does: those are terms each. */
function withoutSpaces(terms: readonly string[]): readonly string[] {
  if (!terms.some((term) => term.includes(" "))) return terms
  return terms.flatMap((term) => term.split(" ")).filter((term) => term !== "")
}

function endOfWord(text: string, start: number): number {
  const { length } = text
  let end = start
  while (end < length) {
    const found = CLASSES[text.charCodeAt(end)] as number
    if (isWordClass(found)) end++
    else if (found !== UNKNOWN || !isWordClass(classAt(text, end))) break
    else end += widthAt(text, end)
  }
  return end
}

/** Where the facts of a word begin; 0 for a run that is too long to be one. */
function knownWord(pages: Pages, text: string, start: number, end: number): number {
  const length = end - start
  if (length > WORD_UNITS_MAX) return 0
  let hash = 0
  for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0
  const { slots, facts, units } = pages
  const mask = slots.length - 1
  let slot = (hash ^ (hash >>> 15)) & mask
  for (;;) {
    const word = slots[slot] as number
    if (word === 0) return remember(pages, text.slice(start, end), hash, slot)
    if (facts[word + HASH] === hash && facts[word + LENGTH] === length) {
      let unit = facts[word + UNITS_FROM] as number
      let at = start
      while (at < end && units[unit] === text.charCodeAt(at)) {
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

function numberOf({ numberOf: numbers, terms }: Pages, term: string): number {
  const known = numbers.get(term)
  if (known !== undefined) return known
  // A piece of a text would keep all of the text in memory.
  const own = Buffer.from(term, "utf16le").toString("utf16le")
  terms.push(own)
  numbers.set(own, terms.length - 1)
  return terms.length - 1
}

function roomy<Items extends Int32Array | Uint16Array>(items: Items, used: number, more: number): Items {
  if (used + more <= items.length) return items
  const larger = new (items.constructor as new (length: number) => Items)(Math.max(used + more, items.length * 2))
  larger.set(items)
  return larger
}
