/**
 * The exact and the pattern arm: every place where a text stands, or a regular expression matches, newest first. Complete:
 * what was not looked at within the time is said, with the moment from which to go on. Walks back in time window by
 * window, so that the newest come at once however large the store is.
 */
import type { Clock } from "../platform/clock.ts"
import { BLOB_SCHEME } from "../sessions/oversized.ts"
import type { Sessions } from "../sessions/store.ts"
import { and, contains, type Filter, isIn, matches, or, range, startsWith } from "../substrate/filter.ts"
import { findNarrowed } from "./certain-words.ts"
import { HIT_COLUMNS, hitOf } from "./hit-rows.ts"
import type { ArmAnswer, Hit, Scope } from "./request.ts"

export interface TimelineRequest {
  /** What is looked for: a text as it stands, or a regular expression of the engine (linear time). */
  readonly needle: { readonly text: string } | { readonly pattern: string }
  readonly isCaseBlind: boolean
  readonly where: Filter
  readonly scope: Scope
  readonly limit: number
  /** Where an earlier walk stopped, and what it had found at that very moment. */
  readonly from?: TimelinePlace
  readonly budgetMs: number
  readonly signal: AbortSignal
}

export interface TimelinePlace {
  readonly beforeMicros: bigint
  /** How many of the newest moment were found already. */
  readonly skip: number
}

/** How much of its time a walk may spend in one window. */
const SHARE_MAX = 1 / 4
const HOUR = 3_600_000_000n
/** The first window back from the newest row; each empty one that was quick makes the next larger. */
const WINDOW_FIRST = 24n * HOUR * 7n

export async function walkTimeline(sessions: Sessions, clock: Clock, request: TimelineRequest): Promise<ArmAnswer> {
  return { ...(await walked(sessions, clock, request)), plan: () => planOf(sessions, request) }
}

async function planOf({ tables }: Sessions, request: TimelineRequest): Promise<string> {
  const { scope, where } = request
  const said = scope === "tools" ? "" : await tables.messages.explain(conversationScan(request, where))
  const done = scope === "conversation" ? "" : await tables.parts.explain(toolScan(request, where))
  return `${said}${done}`
}

async function walked(sessions: Sessions, clock: Clock, request: TimelineRequest): Promise<Omit<ArmAnswer, "plan">> {
  const arm = "text" in request.needle ? "exact" : "pattern"
  const narrowed = await narrowedHits(sessions, request)
  if (narrowed !== undefined) return { arm, hits: narrowed }
  const bounds = await timeBounds(sessions)
  if (bounds === undefined) return { arm, hits: [] }
  const untilMs = clock.monotonicMs() + request.budgetMs
  const hits: Hit[] = []
  let skip = request.from?.skip ?? 0
  let to = request.from?.beforeMicros ?? bounds.newest + 1n
  let span = WINDOW_FIRST
  // A window that gave as many as it may has more.
  let isFull = false
  while (to > bounds.oldest && hits.length < request.limit) {
    if (clock.monotonicMs() > untilMs || request.signal.aborted)
      return { arm, hits, goesOn: { beforeMicros: to, skip } }
    const from = later(to - span, bounds.oldest)
    const windowMs = clock.monotonicMs()
    const found = await inWindow(sessions, request, from, to)
    hits.push(...found.slice(skip))
    isFull = found.length >= request.limit + (request.from?.skip ?? 0)
    skip = Math.max(0, skip - found.length)
    to = from
    span = nextSpan(span, found.length, (clock.monotonicMs() - windowMs) / request.budgetMs)
  }
  if (hits.length === 0) return { arm, hits }
  const kept = hits.slice(0, request.limit)
  const isCut = isFull || kept.length < hits.length || to > bounds.oldest
  return { arm, hits: kept, ...(isCut ? { goesOn: placeBehind(kept, request.from) } : {}) }
}

/** A window cannot be left half looked at, so that it must not grow beyond its share of the time. */
function nextSpan(span: bigint, found: number, share: number): bigint {
  if (share > SHARE_MAX) return later(span / 4n, HOUR)
  return found === 0 && share < SHARE_MAX / 4 ? span * 4n : span
}

/** All at once, where the index knows which few messages can hold the text. */
async function narrowedHits(sessions: Sessions, request: TimelineRequest): Promise<Hit[] | undefined> {
  const { needle, isCaseBlind, scope, where, from, limit } = request
  if (!("text" in needle) || isCaseBlind || scope !== "conversation" || from !== undefined) return undefined
  const hits = await findNarrowed(sessions, needle.text, where)
  return hits !== undefined && hits.length <= limit ? hits.toSorted(newestFirst) : undefined
}

/** Many messages may share a moment: the next walk begins with it again, and passes over what was found there. */
function placeBehind(kept: readonly Hit[], before: TimelinePlace | undefined): TimelinePlace {
  const last = kept.at(-1)?.timestampMicros ?? 0n
  const same = kept.filter((hit) => hit.timestampMicros === last).length
  const earlier = before !== undefined && before.beforeMicros === last + 1n ? before.skip : 0
  return { beforeMicros: last + 1n, skip: same + earlier }
}

function later(left: bigint, right: bigint): bigint {
  return left > right ? left : right
}

async function timeBounds(
  sessions: Sessions,
): Promise<{ readonly oldest: bigint; readonly newest: bigint } | undefined> {
  const edge = async (descending: boolean) =>
    (
      await sessions.tables.messages.read({
        columns: ["timestamp"],
        orderBy: [{ column: "timestamp", descending }],
        limit: 1,
      })
    )[0]?.timestamp
  const [oldest, newest] = await Promise.all([edge(false), edge(true)])
  return oldest === undefined || newest === undefined ? undefined : { oldest, newest }
}

async function inWindow(sessions: Sessions, request: TimelineRequest, from: bigint, to: bigint): Promise<Hit[]> {
  const where = and(request.where, range("timestamp", { from, to, toExclusive: true }))
  const [said, done] = await Promise.all([
    request.scope === "tools" ? [] : conversationHits(sessions, request, where),
    request.scope === "conversation" ? [] : toolHits(sessions, request, where),
  ])
  return [...said, ...done].toSorted(newestFirst)
}

function newestFirst(left: Hit, right: Hit): number {
  if (left.timestampMicros !== right.timestampMicros) return left.timestampMicros > right.timestampMicros ? -1 : 1
  if (left.sessionId !== right.sessionId) return left.sessionId < right.sessionId ? -1 : 1
  return right.ordinal - left.ordinal
}

/** The same order in the engine, so that what is passed over is what was shown. */
const NEWEST_FIRST = (ordinal: "ordinal" | "message_ordinal") => [
  { column: "timestamp" as const, descending: true },
  { column: "session_id" as const },
  { column: ordinal, descending: true },
]

function conversationScan(request: TimelineRequest, where: Filter) {
  return {
    columns: HIT_COLUMNS,
    where: and(where, needleFilter(request, "search_text")),
    orderBy: NEWEST_FIRST("ordinal") as never,
    limit: request.limit + (request.from?.skip ?? 0),
  }
}

async function conversationHits(sessions: Sessions, request: TimelineRequest, where: Filter): Promise<Hit[]> {
  const rows = await sessions.tables.messages.read(conversationScan(request, where))
  return rows.map((row) => hitOf(row, 1))
}

/** Calls are kept as JSON, and so are results that are no string: there a text stands as JSON writes it. */
function toolScan(request: TimelineRequest, where: Filter) {
  const inJson =
    "text" in request.needle
      ? { ...request, needle: { text: JSON.stringify(request.needle.text).slice(1, -1) } }
      : request
  return {
    columns: ["session_id", "message_id", "message_ordinal", "role", "timestamp", "text", "variant_data"] as const,
    where: and(
      where,
      isIn("type", ["tool_call", "tool_result"]),
      or(needleFilter(request, "text"), needleFilter(inJson, "variant_data")),
    ),
    orderBy: NEWEST_FIRST("message_ordinal") as never,
    limit: request.limit + (request.from?.skip ?? 0),
  }
}

async function toolHits(sessions: Sessions, request: TimelineRequest, where: Filter): Promise<Hit[]> {
  const rows = await sessions.tables.parts.read(toolScan(request, where))
  return rows.map((row) => ({
    sessionId: row.session_id,
    messageId: row.message_id,
    ordinal: row.message_ordinal,
    role: row.role,
    timestampMicros: row.timestamp,
    text: row.text ?? row.variant_data,
    score: 1,
  }))
}

function needleFilter(
  { needle, isCaseBlind }: Pick<TimelineRequest, "needle" | "isCaseBlind">,
  column: string,
): Filter {
  return "text" in needle ? contains(column, needle.text, isCaseBlind) : matches(column, needle.pattern, isCaseBlind)
}

/** How many values of the searched columns lie in blobs. */
export async function largeValues(sessions: Sessions, where: Filter, scope: Scope): Promise<number> {
  // Looking for them reads the columns; a store without blobs has none.
  if ((await sessions.tables.blobs.count()) === 0) return 0
  const [said, done] = await Promise.all([
    scope === "tools" ? 0 : sessions.tables.messages.count(and(where, startsWith("search_text", BLOB_SCHEME))),
    scope === "conversation"
      ? 0
      : sessions.tables.parts.count(
          and(
            where,
            isIn("type", ["tool_call", "tool_result"]),
            or(startsWith("text", BLOB_SCHEME), startsWith("variant_data", BLOB_SCHEME)),
          ),
        ),
  ])
  return said + done
}
