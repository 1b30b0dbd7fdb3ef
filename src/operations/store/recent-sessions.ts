/** The sessions that people went on with last, and a glimpse of each: what one is chosen from. */
import type { ConversationsOfStore } from "../../sessions/read/conversations.ts"
import type { SessionActivity } from "../../sessions/read/session-lists.ts"
import type { Pond } from "../pond.ts"
import { type MessageView, messageView } from "../wire/views.ts"

export interface RecentSession {
  readonly id: string
  readonly source_agent: string
  readonly project: string
  /** As a person named it, its client recorded it, or the first words of the user. */
  readonly title: string
  readonly last_at: string
  readonly starred?: boolean
  readonly tags?: readonly string[]
}

export interface Newest {
  readonly sessions: readonly RecentSession[]
  /** Whether there may be others: see `olderSessions`. */
  readonly isAll: boolean
}

/** Of all, or of those whose id begins so. */
export async function recentSessions(pond: Pond, count: number, beginning = ""): Promise<Newest> {
  const store = await pond.sessions()
  const [recent, conversations] = await Promise.all([store.recentActivity(beginning), store.conversations()])
  // The beginning of an id names that session.
  const found = beginning === "" ? newestOfEach(recent.sessions, conversations) : recent.sessions
  const sessions = await describeActivity(pond, found.slice(0, count))
  return { sessions, isAll: recent.isAll && found.length <= count }
}

/** So many are described at once. */
const OLDER_AT_ONCE = 500

/** All others, some at a time, those first that people went on with last. Ends early once the signal comes. */
export async function* olderSessions(
  pond: Pond,
  known: ReadonlySet<string>,
  signal: AbortSignal,
): AsyncGenerator<readonly RecentSession[]> {
  const store = await pond.sessions()
  const all = newestOfEach((await store.allActivity(signal)) ?? [], await store.conversations())
  const older = all.filter(({ id }) => !known.has(id))
  for (let at = 0; at < older.length && !signal.aborted; at += OLDER_AT_ONCE)
    yield await describeActivity(pond, older.slice(at, at + OLDER_AT_ONCE))
}

/** Of each conversation the session that it went on in last. */
function newestOfEach(
  activity: readonly SessionActivity[],
  { rootOf }: ConversationsOfStore,
): readonly SessionActivity[] {
  const met = new Set<string>()
  return activity.filter(({ id }) => {
    const root = rootOf(id)
    if (met.has(root)) return false
    met.add(root)
    return true
  })
}

async function describeActivity(pond: Pond, activity: readonly SessionActivity[]): Promise<RecentSession[]> {
  const sessions = await pond.sessions()
  const ids = activity.map(({ id }) => id)
  const [stored, labels] = await Promise.all([sessions.sessions(ids), sessions.labels.of(ids)])
  const found = new Map(stored.map((session) => [session.id, session]))
  const untitled = ids.filter((id) => found.get(id)?.title === undefined)
  const beginnings = await sessions.firstWords(untitled)
  return activity.flatMap(({ id, lastAtMicros }): RecentSession[] => {
    const session = found.get(id)
    if (session === undefined) return []
    const { source_agent, project } = session
    const { name, isStarred = false, tags = [] } = labels.get(id) ?? {}
    const title = name ?? session.title ?? beginnings.get(id) ?? id
    const said = { ...(isStarred ? { starred: true } : {}), ...(tags.length === 0 ? {} : { tags }) }
    return [
      { id, source_agent, project, title, last_at: new Date(Number(lastAtMicros / 1000n)).toISOString(), ...said },
    ]
  })
}

/** What was said last, oldest first. */
export async function lastWords(pond: Pond, sessionId: string, count: number): Promise<MessageView[]> {
  const sessions = await pond.sessions()
  const places = await sessions.places(sessionId, "spoken")
  const entries = await sessions.entries(sessionId, { only: places.slice(-count).map(({ ordinal }) => ordinal) })
  return entries.map((entry) => messageView(entry, "conversational"))
}
