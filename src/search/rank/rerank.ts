/**
 * Re-ranks candidates by their own texts. The word index knows which messages are about a query; the texts show
 * endings, parts of names, word order and typing errors. Pure.
 */
import { foldText, indexTerms } from "../../sessions/words/terms/tokenizer.ts"

/** Only this much of a text is scored: the beginning says what it is about. */
const WEIGHED_UNITS_MAX = 12_000
const RUN_LENGTH = 4
/** Character n-grams of a query beyond this many add nothing. */
const RUNS_MAX = 512
/** A message opens with its subject: a heading, an order, a one-line answer. */
const OPENING_UNITS = 120
const K1 = 0.6
const B = 0.6

/** Folds a text and collapses white space. */
export function normalizeText(text: string): string {
  const bare = foldText(text.length > WEIGHED_UNITS_MAX ? text.slice(0, WEIGHED_UNITS_MAX) : text)
  // Most texts have nothing to collapse, and testing takes a third of the time of replacing.
  return (UNEVEN_SPACE.test(bare) ? bare.replace(/\s+/g, " ") : bare).trim()
}

const UNEVEN_SPACE = /[^\S ]| {2}/

/** BM25 over character 4-grams of the query, within these texts alone. N-grams cross spaces, so word order counts. */
export function scoreRuns(query: string, texts: readonly string[]): number[] {
  const runs = splitRuns(query)
  const sieve = createRunFilter(runs)
  const counts = texts.map((text) => countRuns(text, runs, sieve))
  const having = new Uint32Array(runs.size)
  for (const count of counts)
    for (let run = 0; run < count.length; run++) if (count[run] !== 0) having[run] = (having[run] as number) + 1
  const rarity = Float64Array.from(having, (documents) => idf(documents, texts.length))
  const mean = texts.reduce((sum, text) => sum + text.length, 0) / Math.max(1, texts.length) || 1
  return texts.map((text, index) => {
    const count = counts[index] as Uint16Array
    const norm = K1 * (1 - B + (B * text.length) / mean)
    let score = 0
    for (let run = 0; run < count.length; run++) {
      const times = count[run] as number
      if (times > 0) score += ((rarity[run] as number) * times * (K1 + 1)) / (times + norm)
    }
    return score
  })
}

/** Scores which query terms the opening of each text has, weighted by rarity (IDF). */
export function scoreOpenings(terms: readonly string[], texts: readonly string[]): number[] {
  const wanted = new Set(terms)
  const mayHold = createOpeningFilter(terms)
  const openings = texts.map((text) => {
    const held = new Set<string>()
    const opening = text.slice(0, OPENING_UNITS)
    if (mayHold(opening)) for (const term of indexTerms(opening)) if (wanted.has(term)) held.add(term)
    return held
  })
  const having = new Map<string, number>()
  for (const held of openings) for (const term of held) having.set(term, (having.get(term) ?? 0) + 1)
  return openings.map((held) => {
    let score = 0
    for (const term of held) score += idf(having.get(term) ?? 0, texts.length)
    return score
  })
}

const ASCII = /^[\0-\x7f]*$/
/** Longer terms may be cut and then do not occur in the text literally. */
const LETTERS_MAX = 60

/**
 * Rules out openings without any of the terms, before they are tokenized. In ASCII every term occurs literally, apart
 * from case, underscores and the sign at the end of a stem.
 */
function createOpeningFilter(terms: readonly string[]): (opening: string) => boolean {
  const all = terms.map((term) => term.replace(/[*~]$/, "").replaceAll("_", ""))
  if (all.some((letters) => letters === "" || letters.length > LETTERS_MAX)) return () => true
  const shortest = [...new Set(all)].toSorted((left, right) => left.length - right.length)
  const least: string[] = []
  for (const letters of shortest) if (!least.some((known) => letters.includes(known))) least.push(letters)
  return (opening) => {
    if (!ASCII.test(opening)) return true
    const bare = opening.toLowerCase().replaceAll("_", "")
    return least.some((letters) => bare.includes(letters))
  }
}

function idf(documents: number, all: number): number {
  return Math.log((all - documents + 0.5) / (documents + 0.5) + 1)
}

// --- Runs ---------------------------------------------------------------------------------------------------------------

/** The n-grams of a query, numbered. */
function splitRuns(query: string): Map<string, number> {
  const runs = new Map<string, number>()
  for (let at = 0; at + RUN_LENGTH <= query.length && runs.size < RUNS_MAX; at++) {
    const run = query.slice(at, at + RUN_LENGTH)
    if (!runs.has(run)) runs.set(run, runs.size)
  }
  return runs
}

const SIEVE_BITS = 14

/**
 * A one-hash Bloom filter: nearly every n-gram of a text is not in the query, and this says so without making a string.
 */
function createRunFilter(runs: ReadonlyMap<string, number>): Uint8Array {
  const sieve = new Uint8Array(1 << SIEVE_BITS)
  for (const run of runs.keys()) {
    let window = 0
    for (let at = 0; at < RUN_LENGTH; at++) window = (window << 8) ^ run.charCodeAt(at)
    sieve[slotOf(window)] = 1
  }
  return sieve
}

function countRuns(text: string, runs: ReadonlyMap<string, number>, sieve: Uint8Array): Uint16Array {
  const counts = new Uint16Array(runs.size)
  if (runs.size === 0) return counts
  // A rolling hash of the last four code units: 8 bits per shift push older ones out.
  let window = 0
  for (let at = 0; at < text.length; at++) {
    window = (window << 8) ^ text.charCodeAt(at)
    if (sieve[slotOf(window)] === 0 || at + 1 < RUN_LENGTH) continue
    const run = runs.get(text.slice(at + 1 - RUN_LENGTH, at + 1))
    if (run !== undefined) counts[run] = (counts[run] as number) + 1
  }
  return counts
}

function slotOf(window: number): number {
  return Math.imul(window, 0x9e3779b1) >>> (32 - SIEVE_BITS)
}
