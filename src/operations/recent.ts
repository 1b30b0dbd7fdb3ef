/** The sessions that people went on with last, and a glimpse of each: what one is chosen from. */
import { and, eq, isIn, isNull, not, range, startsWith } from "../substrate/filter.ts"
import type { Pond } from "./pond.ts"
import { type MessageView, messageView } from "./views.ts"

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

/** Of all, or of those whose id begins so. */
export async function recentSessions(pond: Pond, count: number, beginning = ""): Promise<RecentSession[]> {
  const sessions = await pond.sessions()
  const newest = await sessions.tables.messages.read({
    columns: ["session_id", "timestamp"],
    where: beginning === "" ? eq("lane", "main") : and(eq("lane", "main"), startsWith("session_id", beginning)),
    orderBy: [{ column: "timestamp", descending: true }],
    limit: MESSAGES_MAX,
  })
  const lastAt = new Map<string, bigint>()
  for (const { session_id: id, timestamp } of newest)
    if (!lastAt.has(id) && lastAt.size < count) lastAt.set(id, timestamp)
  const ids = [...lastAt.keys()]
  const found = new Map((await sessions.sessions(ids)).map((session) => [session.id, session]))
  const untitled = ids.filter((id) => found.get(id)?.title === undefined)
  const beginnings = await firstWords(pond, untitled)
  return ids.flatMap((id): RecentSession[] => {
    const session = found.get(id)
    if (session === undefined) return []
    const { source_agent, project } = session
    const title = session.title ?? beginnings.get(id) ?? id
    return [
      { id, source_agent, project, title, last_at: new Date(Number((lastAt.get(id) ?? 0n) / 1000n)).toISOString() },
    ]
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
