/**
 * Cuts time into windows for a walk back through it, each with about as many rows as can be looked at at once. Only
 * moments are counted, which an index answers; where nothing lies, nothing is looked at. Knows no needle and no filter.
 */
import type { Clock } from "../../platform/host/clock.ts"
import type { Sessions } from "../../sessions/store.ts"
import { range } from "../../substrate/filter.ts"

export interface TimeWindow {
  /** Nothing where it reaches back to the first row of all. */
  readonly from: bigint | undefined
  /** Not inside. */
  readonly to: bigint
  readonly rows: number
}

export interface TimeWindows {
  /** The next one back from there; nothing where nothing older lies. */
  before(to: bigint): Promise<TimeWindow | undefined>
  /** What looking at one has cost decides how many rows the next has, which are no more than are wanted. */
  took(window: TimeWindow, ms: number, wanted: number): void
  /** That one takes too long; says whether to ask for a smaller one: for the least there is, where no time is left. */
  shrink(window: TimeWindow, isTimeOver: boolean): boolean
}

/** Later than any moment of a message. */
export const END_OF_TIME = 999_999_999_999_999_999n

const WEEK = 604_800_000_000n
const ROWS_MIN = 16
const GROWTH_MAX = 8
/** A window is taken when it has not many more rows than it should. */
const EXCESS_MAX = 1.5
const TRIES_MAX = 12

export interface WindowsRequest {
  readonly isOfTools: boolean
  /** What one window may cost: it cannot be left half looked at. */
  readonly shareMs: number
  /** About how many rows the first has. */
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

  /** The end of time is far from what was said last. */
  async function findAnchor(to: bigint): Promise<bigint> {
    if (to !== END_OF_TIME) return to
    const now = BigInt(Math.trunc(clock.nowMs())) * 1000n
    if ((await count(now - span, to)) > 0) return now
    const [newest] = await sessions.tables.sessions.read({
      columns: ["created_at"],
      orderBy: [{ column: "created_at", descending: true }],
      limit: 1,
    })
    return newest === undefined || newest.created_at > now ? now : newest.created_at
  }

  async function before(to: bigint): Promise<TimeWindow | undefined> {
    const left = to === END_OF_TIME ? await table.count() : await count(undefined, to)
    if (left > wanted * EXCESS_MAX) return await cutOff(to, await findAnchor(to))
    return left === 0 ? undefined : { from: undefined, to, rows: left }
  }

  /** Of more than fit into one window. */
  async function cutOff(end: bigint, anchor: bigint): Promise<TimeWindow | undefined> {
    // The smallest that was seen to hold too many. A crowd in one moment leaves nothing smaller.
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

  return {
    before,
    took: ({ rows }, ms, most) => {
      const affordable = (rows * shareMs) / Math.max(ms, 0.1)
      const next = Math.trunc(Math.max(ROWS_MIN, Math.min(wanted * GROWTH_MAX, affordable, most)))
      span = scale(span, next / wanted)
      wanted = next
    },
    shrink: ({ rows }, isTimeOver) => {
      const isLeast = rows <= ROWS_MIN || span <= 1n || (isTimeOver && wanted === ROWS_MIN)
      // A crowd in one moment stays as large as it was, however short the span.
      if (isLeast || rows >= givenUp) return false
      givenUp = rows
      wanted = isTimeOver ? ROWS_MIN : Math.max(ROWS_MIN, Math.trunc(Math.min(rows, wanted) / GROWTH_MAX))
      span = scale(span, 1 / GROWTH_MAX)
      return true
    },
  }
}

function scale(span: bigint, factor: number): bigint {
  const next = BigInt(Math.trunc(Number(span) * factor))
  return next > 1n ? next : 1n
}

/** What was found so far varies. */
const SURPLUS = 1.25

/** In how many rows so many hits are found, if they are as frequent as they were. */
export function estimateRows(hits: number, share: number): number {
  return (hits * SURPLUS) / share
}
