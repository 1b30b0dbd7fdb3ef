/**
 * The literal arm: quoted text and identifiers of an ordinary query. The word index yields messages that have all words
 * of one, and their texts decide. Only text that the index does not know as words is scanned for.
 */
import type { Clock } from "../../platform/host/clock.ts"
import type { Sessions } from "../../sessions/store.ts"
import { foldText, indexTerms } from "../../sessions/words/terms/tokenizer.ts"
import { and, type Filter, range } from "../../substrate/filter.ts"
import { type ScannedScope, scanTimeline } from "../exact/timeline.ts"
import { HIT_COLUMNS, toHit } from "../hit.ts"
import type { QueryShape } from "../query-shape.ts"
import { keyOfHit, type WeightedArm } from "../rank/fusion.ts"
import type { Hit } from "../request.ts"

const STRETCHES_MAX = 4
const CANDIDATES = 60
const WALK_BUDGET_MS = 150
/** Tool output is not in the word index, so a search of it has nothing else and gets more time. */
const TOOLS_BUDGET_MS = 1_000
/** Practically unlimited: a later page scans as far as the first, even on a busy machine. */
const WALK_AGAIN_BUDGET_MS = 86_400_000
/** A literal match decides between messages that rank equally otherwise. */
const WEIGHT = 0.5

export interface LiteralRequest {
  readonly shape: QueryShape
  readonly where: Filter
  readonly whereOfTools: Filter
  readonly scope: ScannedScope
  /** No message has the query's words, so they may be parts of longer ones. */
  readonly isUnheard: boolean
  /** On a later page: how far back the first page scanned, unless to the end. */
  readonly again?: { readonly sinceMicros: bigint | undefined }
  readonly signal: AbortSignal
}

export interface Literal {
  readonly arm: WeightedArm
  /** Where the scan ran out of time. Older messages were not scanned. */
  readonly sinceMicros?: bigint
}

/** Scores a message by how many of the literals it contains. Undefined where the query has none. */
export async function findLiteral(
  sessions: Sessions,
  clock: Clock,
  request: LiteralRequest,
): Promise<Literal | undefined> {
  const { quoted, identifiers, text: whole } = request.shape
  const meant = [...new Set([...quoted, ...identifiers])].slice(0, STRETCHES_MAX)
  // Tool output is not in the word index, so there the whole query is taken literally unless a part of it is.
  const isWhole = meant.length === 0 && (request.isUnheard || request.scope === "all") && whole !== ""
  if (meant.length === 0 && !isWhole) return undefined
  const asked: LiteralRequest = isWhole && !request.isUnheard ? { ...request, scope: "parts" } : request
  const stretches = isWhole ? [whole] : meant
  const found = await Promise.all(stretches.map((text) => findLiteralHits(sessions, clock, text, asked)))
  const [newest] = found
    .flatMap(({ sinceMicros }) => sinceMicros ?? [])
    .toSorted((left, right) => (left > right ? -1 : 1))
  const since = request.again === undefined ? newest : request.again.sinceMicros
  const hits = new Map<string, Hit>()
  for (const { isWalked, hits: held } of found) {
    for (const hit of held) {
      if (isWalked && since !== undefined && hit.timestampMicros < since) continue
      const score = (hits.get(keyOfHit(hit))?.score ?? 0) + 1
      hits.set(keyOfHit(hit), { ...hit, score })
    }
  }
  return {
    arm: { name: "exact", hits: [...hits.values()], weight: WEIGHT },
    ...(since === undefined ? {} : { sinceMicros: since }),
  }
}

interface Holding {
  readonly hits: readonly Hit[]
  readonly isWalked: boolean
  readonly sinceMicros?: bigint
}

async function findLiteralHits(
  sessions: Sessions,
  clock: Clock,
  text: string,
  request: LiteralRequest,
): Promise<Holding> {
  const { scope, again, signal } = request
  if (scope === "conversation") {
    const known = await findByWords(sessions, text, request.where)
    if (known.length > 0) return { hits: known, isWalked: false }
  }
  const reach: Filter[] = again?.sinceMicros === undefined ? [] : [range("timestamp", { from: again.sinceMicros })]
  const { hits, goesOn } = await scanTimeline(sessions, clock, {
    needle: { text },
    isCaseBlind: true,
    where: and(request.where, ...reach),
    whereOfTools: and(request.whereOfTools, ...reach),
    scope,
    limit: CANDIDATES,
    budgetMs: again === undefined ? budgetOf(scope) : WALK_AGAIN_BUDGET_MS,
    signal,
  })
  const isCut = goesOn !== undefined && hits.length < CANDIDATES
  return { hits, isWalked: true, ...(isCut ? { sinceMicros: goesOn.beforeMicros } : {}) }
}

function budgetOf(scope: ScannedScope): number {
  return scope === "conversation" ? WALK_BUDGET_MS : TOOLS_BUDGET_MS
}

async function findByWords(sessions: Sessions, text: string, where: Filter): Promise<Hit[]> {
  const terms = [...new Set(indexTerms(text))].filter((term) => !/[*~]$/.test(term))
  if (terms.length === 0) return []
  const rows = await sessions.words.search({ terms, every: true }, { columns: HIT_COLUMNS, where, limit: CANDIDATES })
  const wanted = foldText(text)
  return rows.map((row) => toHit(row, row._score)).filter((hit) => foldText(hit.text).includes(wanted))
}
