/**
 * The words arm, in two steps. The index of terms finds candidates: BM25 over a message and what was said just before it,
 * in every language alike. Then the candidates are weighed by their own texts: runs of four characters know typing errors,
 * endings and parts of names, which terms do not; the query's own terms know what the candidate itself says.
 */
import { folded, indexTerms, queryTerms } from "../sessions/search-terms.ts"
import type { Sessions } from "../sessions/store.ts"
import type { Filter } from "../substrate/filter.ts"
import type { WeightedArm } from "./fuse.ts"
import type { QueryShape } from "./query-shape.ts"
import type { Hit } from "./request.ts"

/** What a search reads of a message that it found. */
export const HIT_COLUMNS = ["session_id", "id", "ordinal", "role", "timestamp", "search_text"] as const

export interface HitRow {
  readonly session_id: string
  readonly id: string
  readonly ordinal: number
  readonly role: string
  readonly timestamp: bigint
  readonly search_text: string | null
}

export function hitOf(row: HitRow, score: number): Hit {
  return {
    sessionId: row.session_id,
    messageId: row.id,
    ordinal: row.ordinal,
    role: row.role,
    timestampMicros: row.timestamp,
    text: row.search_text ?? "",
    score,
  }
}

/** Chosen by the judge on all of its sets together; single changes of a tenth move the mean by less than half a point. */
const WEIGHTS = { index: 0.35, runs: 0.4, terms: 0.25, literal: 0.5 }
const RUN_LENGTH = 4
/** A query that occurs to the letter is what was meant, as long as nobody writes that much by chance. */
const LITERAL_WORDS_MAX = 6
/** More of a text than this is not weighed: the beginning says what it is about. */
const WEIGHED_UNITS_MAX = 20_000
const QUERY_TERMS_MAX = 400

export async function findWords(
  sessions: Sessions,
  shape: QueryShape,
  where: Filter,
  limit: number,
): Promise<WeightedArm[]> {
  const terms = queryTerms(shape.text).slice(0, QUERY_TERMS_MAX)
  if (terms.length === 0) return []
  const rows = await sessions.tables.messages.searchText(
    { match: terms.join(" "), column: "search_terms" },
    { columns: HIT_COLUMNS, where, limit: Math.ceil(limit * 1.5) },
  )
  const hits = rows.map((row) => hitOf(row, row._score))
  const texts = hits.map(({ text }) => folded(text.slice(0, WEIGHED_UNITS_MAX)).replace(/\s+/g, " "))
  const scored = (scores: readonly number[]): Hit[] => hits.map((hit, index) => ({ ...hit, score: scores[index] ?? 0 }))
  const arms: WeightedArm[] = [
    { hits, weight: WEIGHTS.index },
    {
      hits: scored(
        weigh(
          runsIn(shape.text, texts),
          texts.map((text) => text.length),
        ),
      ),
      weight: WEIGHTS.runs,
    },
    { hits: scored(weighTerms(terms, hits)), weight: WEIGHTS.terms },
  ]
  const literal = folded(shape.text).replace(/\s+/g, " ").trim()
  if (shape.wordCount <= LITERAL_WORDS_MAX) {
    const scores = texts.map((text) => (text.includes(literal) ? 1 : 0))
    if (scores.some((score) => score > 0))
      arms.push({ hits: scored(scores).filter(({ score }) => score > 0), weight: WEIGHTS.literal })
  }
  return arms
}

// --- Weighing the candidates against each other ---------------------------------------------------------------------------

type Counts = ReadonlyMap<string, number>

const K1 = 0.6
const B = 0.6

/** BM25 among the candidates alone: what all of them have says nothing of any. */
function weigh(counts: readonly Counts[], lengths: readonly number[]): number[] {
  const having = new Map<string, number>()
  for (const count of counts) for (const key of count.keys()) having.set(key, (having.get(key) ?? 0) + 1)
  const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length) || 1
  return counts.map((count, index) => {
    const norm = K1 * (1 - B + (B * (lengths[index] ?? 0)) / mean)
    let score = 0
    for (const [key, times] of count) {
      const documents = having.get(key) ?? 1
      const rarity = Math.log((counts.length - documents + 0.5) / (documents + 0.5) + 1)
      score += (rarity * times * (K1 + 1)) / (times + norm)
    }
    return score
  })
}

/** How often each run of characters of the query stands in each text. Runs cross spaces: word order counts. */
function runsIn(query: string, texts: readonly string[]): Counts[] {
  const wanted = new Set<string>()
  const bare = folded(query).replace(/\s+/g, " ").trim()
  for (let at = 0; at + RUN_LENGTH <= bare.length; at++) wanted.add(bare.slice(at, at + RUN_LENGTH))
  return texts.map((text) => {
    const counts = new Map<string, number>()
    if (wanted.size === 0) return counts
    for (let at = 0; at + RUN_LENGTH <= text.length; at++) {
      const run = text.slice(at, at + RUN_LENGTH)
      if (wanted.has(run)) counts.set(run, (counts.get(run) ?? 0) + 1)
    }
    return counts
  })
}

function weighTerms(terms: readonly string[], hits: readonly Hit[]): number[] {
  const wanted = new Set(terms)
  const lengths: number[] = []
  const counts = hits.map(({ role, text }) => {
    const own = indexTerms(`${role}: ${text.slice(0, WEIGHED_UNITS_MAX)}`)
    lengths.push(own.length)
    const count = new Map<string, number>()
    for (const term of own) if (wanted.has(term)) count.set(term, (count.get(term) ?? 0) + 1)
    return count
  })
  return weigh(counts, lengths)
}
