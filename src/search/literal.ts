/**
 * What of an ordinary query is meant to the letter: its quoted stretches and its identifiers. The index of words gives the
 * messages that hold all words of one, and their texts decide; only what it does not know as words is walked for.
 */
import type { Clock } from "../platform/clock.ts"
import { folded, indexTerms } from "../sessions/search-terms.ts"
import type { Sessions } from "../sessions/store.ts"
import type { Filter } from "../substrate/filter.ts"
import { keyOfHit, type WeightedArm } from "./fuse.ts"
import { HIT_COLUMNS, hitOf } from "./hit-rows.ts"
import type { QueryShape } from "./query-shape.ts"
import type { Hit, Scope } from "./request.ts"
import { walkTimeline } from "./timeline.ts"

const STRETCHES_MAX = 4
const CANDIDATES = 60
const WALK_BUDGET_MS = 150
/** A literal occurrence decides between rankings that agree otherwise. */
const WEIGHT = 0.5

export interface LiteralRequest {
  readonly shape: QueryShape
  readonly where: Filter
  readonly whereOfTools: Filter
  readonly scope: Scope
  readonly signal: AbortSignal
}

/** Nothing where the query holds nothing of the kind. The more of the stretches stand in a message, the better. */
export async function findLiteral(
  sessions: Sessions,
  clock: Clock,
  request: LiteralRequest,
): Promise<WeightedArm | undefined> {
  const { quoted, identifiers } = request.shape
  const stretches = [...new Set([...quoted, ...identifiers])].slice(0, STRETCHES_MAX)
  if (stretches.length === 0) return undefined
  const found = await Promise.all(stretches.map((text) => holding(sessions, clock, text, request)))
  const hits = new Map<string, Hit>()
  for (const hit of found.flat()) {
    const score = (hits.get(keyOfHit(hit))?.score ?? 0) + 1
    hits.set(keyOfHit(hit), { ...hit, score })
  }
  return { name: "exact", hits: [...hits.values()], weight: WEIGHT }
}

async function holding(sessions: Sessions, clock: Clock, text: string, request: LiteralRequest): Promise<Hit[]> {
  const { where, whereOfTools, scope, signal } = request
  const known = await byWords(sessions, text, where)
  if (known.length > 0 && scope === "conversation") return known
  const walked = await walkTimeline(sessions, clock, {
    needle: { text },
    isCaseBlind: true,
    where,
    whereOfTools,
    scope,
    limit: CANDIDATES,
    budgetMs: WALK_BUDGET_MS,
    signal,
  })
  return [...walked.hits]
}

async function byWords(sessions: Sessions, text: string, where: Filter): Promise<Hit[]> {
  const terms = [...new Set(indexTerms(text))].filter((term) => !/[*~]$/.test(term))
  if (terms.length === 0) return []
  const rows = await sessions.words.search({ terms, every: true }, { columns: HIT_COLUMNS, where, limit: CANDIDATES })
  const wanted = folded(text)
  return rows.map((row) => hitOf(row, row._score)).filter((hit) => folded(hit.text).includes(wanted))
}
