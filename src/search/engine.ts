/**
 * A search from the request to the answer: which arms are asked, how their rankings become one, what of it is shown.
 * Every arm gets the same filter before it ranks; what was not searched is said.
 */
import { PondError } from "../model/errors.ts"
import type { Clock } from "../platform/clock.ts"
import type { Sessions } from "../sessions/store.ts"
import { and, eq, type Filter, range } from "../substrate/filter.ts"
import { type CursorState, readCursor, writeCursor } from "./cursor.ts"
import { bestFirst, type Fused, fuse, keyOfHit, type WeightedArm } from "./fuse.ts"
import { factsOf, type Group, groupByRoot, type SessionFacts } from "./groups.ts"
import { type QueryShape, shapeOf } from "./query-shape.ts"
import type { ArmName, Hit, SearchRequest } from "./request.ts"
import { lanesOf, scopeFilter } from "./scope-filter.ts"
import { largeValues, type TimelinePlace, walkTimeline } from "./timeline.ts"
import { findWords, HIT_COLUMNS, hitOf } from "./words.ts"

export interface SearchContext {
  readonly sessions: Sessions
  readonly clock: Clock
  readonly signal: AbortSignal
}

export interface SearchAnswer {
  /** Best first, or newest first; as many as were asked for. */
  readonly groups: readonly Group[]
  /** All that were found, before grouping. */
  readonly ranked: readonly Fused[]
  readonly facts: ReadonlyMap<string, SessionFacts>
  readonly shape: QueryShape
  readonly nextCursor: string | undefined
  readonly searched: Searched
}

export interface Searched {
  readonly arms: readonly ArmName[]
  readonly scope: SearchRequest["scope"]
  /** What was left out, in words. */
  readonly excluded: readonly string[]
}

/** What each ranking gives. More would cost without changing what is shown first. */
const CANDIDATES = 100
const LITERAL_CANDIDATES = 60
const LITERAL_BUDGET_MS = 150
const WALK_BUDGET_MS = 2_000
/** A literal occurrence decides between rankings that agree otherwise. */
const LITERAL_WEIGHT = 0.5

export async function search(request: SearchRequest, context: SearchContext): Promise<SearchAnswer> {
  const cursor = readCursor(request)
  const asOfMicros = cursor?.asOfMicros ?? BigInt(Math.trunc(context.clock.nowMs())) * 1000n
  const scope = await scopeFilter(context.sessions, request.filters)
  const where = cursor === undefined ? scope : and(scope, range("ingested_at", { to: asOfMicros }))
  const shape = shapeOf(request.query)
  const found = await findHits({ request, context, where, shape, cursor })
  const wanted = found.ranked.filter(({ score }) => score >= (request.filters.minScore ?? 0))
  const ranked = request.sort === "recency" ? wanted.toSorted(newestFirst) : wanted
  const shown = cursor?.shown ?? 0
  const groups = await groupsOf(request, context.sessions, ranked)
  const page = groups.slice(shown, shown + request.limit)
  const facts = await factsOf(context.sessions, [
    ...new Set(page.flatMap(({ rootId, hits }) => [rootId, ...hits.map(({ hit }) => hit.sessionId)])),
  ])
  return {
    groups: page,
    ranked,
    facts,
    shape,
    nextCursor: nextCursor(request, {
      asOfMicros,
      shown: shown + page.length,
      groups: groups.length,
      from: cursor?.place,
      goesOn: found.goesOn,
    }),
    searched: { arms: found.arms, scope: request.scope, excluded: [...excludedOf(request), ...found.remarks] },
  }
}

// --- Arms -------------------------------------------------------------------------------------------------------------

interface Asking {
  readonly request: SearchRequest
  readonly context: SearchContext
  readonly where: Filter
  readonly shape: QueryShape
  readonly cursor: CursorState | undefined
}

interface Found {
  readonly ranked: readonly Fused[]
  readonly arms: readonly ArmName[]
  readonly remarks: readonly string[]
  readonly goesOn?: TimelinePlace
}

async function findHits(asking: Asking): Promise<Found> {
  const { request } = asking
  if (request.similarTo !== undefined) return await findSimilar(asking, request.similarTo)
  if (request.query.trim() === "") throw emptyQuery()
  if (request.mode === "exact" || request.mode === "pattern") return await walk(asking, request.mode)
  if (request.mode === "meaning") throw noMeaning()
  // Tool output has no index of words: what is asked of it is looked for to the letter.
  if (request.scope === "tools") return await walk(asking, "exact")
  return await findRanked(asking)
}

async function findRanked({ request, context, where, shape }: Asking): Promise<Found> {
  const arms: WeightedArm[] = await findWords(context.sessions, shape, where, CANDIDATES)
  const names: ArmName[] = ["words"]
  const literal = request.mode === "auto" ? [...new Set([...shape.quoted, ...shape.identifiers])].slice(0, 4) : []
  if (literal.length > 0) {
    arms.push({ hits: await literalHits(context, request, where, literal), weight: LITERAL_WEIGHT })
    names.push("exact")
  }
  return { ranked: fuse(arms), arms: names, remarks: [] }
}

/** The more of the stretches stand in a message, the better. */
async function literalHits(
  context: SearchContext,
  request: SearchRequest,
  where: Filter,
  literal: readonly string[],
): Promise<Hit[]> {
  const hits = new Map<string, Hit>()
  for (const text of literal) {
    const walked = await walkTimeline(context.sessions, context.clock, {
      needle: { text },
      isCaseBlind: true,
      where,
      scope: request.scope,
      limit: LITERAL_CANDIDATES,
      budgetMs: LITERAL_BUDGET_MS,
      signal: context.signal,
    })
    for (const hit of walked.hits) {
      const before = hits.get(keyOfHit(hit))
      hits.set(keyOfHit(hit), { ...hit, score: (before?.score ?? 0) + 1 })
    }
  }
  return [...hits.values()]
}

async function walk({ request, context, where, cursor }: Asking, mode: "exact" | "pattern"): Promise<Found> {
  const limit = Math.max(CANDIDATES, request.limit * 3)
  const answer = await walkTimeline(context.sessions, context.clock, {
    needle: mode === "exact" ? { text: unquoted(request.query) } : { pattern: request.query },
    isCaseBlind: false,
    where,
    scope: request.scope,
    limit,
    ...(cursor?.place === undefined ? {} : { from: cursor.place }),
    budgetMs: WALK_BUDGET_MS,
    signal: context.signal,
  })
  const elsewhere = await largeValues(context.sessions, where, request.scope)
  const remarks =
    elsewhere === 0 ? [] : [`${elsewhere} values larger than 4 MiB were not looked into; read them with pond get`]
  // Newest first is the order of a walk, so that is what the score says.
  const ranked = answer.hits.map((hit, index) => ({
    hit: { ...hit, score: 1 },
    score: 1 - index / (2 * limit),
    shares: [1],
  }))
  return { ranked, arms: [mode], remarks, ...(answer.goesOn === undefined ? {} : { goesOn: answer.goesOn }) }
}

/** Without embeddings, what is like a message is what shares its words. */
async function findSimilar({ request, context, where }: Asking, messageId: string): Promise<Found> {
  const [source] = await context.sessions.tables.messages.read({
    columns: HIT_COLUMNS,
    where: eq("id", messageId),
    limit: 1,
  })
  if (source === undefined) {
    throw new PondError("not_found", `There is no message ${messageId} to find similar ones to.`, {
      details: { message_id: messageId },
    })
  }
  const shape = shapeOf((source.search_text ?? "").slice(0, 2_000))
  const arms = await findWords(context.sessions, shape, where, CANDIDATES)
  const own = keyOfHit(hitOf(source, 0))
  const ranked = fuse(arms).filter(({ hit }) => keyOfHit(hit) !== own)
  return {
    ranked,
    arms: ["words"],
    remarks: [`no embeddings: similar by words, not by meaning (limit ${request.limit})`],
  }
}

// --- The answer -------------------------------------------------------------------------------------------------------

async function groupsOf(request: SearchRequest, sessions: Sessions, ranked: readonly Fused[]): Promise<Group[]> {
  if (request.group === "session") return await groupByRoot(sessions, ranked)
  return ranked.map((fused) => ({ rootId: fused.hit.sessionId, hits: [fused], matched: 1 }))
}

interface PageEnd {
  readonly asOfMicros: bigint
  readonly shown: number
  readonly groups: number
  /** Where the walk that gave these groups began, and where the next one does. */
  readonly from: TimelinePlace | undefined
  readonly goesOn: TimelinePlace | undefined
}

function nextCursor(request: SearchRequest, { asOfMicros, shown, groups, from, goesOn }: PageEnd): string | undefined {
  if (shown < groups) return writeCursor(request, { asOfMicros, shown, place: from })
  return goesOn === undefined ? undefined : writeCursor(request, { asOfMicros, shown: 0, place: goesOn })
}

function newestFirst(left: Fused, right: Fused): number {
  if (left.hit.timestampMicros !== right.hit.timestampMicros)
    return left.hit.timestampMicros > right.hit.timestampMicros ? -1 : 1
  return bestFirst(left, right)
}

function excludedOf({ filters, scope }: SearchRequest): string[] {
  const excluded: string[] = []
  if (!lanesOf(filters).includes("subagent")) excluded.push("sub-agents (include_subagents)")
  if (scope === "conversation") excluded.push("tool calls and results (scope: tools or all)")
  if (filters.fromMicros !== undefined || filters.toMicros !== undefined)
    excluded.push("other dates (from_date, to_date)")
  return excluded
}

function unquoted(query: string): string {
  return /^"(.+)"$/s.exec(query)?.[1] ?? query
}

function emptyQuery(): PondError {
  return new PondError(
    "validation_failed",
    "The query is empty. Say what to look for, or name a message with similar_to.",
    { details: { field: "query" } },
  )
}

function noMeaning(): PondError {
  return new PondError(
    "validation_failed",
    "This store has no embeddings to search by meaning. Configure a model and run `pond sync --only embed`, or use mode auto.",
    {
      details: { field: "mode" },
    },
  )
}
