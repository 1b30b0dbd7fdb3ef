/**
 * Exact and pattern search: every place where a text occurs or a regular expression matches, newest first. Scans time
 * windows from the newest back, so that the first hits come at once in a store of any size. Complete: what was not
 * reached in time is stated together with the position to continue from.
 */
import type { Clock } from "../../platform/host/clock.ts"
import { BLOB_SCHEME, COLUMN_UNITS_MAX } from "../../sessions/rows/oversized.ts"
import type { Sessions } from "../../sessions/store.ts"
import { and, contains, eq, type Filter, isIn, matches, not, or, range, startsWith } from "../../substrate/filter.ts"
import { HIT_COLUMNS, type HitRow, toHit } from "../hit.ts"
import { type ArmAnswer, type Hit, newestFirst, type Scope } from "../request.ts"
import { findPrefiltered } from "./prefilter.ts"
import { createTimeWindows, END_OF_TIME, estimateRows, type TimeWindow, type TimeWindows } from "./time-windows.ts"

export interface TimelineRequest {
  /** A literal text, or a regular expression of the engine (linear time). */
  readonly needle: { readonly text: string } | { readonly pattern: string }
  readonly isCaseBlind: boolean
  readonly where: Filter
  /** The same filter for the parts table. */
  readonly whereOfTools: Filter
  readonly scope: ScannedScope
  /** Also what a client recorded beside a message, such as the file before an edit. */
  readonly isOfRecords?: boolean
  readonly limit: number
  /** Where an earlier scan stopped. */
  readonly from?: TimelinePosition
  readonly budgetMs: number
  /** Approximate rows of the first window. */
  readonly windowRows?: number
  readonly signal: AbortSignal
}

/** `parts`: everything but the conversation, where another arm searches that. */
export type ScannedScope = Scope | "parts"

export interface TimelinePosition {
  readonly beforeMicros: bigint
  /** Hits of that very timestamp that were found already. */
  readonly skip: number
}

/** Rows scanned in about ten milliseconds. What is frequent is found among them. */
const TEXT_ROWS_FIRST = 16_384
const PATTERN_ROWS_FIRST = 4_096
const LAST_ROWS_MIN = 4_096

/** Share of its time that a scan may spend in one window. */
const SHARE_MAX = 1 / 4

export async function scanTimeline(sessions: Sessions, clock: Clock, request: TimelineRequest): Promise<ArmAnswer> {
  const arm = "text" in request.needle ? "exact" : "pattern"
  const found = (await scanPrefiltered(sessions, clock, request)) ?? (await scanWindows(sessions, clock, request))
  return { arm, ...found, plan: () => planOf(sessions, request) }
}

async function planOf({ tables }: Sessions, request: TimelineRequest): Promise<string> {
  const { scope, where, whereOfTools } = request
  const said = hasConversation(scope) ? await tables.messages.explain(conversationScan(request, where)) : ""
  const done = scope === "conversation" ? "" : await tables.parts.explain(partScan(request, whereOfTools))
  return `${said}${done}`
}

type Found = Pick<ArmAnswer, "hits" | "goesOn">

async function scanWindows(sessions: Sessions, clock: Clock, request: TimelineRequest): Promise<Found> {
  const { budgetMs, limit } = request
  const windows = createTimeWindows(sessions, clock, {
    isOfTools: request.scope !== "conversation",
    shareMs: budgetMs * SHARE_MAX,
    rowsFirst: request.windowRows ?? ("text" in request.needle ? TEXT_ROWS_FIRST : PATTERN_ROWS_FIRST),
  })
  const untilMs = clock.monotonicMs() + budgetMs
  const hits: Hit[] = []
  let skip = request.from?.skip ?? 0
  let to = request.from?.beforeMicros ?? END_OF_TIME
  let hasLooked = false
  let looked = 0
  while (true) {
    const window = await windows.before(to)
    if (window === undefined) return { hits }
    const fromMs = clock.monotonicMs()
    const found = await scanWithinBudget(sessions, request, { window, windows, hasLooked, leftMs: untilMs - fromMs })
    if (found === "later") return { hits, goesOn: { beforeMicros: to, skip } }
    if (found === "smaller") continue
    hasLooked = true
    hits.push(...found.slice(skip))
    // A window that returned its limit has more.
    const isFull = found.length >= rowsMax(request)
    if (hits.length >= limit) return pageOf(hits, request, isFull || window.from !== undefined)
    if (window.from === undefined) return { hits }
    skip = Math.max(0, skip - found.length)
    to = window.from
    looked += window.rows
    // The window for the last few hits of a page is small, because its cost grows with its rows.
    const wanted = Math.max(LAST_ROWS_MIN, estimateRows(limit - hits.length, hits.length / looked))
    windows.took(window, clock.monotonicMs() - fromMs, wanted)
  }
}

interface WindowScan {
  readonly window: TimeWindow
  readonly windows: TimeWindows
  readonly hasLooked: boolean
  readonly leftMs: number
}

/**
 * Gives up a window that takes longer than the time left; a later scan continues at its end. The first window must
 * return something, or the answer would never advance.
 */
async function scanWithinBudget(
  sessions: Sessions,
  request: TimelineRequest,
  { window, windows, hasLooked, leftMs }: WindowScan,
): Promise<Hit[] | "later" | "smaller"> {
  const isTimeOver = leftMs <= 0
  if (request.signal.aborted || (hasLooked && isTimeOver)) return "later"
  const found = isTimeOver ? undefined : await scanWindow(sessions, request, window, hasLooked ? leftMs : leftMs / 2)
  if (found !== undefined) return found
  if (hasLooked) return "later"
  return windows.shrink(window, isTimeOver) ? "smaller" : ((await scanWindow(sessions, request, window)) ?? "later")
}

function pageOf(hits: readonly Hit[], { limit, from }: TimelineRequest, hasMore: boolean): Found {
  const kept = hits.slice(0, limit)
  return { hits: kept, ...(hasMore || kept.length < hits.length ? { goesOn: positionBehind(kept, from) } : {}) }
}

/** Answers without a scan where the index knows which few messages can contain the text. */
async function scanPrefiltered(sessions: Sessions, clock: Clock, request: TimelineRequest): Promise<Found | undefined> {
  const { isCaseBlind, scope, where, from, budgetMs, signal } = request
  const text = literalIn(request)
  if (text === undefined || scope !== "conversation") return undefined
  const older =
    from === undefined ? where : and(where, range("timestamp", { to: from.beforeMicros, toExclusive: true }))
  const untilMs = clock.monotonicMs() + budgetMs
  const found = await findPrefiltered(sessions, {
    stretch: { text, isCaseBlind },
    where: older,
    limit: rowsMax(request),
    isOver: () => signal.aborted || clock.monotonicMs() > untilMs,
    ...("text" in request.needle ? {} : { confirmed: (rows) => confirmPattern(sessions, request, rows) }),
  })
  if (found === undefined) return undefined
  const hits = found.hits.slice(from?.skip ?? 0)
  const { before } = found
  if (before === undefined || hits.length >= request.limit) return pageOf(hits, request, before !== undefined)
  return { hits, goesOn: { beforeMicros: before, skip: 0 } }
}

/**
 * The literal that a match must contain; undefined where case is ignored, because the engine folds case differently.
 */
function literalIn({ needle, isCaseBlind }: Pick<TimelineRequest, "needle" | "isCaseBlind">): string | undefined {
  if ("text" in needle) return needle.text
  return isCaseBlind ? undefined : requiredLiteral(needle.pattern)
}

/** Lets the engine test the pattern, on these messages alone. */
async function confirmPattern(
  { tables }: Sessions,
  request: TimelineRequest,
  rows: readonly HitRow[],
): Promise<readonly HitRow[]> {
  const found = new Set<string>()
  for (let from = 0; from < rows.length; from += MATCHED_AT_ONCE) {
    const some = rows.slice(from, from + MATCHED_AT_ONCE)
    const those = isIn(
      "timestamp",
      some.map(({ timestamp }) => timestamp),
    )
    const where = and(those, needleFilter(request, "search_text"))
    for (const row of await tables.messages.read({ columns: ["session_id", "id"], where })) found.add(keyOf(row))
  }
  return rows.filter((row) => found.has(keyOf(row)))
}

const MATCHED_AT_ONCE = 512

function keyOf({ session_id, id }: Pick<HitRow, "session_id" | "id">): string {
  return `${session_id.length} ${session_id}${id}`
}

/** Many messages may share a timestamp: the next scan starts with it again and skips those found. */
function positionBehind(kept: readonly Hit[], before: TimelinePosition | undefined): TimelinePosition {
  const last = kept.at(-1)?.timestampMicros ?? 0n
  const same = kept.filter((hit) => hit.timestampMicros === last).length
  const earlier = before !== undefined && before.beforeMicros === last + 1n ? before.skip : 0
  return { beforeMicros: last + 1n, skip: same + earlier }
}

/** Undefined where it takes longer than the time given. */
async function scanWindow(
  sessions: Sessions,
  request: TimelineRequest,
  window: TimeWindow,
  withinMs?: number,
): Promise<Hit[] | undefined> {
  const { from, to } = window
  const bounds = { ...(from === undefined ? {} : { from }), to, toExclusive: true }
  const inside = range("timestamp", bounds)
  const [where, whereOfTools] = [and(request.where, inside), and(request.whereOfTools, inside)]
  const [said, done] = await Promise.all([
    hasConversation(request.scope) ? conversationHits(sessions, request, where, withinMs) : [],
    request.scope === "conversation" ? [] : partHits(sessions, request, whereOfTools, withinMs),
  ])
  return said === undefined || done === undefined ? undefined : [...said, ...done].toSorted(newestFirst)
}

/** The engine sorts as hits are sorted, so that skipped hits are the ones already shown. */
const NEWEST_FIRST = (ordinal: "ordinal" | "message_ordinal") => [
  { column: "timestamp" as const, descending: true },
  { column: "session_id" as const },
  { column: ordinal, descending: true },
]
/** Parts of one message share all of that, so their own ordinal decides. */
const PARTS_NEWEST_FIRST = [...NEWEST_FIRST("message_ordinal"), { column: "ordinal" as const }]

function conversationScan(request: TimelineRequest, where: Filter) {
  const said = needleFilter(request, "search_text")
  return {
    columns: request.isOfRecords === true ? ([...HIT_COLUMNS, "options"] as const) : HIT_COLUMNS,
    where: and(where, request.isOfRecords === true ? or(said, needleFilter(inJson(request), "options")) : said),
    orderBy: NEWEST_FIRST("ordinal") as never,
    limit: rowsMax(request),
  }
}

function rowsMax({ limit, from }: TimelineRequest): number {
  return limit + (from?.skip ?? 0)
}

async function conversationHits(
  { tables }: Sessions,
  request: TimelineRequest,
  where: Filter,
  withinMs: number | undefined,
): Promise<Hit[] | undefined> {
  const scan = conversationScan(request, where)
  const rows =
    withinMs === undefined ? await tables.messages.read(scan) : await tables.messages.readWithin(withinMs, scan)
  return rows?.map((row) =>
    matchesConversation(row, request) ? toHit(row, 1) : { ...toHit(row, 1), text: recordOf(row) },
  )
}

/** A pattern may match in ways that only the engine knows, so a message with text counts as said. */
function matchesConversation({ search_text }: HitRow, { needle, isCaseBlind, isOfRecords }: TimelineRequest): boolean {
  if (isOfRecords !== true) return true
  if (search_text === null) return false
  if ("pattern" in needle) return true
  const [text, wanted] = [search_text, needle.text]
  return isCaseBlind ? text.toLowerCase().includes(wanted.toLowerCase()) : text.includes(wanted)
}

function recordOf(row: HitRow): string {
  return "options" in row && typeof row.options === "string" ? row.options : (row.search_text ?? "")
}

function hasConversation(scope: ScannedScope): boolean {
  return scope === "conversation" || scope === "all"
}

/** What a scope searches beside the conversation. All of it is what the search text of a message leaves out. */
function scopeFilter(scope: ScannedScope): Filter {
  if (scope === "tools") return isIn("type", ["tool_call", "tool_result"])
  return not(and(eq("provenance", "conversational"), isIn("type", ["text", "file"])))
}

/** Tool calls and structured results are stored as JSON, where the text appears JSON-escaped. */
function partScan(request: TimelineRequest, where: Filter) {
  return {
    columns: ["session_id", "message_id", "message_ordinal", "role", "timestamp", "text", "variant_data"] as const,
    where: and(
      where,
      scopeFilter(request.scope),
      or(needleFilter(request, "text"), needleFilter(inJson(request), "variant_data")),
    ),
    orderBy: PARTS_NEWEST_FIRST as never,
    limit: rowsMax(request),
  }
}

function inJson(request: TimelineRequest): TimelineRequest {
  const { needle } = request
  return "text" in needle ? { ...request, needle: { text: JSON.stringify(needle.text).slice(1, -1) } } : request
}

async function partHits(
  { tables }: Sessions,
  request: TimelineRequest,
  where: Filter,
  withinMs: number | undefined,
): Promise<Hit[] | undefined> {
  const scan = partScan(request, where)
  const rows = withinMs === undefined ? await tables.parts.read(scan) : await tables.parts.readWithin(withinMs, scan)
  return rows?.map((row) => ({
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
  if ("text" in needle) return contains(column, needle.text, isCaseBlind)
  const pattern = matches(column, needle.pattern, isCaseBlind)
  const literal = literalIn({ needle, isCaseBlind })
  // The literal rules out most texts in half the time of the pattern.
  return literal === undefined ? pattern : and(contains(column, literal), pattern)
}

/**
 * Counts values of the searched columns that are in blobs. This reads the columns; undefined where it takes too long.
 */
export async function countLargeValues(
  sessions: Sessions,
  { where, whereOfTools, scope }: Pick<TimelineRequest, "where" | "whereOfTools" | "scope">,
  withinMs: number,
): Promise<number | undefined> {
  const { blobs, messages, parts } = sessions.tables
  // Most stores have no text of that size, only attachments.
  if ((await blobs.count(range("size", { from: BigInt(COLUMN_UNITS_MAX) }))) === 0) return 0
  const said = and(where, startsWith("search_text", BLOB_SCHEME))
  const done = and(
    whereOfTools,
    scopeFilter(scope),
    or(startsWith("text", BLOB_SCHEME), startsWith("variant_data", BLOB_SCHEME)),
  )
  const columns = ["session_id"] as const
  const found = await Promise.all([
    hasConversation(scope) ? messages.readWithin(withinMs, { columns, where: said }) : [],
    scope === "conversation" ? [] : parts.readWithin(withinMs, { columns, where: done }),
  ])
  return found.reduce<number | undefined>((sum, rows) => (rows && sum !== undefined ? sum + rows.length : undefined), 0)
}

// --- The text that every match holds ---------------------------------------------------------------------------------

// Extracts a literal from a regular expression: the longest string that every match contains. Reads only simple
// patterns (no groups, alternatives or flags). Whether a pattern is valid remains for the engine to say. Pure. Regex
// engines use the same technique (https://swtch.com/~rsc/regexp/regexp4.html).

/** One element of a pattern with its repetition. A special character after a backslash stands for itself. */
const PIECE =
  /(?:(?<plain>[^\\.+*?()|[\]{}^$])|\\(?<sign>[\\.+*?()|[\]{}^$#&~-])|(?:\\[wdsWDS]|\.|\[\^?(?:\\[wds]|a-z|A-Z|0-9|\w)+\]))(?<often>[+*?]\??)?|\\[bB]|\^|\$/suy

/** A longer literal costs the engine more per text than it saves. */
const PATTERN_UNITS_MAX = 200

/** Undefined where no literal is certain. */
export function requiredLiteral(pattern: string): string | undefined {
  if (pattern.length > PATTERN_UNITS_MAX || !pattern.isWellFormed()) return undefined
  let [longest, run] = ["", ""]
  for (let at = 0; at < pattern.length; at = PIECE.lastIndex) {
    PIECE.lastIndex = at
    const piece = PIECE.exec(pattern)
    if (piece === null) return undefined
    const { plain, sign, often } = piece.groups ?? {}
    const own = plain ?? sign
    // An optional element is not certain, and nothing can be joined behind a repeated one.
    if (own !== undefined && (often === undefined || often.startsWith("+"))) run += own
    if (run.length > longest.length) longest = run
    if (own === undefined || often !== undefined) run = ""
  }
  return longest === "" ? undefined : longest
}
