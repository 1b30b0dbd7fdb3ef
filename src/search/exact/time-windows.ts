/**
 * Splits time into windows for a scan from the newest message back, each with about as many rows as can be scanned at
 * once. Counts only timestamps, which an index answers, and skips empty time. Knows nothing of the search itself.
 */
import type { Clock } from "../../platform/host/clock.ts"
import type { Sessions } from "../../sessions/store.ts"
import { range } from "../../substrate/filter.ts"

export interface TimeWindow {
  /** Undefined in the last window, which reaches back to the first row. */
  readonly from: bigint | undefined
  /** Exclusive. */
  readonly to: bigint
  readonly rows: number
}

export interface TimeWindows {
  /** The next window before a time; undefined where nothing is older. */
  before(to: bigint): Promise<TimeWindow | undefined>
  /** Reports the cost of a window, which decides the size of the next. */
  took(window: TimeWindow, ms: number, wanted: number): void
  /**
   * Reports that a window took too long. Returns whether to ask for a smaller one; the smallest where no time is left.
   */
  shrink(window: TimeWindow, isTimeOver: boolean): boolean
}

/** Later than the timestamp of any message. */
export const END_OF_TIME = 999_999_999_999_999_999n

const WEEK = 604_800_000_000n
const ROWS_MIN = 16
const GROWTH_MAX = 8
/** A window may have this many times the rows it should. */
const EXCESS_MAX = 1.5
const TRIES_MAX = 24
/** A list shows twenty sessions: so many and a third more are tried at once, then a fifth of them, then one. */
const BEGINNINGS_MAX = 27
const BEGINNINGS_STEP = 5

export interface WindowsRequest {
  readonly isOfTools: boolean
  /** Time budget of one window, which cannot be left half scanned. */
  readonly shareMs: number
  /** Approximate rows of the first window. */
  readonly rowsFirst: number
}

export function createTimeWindows(sessions: Sessions, clock: Clock, request: WindowsRequest): TimeWindows {
  const { isOfTools, shareMs, rowsFirst } = request
  const table = isOfTools ? sessions.tables.parts : sessions.tables.messages
  const count = (from: bigint | undefined, to: bigint) =>
    table.count(range("timestamp", { ...(from === undefined ? {} : { from }), to, toExclusive: true }))
  let wanted = rowsFirst
  let span = WEEK
  let givenUp = Number.POSITIVE_INFINITY
  /** Rows that are not older than the end of the last window. */
  let newer: { readonly than: bigint; readonly rows: number } | undefined

  /**
   * Rows before a time, of all rows those that are not newer: an index counts 7,000 timestamps in 3 ms and a million in 40.
   * Rows that are stored meanwhile make it too many, and `cutOff` counts again where it finds none.
   */
  async function countBefore(to: bigint): Promise<number> {
    const all = await table.count()
    if (to === END_OF_TIME) return all
    if (newer?.than !== to) newer = { than: to, rows: await table.count(range("timestamp", { from: to })) }
    const left = all - newer.rows
    return left > wanted * EXCESS_MAX ? left : await count(undefined, to)
  }

  /** Replaces the end of time by a moment near the newest message. */
  async function findAnchor(to: bigint): Promise<bigint> {
    if (to !== END_OF_TIME) return to
    const now = BigInt(Math.trunc(clock.nowMs())) * 1000n
    if ((await count(now - span, to)) > 0) return now
    const [newest] = await newestBeginnings(sessions, 1)
    return newest === undefined || newest > now ? now : newest
  }

  async function before(to: bigint): Promise<TimeWindow | undefined> {
    const left = await countBefore(to)
    if (left > wanted * EXCESS_MAX) {
      const anchor = await findAnchor(to)
      return (await overPause(to, anchor)) ?? (await cutOff(to, anchor))
    }
    return left === 0 ? undefined : { from: undefined, to, rows: left }
  }

  /** A window of the right size out of a span with too many rows. */
  async function cutOff(end: bigint, anchor: bigint): Promise<TimeWindow | undefined> {
    // The smallest span seen with too many rows. Many rows of one timestamp cannot be split.
    let crowd: { readonly from: bigint; readonly rows: number } | undefined
    let to = end
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const from = (to === end ? anchor : to) - span
      const rows = await count(from, to)
      if (rows === 0) {
        to = from
        span = crowd === undefined ? scale(span, GROWTH_MAX) : scale(to - crowd.from, 1 / 2)
        continue
      }
      const isCrowd = rows > wanted * EXCESS_MAX
      if (!isCrowd || span <= 1n) {
        span = scale(span, Math.min(GROWTH_MAX, wanted / rows))
        return { from, to, rows }
      }
      crowd = { from, rows }
      span = scale(span, Math.max(1 / 64, (wanted / rows) * 0.9))
    }
    return crowd === undefined ? await before(to) : { ...crowd, to }
  }

  /**
   * Where nobody said anything for a while: from one of the last sessions that began before that, if it is few enough rows.
   * Spans that grow over a long pause end up with everything behind it: two years without a message before the newest one
   * cost a list all of a million rows.
   */
  async function overPause(end: bigint, anchor: bigint): Promise<TimeWindow | undefined> {
    const to = anchor - span
    if ((await count(to, end)) > 0) return undefined
    const beginnings = await newestBeginnings(sessions, BEGINNINGS_MAX, to)
    for (let last = beginnings.length; last > 0; last = Math.trunc(last / BEGINNINGS_STEP)) {
      const from = beginnings[last - 1]
      const rows = from === undefined ? 0 : await count(from, to)
      if (rows > 0 && rows <= wanted * EXCESS_MAX) return { from, to, rows }
    }
    return undefined
  }

  return {
    before,
    took: ({ from, to, rows }, ms, most) => {
      if (from !== undefined && newer?.than === to) newer = { than: from, rows: newer.rows + rows }
      const affordable = (rows * shareMs) / Math.max(ms, 0.1)
      const next = Math.trunc(Math.max(ROWS_MIN, Math.min(wanted * GROWTH_MAX, affordable, most)))
      span = scale(span, next / wanted)
      wanted = next
    },
    shrink: ({ rows }, isTimeOver) => {
      const isLeast = rows <= ROWS_MIN || span <= 1n || (isTimeOver && wanted === ROWS_MIN)
      // Many rows of one timestamp stay as many, however short the span.
      if (isLeast || rows >= givenUp) return false
      givenUp = rows
      wanted = isTimeOver ? ROWS_MIN : Math.max(ROWS_MIN, Math.trunc(Math.min(rows, wanted) / GROWTH_MAX))
      span = scale(span, 1 / GROWTH_MAX)
      return true
    },
  }
}

/** Of sessions, before a time, newest first. The table of sessions is a hundredth of the others. */
async function newestBeginnings(sessions: Sessions, limit: number, to?: bigint): Promise<readonly bigint[]> {
  const newest = await sessions.tables.sessions.read({
    columns: ["created_at"],
    ...(to === undefined ? {} : { where: range("created_at", { to, toExclusive: true }) }),
    orderBy: [{ column: "created_at", descending: true }],
    limit,
  })
  return newest.map((row) => row.created_at)
}

function scale(span: bigint, factor: number): bigint {
  const next = BigInt(Math.trunc(Number(span) * factor))
  return next > 1n ? next : 1n
}

/** Allows for variation in how often hits occur. */
const SURPLUS = 1.25

/** Rows to scan for this many hits, at the rate seen so far. */
export function estimateRows(hits: number, share: number): number {
  return (hits * SURPLUS) / share
}
