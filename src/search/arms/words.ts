/**
 * The word arm, in two stages. First the word index yields candidates: BM25 over each message and its context; for a
 * short query also messages that have all of its words, and fuzzy matches where nobody wrote one of its words. Then the
 * candidates are re-ranked by their own texts (`rank/rerank.ts`).
 */

import type { Sessions } from "../../sessions/store.ts"
import { queryTerms } from "../../sessions/words/terms/tokenizer.ts"
import type { WordQuery } from "../../sessions/words/word-index.ts"
import type { Filter } from "../../substrate/filter.ts"
import { HIT_COLUMNS, toHit } from "../hit.ts"
import type { QueryShape } from "../query-shape.ts"
import type { WeightedArm } from "../rank/fusion.ts"
import { normalizeText, scoreOpenings, scoreRuns } from "../rank/rerank.ts"
import type { Hit } from "../request.ts"
import { compoundTerms } from "../spelling/compounds.ts"
import { hanFolder } from "../spelling/han-variants.ts"
import { otherSpellings } from "../spelling/other-spellings.ts"

/**
 * Tuned on all labelled retrieval sets together. Changing one weight by a tenth moves the mean by less than half a
 * point.
 */
const WEIGHTS = { index: 0.38, runs: 0.5, opening: 0.12, literal: 0.5 }
/** A query of up to this many words is meant literally; a longer one describes a topic. */
export const LETTER_WORDS_MAX = 6
const QUERY_TERMS_MAX = 400
/** What was asked for in the other script is found, behind what was written as asked. */
const VARIANT_SHARE = 0.5

export interface WordsRequest {
  readonly where: Filter
  readonly limit: number
  /** Sorted by time: "first" takes the newest messages that have every word if there are enough, "alone" no others. */
  readonly newest?: "first" | "alone"
}

export async function findWords(
  sessions: Sessions,
  shape: QueryShape,
  { where, limit, newest }: WordsRequest,
): Promise<WeightedArm[]> {
  const own = queryTerms(shape.text).slice(0, QUERY_TERMS_MAX)
  if (own.length === 0) return []
  const terms = [...own, ...(await otherSpellings(shape.text, own))].slice(0, QUERY_TERMS_MAX)
  const plain = own.filter((term) => !/[*~]$/.test(term))
  const isShort = shape.wordCount <= LETTER_WORDS_MAX
  const asked = { where, limit: Math.ceil(limit * 1.5) }
  const ask: Ask = async (asking) =>
    (await sessions.words.search(asking, { ...asked, columns: [] })).map(({ _row, _score }) => ({
      row: _row,
      score: _score,
    }))
  const holding = newest !== undefined && isShort ? await findNewest(sessions, plain, asked) : []
  const isNewest = holding.length >= asked.limit || newest === "alone"
  const together = isShort && shape.wordCount > 1 ? plain : []
  let found = isNewest ? holding : mergeCandidates(await findCandidates(ask, terms, together), holding)
  if (found.length > 0) sessions.answers.expected()
  let hits = await readCandidates(sessions, found)
  const texts = hits.map(({ text }) => normalizeText(text))
  const absent = isShort ? findUnheard(plain, texts) : []
  // A word that occurs anywhere in the store is spelled as intended.
  const known = absent.length > 0 ? await sessions.words.known(absent) : new Set()
  const like = await findAlike(
    sessions,
    ask,
    absent.filter((word) => !known.has(word)),
  )
  if (like.candidates.length > 0) {
    found = addCandidates(found, like.candidates)
    hits = await readCandidates(sessions, found)
    for (const { text } of hits.slice(texts.length)) texts.push(normalizeText(text))
  }
  const index: WeightedArm = {
    name: "words: index",
    hits,
    weight: WEIGHTS.index,
    isCut: found.length >= asked.limit,
    respelled: like.respelled,
    ...sinceOf(hits, isNewest),
    plan: () => sessions.words.explain({ terms }, asked),
  }
  return [index, ...scoreAgain({ shape, terms, hits, texts, fold: await hanFolder(shape.text) })]
}

interface Scoring {
  readonly shape: QueryShape
  readonly terms: readonly string[]
  readonly hits: readonly Hit[]
  /** Their texts, normalized. */
  readonly texts: readonly string[]
  readonly fold: (text: string) => string
}

/** The hits in other orders: by runs of letters, by how they open, and of a short query whether they have it literally. */
function scoreAgain({ shape, terms, hits, texts, fold }: Scoring): WeightedArm[] {
  const query = normalizeText(shape.text)
  const folded = { query: fold(query), texts: texts.map(fold) }
  const scored = (scores: readonly number[]): Hit[] => hits.map((hit, index) => ({ ...hit, score: scores[index] ?? 0 }))
  const openings = scoreOpenings(
    terms,
    hits.map(({ text }) => text),
  )
  const arms: WeightedArm[] = [
    { name: "words: runs of letters", hits: scored(scoreRuns(folded.query, folded.texts)), weight: WEIGHTS.runs },
    { name: "words: opening", hits: scored(openings), weight: WEIGHTS.opening },
  ]
  if (shape.wordCount > LETTER_WORDS_MAX) return arms
  const literal = scored(scoreLiteral({ query, texts }, folded)).filter(({ score }) => score > 0)
  return literal.length === 0 ? arms : [...arms, { name: "words: literal", hits: literal, weight: WEIGHTS.literal }]
}

interface Compared {
  readonly query: string
  readonly texts: readonly string[]
}

function scoreLiteral(asked: Compared, folded: Compared): number[] {
  return asked.texts.map((text, at) => {
    if (text.includes(asked.query)) return 1
    return folded.texts[at]?.includes(folded.query) === true ? VARIANT_SHARE : 0
  })
}

// --- Candidates -----------------------------------------------------------------------------------------------------------

interface Candidate {
  readonly row: number
  readonly score: number
}

type Ask = (query: WordQuery) => Promise<Candidate[]>

/** Reads each candidate once, whichever queries found it. */
async function readCandidates(sessions: Sessions, candidates: readonly Candidate[]): Promise<Hit[]> {
  const rows = await sessions.words.read(
    candidates.map(({ row }) => row),
    HIT_COLUMNS,
  )
  const scores = new Map(candidates.map(({ row, score }) => [row, score]))
  return rows.map((row) => toHit(row, scores.get(row._row) ?? 0))
}

/**
 * For common words BM25 favours messages with a rare combination. Asking for all words together adds those that have
 * every one.
 */
async function findCandidates(ask: Ask, terms: readonly string[], together: readonly string[]): Promise<Candidate[]> {
  const [some, every] = await Promise.all([
    ask({ terms }),
    together.length > 0 ? ask({ terms: together, every: true }) : [],
  ])
  // Candidates missing from the first list scored no more than its last.
  const least = some.at(-1)?.score ?? 0
  return mergeCandidates(
    some,
    every.map(({ row }) => ({ row, score: least })),
  )
}

/** The newest messages that have every word, unordered and unscored, up to the limit. */
async function findNewest(
  { words }: Sessions,
  plain: readonly string[],
  { where, limit }: { readonly where: Filter; readonly limit: number },
): Promise<Candidate[]> {
  if (plain.length === 0) return []
  const clauses = plain.map((term) => ({ terms: [term] }))
  const holding = await words.findMatching(clauses, { where, most: Number.POSITIVE_INFINITY, few: limit })
  if (holding === undefined) return []
  const { rows, moments } = holding
  const since = moments?.toSorted().at(-limit) ?? Number.NEGATIVE_INFINITY
  const newest: Candidate[] = []
  for (let at = rows.length - 1; at >= 0; at--)
    if ((moments?.[at] ?? 0) >= since) newest.push({ row: rows[at] as number, score: 0 })
  return newest.slice(0, limit)
}

function sinceOf(hits: readonly Hit[], isNewest: boolean): Pick<WeightedArm, "sinceMicros"> {
  if (!isNewest) return {}
  const moments = hits.map(({ timestampMicros }) => timestampMicros).toSorted((left, right) => (left < right ? -1 : 1))
  return { sinceMicros: moments[0] ?? 0n }
}

/** Messages with words that are spelled like these, or that are made of them. */
async function findAlike(sessions: Sessions, ask: Ask, unheard: readonly string[]): Promise<Alike> {
  const likely = unheard.filter((word) => word.length <= MISSPELLED_LENGTH_MAX)
  const near = likely.length > 0 ? await findSpelledAlike(ask, likely) : []
  if (near.length > 0) return { candidates: near, respelled: likely }
  const terms = await compoundTerms(sessions, unheard)
  return { candidates: terms.length > 0 ? (await ask({ terms })).slice(0, LIKE_MAX) : [], respelled: [] }
}

interface Alike {
  readonly candidates: readonly Candidate[]
  /** Words in place of which others were searched. */
  readonly respelled: readonly string[]
}

/** Within edit distance 1, or 2 where nothing is nearer. */
async function findSpelledAlike(ask: Ask, words: readonly string[]): Promise<Candidate[]> {
  const near = await ask({ terms: words, distance: 1 })
  const found = near.length > 0 ? near : await ask({ terms: words, distance: 2 })
  return found.slice(0, LIKE_MAX)
}

function mergeCandidates(first: readonly Candidate[], second: readonly Candidate[]): Candidate[] {
  const rows = new Set(first.map(({ row }) => row))
  return [...first, ...second.filter(({ row }) => !rows.has(row))]
}

/** A text with a similar word counts like one with the word itself. */
function addCandidates(first: readonly Candidate[], second: readonly Candidate[]): Candidate[] {
  const more = new Map(second.map(({ row, score }) => [row, score]))
  const raised = first.map(({ row, score }) => ({ row, score: score + (more.get(row) ?? 0) }))
  return mergeCandidates(raised, second)
}

const UNHEARD_LENGTH_MIN = 4
/** A longer one is a compound, or no word. */
const MISSPELLED_LENGTH_MAX = 24
const UNHEARD_LENGTH_MAX = 48
const UNHEARD_MAX = 3
const LIKE_MAX = 50
const JOINED = /.[./\-:@\\+#]./

/** Query words that no candidate contains, not even inside a word: probably misspelled. */
function findUnheard(plain: readonly string[], texts: readonly string[]): string[] {
  return plain
    .filter((word) => word.length >= UNHEARD_LENGTH_MIN && word.length <= UNHEARD_LENGTH_MAX && !JOINED.test(word))
    .filter((word) => !texts.some((text) => text.includes(word) || text.replaceAll("_", "").includes(word)))
    .slice(0, UNHEARD_MAX)
}
