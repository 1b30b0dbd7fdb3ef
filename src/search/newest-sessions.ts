/**
 * The sessions of the messages that pass a filter, by their newest one. Walks back through time window by window: sorting
 * a million messages by time takes half a second, and the newest few thousand are found by the index in 20 ms.
 */
import type { Clock } from "../platform/host/clock.ts"
import type { SessionActivity } from "../sessions/read/session-lists.ts"
import type { Sessions } from "../sessions/store.ts"
import { and, type Filter, range } from "../substrate/filter.ts"
import { createTimeWindows, END_OF_TIME } from "./exact/time-windows.ts"

export interface Passing {
  readonly where: Filter
  /** No message after this time counts. */
  readonly untilMicros?: bigint | undefined
}

/** More than twenty sessions of 200 messages. */
const ROWS_FIRST = 6_000
const WINDOW_MS = 100
/** A window that found so many sessions is followed by one of the same size, any other by one as large as can be read. */
const SESSIONS_PLENTY = 8

/** Newest first, some at a time; of two that are as new, by id. */
export async function* newestSessions(
  sessions: Sessions,
  clock: Clock,
  { where, untilMicros }: Passing,
): AsyncGenerator<readonly SessionActivity[]> {
  const windows = createTimeWindows(sessions, clock, { isOfTools: false, shareMs: WINDOW_MS, rowsFirst: ROWS_FIRST })
  const seen = new Set<string>()
  let to = untilMicros === undefined ? END_OF_TIME : untilMicros + 1n
  for (let window = await windows.before(to); window !== undefined; window = await windows.before(to)) {
    const began = clock.monotonicMs()
    const { from } = window
    const within = range("timestamp", { ...(from === undefined ? {} : { from }), to: window.to, toExclusive: true })
    const lastAt = await newestIn(sessions, and(where, within), seen)
    for (const id of lastAt.keys()) seen.add(id)
    yield inOrder(lastAt)
    if (from === undefined) return
    const most = lastAt.size >= SESSIONS_PLENTY ? Math.max(ROWS_FIRST, window.rows) : Number.MAX_SAFE_INTEGER
    // Of a few rows nearly all is what any read costs, and says nothing about more of them.
    const slowestMs = (window.rows / ROWS_FIRST) * WINDOW_MS
    windows.took(window, Math.min(clock.monotonicMs() - began, slowestMs), most)
    to = from
  }
}

async function newestIn(
  sessions: Sessions,
  where: Filter,
  without: ReadonlySet<string>,
): Promise<ReadonlyMap<string, bigint>> {
  const lastAt = new Map<string, bigint>()
  for await (const rows of sessions.tables.messages.batches({ columns: ["session_id", "timestamp"], where })) {
    for (const { session_id: id, timestamp } of rows) {
      const last = lastAt.get(id)
      if (!without.has(id) && (last === undefined || last < timestamp)) lastAt.set(id, timestamp)
    }
  }
  return lastAt
}

function inOrder(lastAt: ReadonlyMap<string, bigint>): SessionActivity[] {
  return [...lastAt]
    .map(([id, lastAtMicros]) => ({ id, lastAtMicros }))
    .toSorted((left, right) => {
      if (left.lastAtMicros !== right.lastAtMicros) return left.lastAtMicros < right.lastAtMicros ? 1 : -1
      return left.id < right.id ? -1 : 1
    })
}
