/** The sessions that people went on with last, and a glimpse of each: what one is chosen from. */
import { and, eq, isIn, isNull, not, range, startsWith } from "../../substrate/filter.ts"
import type { Pond } from "../pond.ts"
import { type MessageView, messageView } from "../wire/views.ts"

export interface RecentSession {
  readonly id: string
  readonly source_agent: string
  readonly project: string
  /** The title that the client recorded, or the first words of the user. */
  readonly title: string
  readonly last_at: string
}

/** So many of the newest messages say which sessions are the newest. */
const MESSAGES_MAX = 20_000
/** What the user said first stands near the beginning, behind what the client put there. */
const FIRST_ORDINALS = 60

export interface Newest {
  readonly sessions: readonly RecentSession[]
  /** Whether there may be others: see `olderSessions`. */
  readonly isAll: boolean
}

/** Of all, or of those whose id begins so. */
export async function recentSessions(pond: Pond, count: number, beginning = ""): Promise<Newest> {
  const { tables } = await pond.sessions()
  const newest = await tables.messages.read({
    columns: ["session_id", "timestamp"],
    where: beginning === "" ? eq("lane", "main") : and(eq("lane", "main"), startsWith("session_id", beginning)),
    orderBy: [{ column: "timestamp", descending: true }],
    limit: MESSAGES_MAX,
  })
  const lastAt = new Map<string, bigint>()
  for (const { session_id: id, timestamp } of newest) if (!lastAt.has(id)) lastAt.set(id, timestamp)
  const sessions = await described(pond, [...lastAt].slice(0, count))
  return { sessions, isAll: newest.length < MESSAGES_MAX && lastAt.size <= count }
}

/** So many are described at once. */
const OLDER_AT_ONCE = 500

/** All others, some at a time, those first that people went on with last. Ends early once the signal comes. */
export async function* olderSessions(
  pond: Pond,
  known: ReadonlySet<string>,
  signal: AbortSignal,
): AsyncGenerator<readonly RecentSession[]> {
  const { tables } = await pond.sessions()
  const lastAt = new Map<string, bigint>()
  const every = { columns: ["session_id", "timestamp"], where: eq("lane", "main") } as const
  for await (const rows of tables.messages.batches(every)) {
    if (signal.aborted) return
    for (const { session_id: id, timestamp } of rows) {
      if (known.has(id)) continue
      const last = lastAt.get(id)
      if (last === undefined || last < timestamp) lastAt.set(id, timestamp)
    }
  }
  const older = [...lastAt].toSorted(([, left], [, right]) => (left < right ? 1 : -1))
  for (let at = 0; at < older.length && !signal.aborted; at += OLDER_AT_ONCE)
    yield await described(pond, older.slice(at, at + OLDER_AT_ONCE))
}

async function described(
  pond: Pond,
  lastAt: readonly (readonly [id: string, lastAt: bigint])[],
): Promise<RecentSession[]> {
  const sessions = await pond.sessions()
  const ids = lastAt.map(([id]) => id)
  const found = new Map((await sessions.sessions(ids)).map((session) => [session.id, session]))
  const untitled = ids.filter((id) => found.get(id)?.title === undefined)
  const beginnings = await firstWords(pond, untitled)
  return lastAt.flatMap(([id, last]): RecentSession[] => {
    const session = found.get(id)
    if (session === undefined) return []
    const { source_agent, project } = session
    const title = session.title ?? beginnings.get(id) ?? id
    return [{ id, source_agent, project, title, last_at: new Date(Number(last / 1000n)).toISOString() }]
  })
}

/** What the user said first, of each session where it is known: how people recognise one that has no title. */
export async function firstWords(pond: Pond, sessionIds: readonly string[]): Promise<Map<string, string>> {
  if (sessionIds.length === 0) return new Map()
  const { tables } = await pond.sessions()
  const rows = await tables.messages.read({
    columns: ["session_id", "ordinal", "search_text"],
    where: and(
      isIn("session_id", sessionIds),
      eq("role", "user"),
      range("ordinal", { to: FIRST_ORDINALS }),
      not(isNull("search_text")),
    ),
  })
  const words = new Map<string, string>()
  for (const { session_id: id, search_text } of rows.toSorted((one, other) => one.ordinal - other.ordinal)) {
    if (!words.has(id)) words.set(id, search_text ?? "")
  }
  return words
}

/** What was said last, oldest first. */
export async function lastWords(pond: Pond, sessionId: string, count: number): Promise<MessageView[]> {
  const sessions = await pond.sessions()
  const places = await sessions.places(sessionId, "spoken")
  const entries = await sessions.entries(sessionId, { only: places.slice(-count).map(({ ordinal }) => ordinal) })
  return entries.map((entry) => messageView(entry, "conversational"))
}
