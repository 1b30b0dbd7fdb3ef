/**
 * Answers "is this stored already?" for an import: which sessions exist, where each one ends, and which of its messages
 * are stored with the same content. An import asks for many sessions at once, because a question costs the same for one.
 */
import type { Session } from "../../model/session.ts"
import { lazy } from "../../platform/lazy.ts"
import { isIn } from "../../substrate/filter.ts"
import { readStoredContent, type StoredContent } from "./stored-content.ts"
import type { SessionTables } from "./write-sessions.ts"

export interface Presence {
  /** Whether the session was stored when this was first asked. Sessions that the import itself brings do not count. */
  hasSession(session: Pick<Session, "id" | "source_agent">): Promise<boolean>
  /** The session, stored or among `others`, that a unit most likely holds: clients name a log after its session. */
  guessSession(unitKey: string, others: ReadonlySet<string>): Promise<string | undefined>
  /** Where sessions end, and the ids of their messages: a parser needs both to go on where an earlier one stopped. */
  resumeFacts(ids: readonly string[]): Promise<ReadonlyMap<string, ResumeFacts>>
  /** A hash of each stored message with its parts. */
  content(ids: readonly string[]): Promise<StoredContent>
}

export interface ResumeFacts {
  readonly nextOrdinal: number
  readonly seen: ReadonlySet<string>
}

const UUID_LENGTH = 36

export function openPresence(tables: SessionTables): Presence {
  const agents = lazy(() => readAgents(tables))
  return {
    hasSession: async ({ id, source_agent: agent }) => (await agents()).get(id) === agent,
    guessSession: async (unitKey, others) => {
      const known = await agents()
      const name = unitKey.slice(unitKey.lastIndexOf("/") + 1).replace(/\.\w+$/, "")
      const ids = [name, name.slice(name.lastIndexOf("_") + 1), name.slice(-UUID_LENGTH)]
      return ids.find((id) => known.has(id) || others.has(id))
    },
    resumeFacts: (ids) => readResumeFacts(tables, ids),
    content: (ids) => readStoredContent(tables, ids),
  }
}

/** The client of every session, by its id. */
async function readAgents(tables: SessionTables): Promise<ReadonlyMap<string, string>> {
  const agents = new Map<string, string>()
  for await (const rows of tables.sessions.batches({ columns: ["id", "source_agent"] }))
    for (const { id, source_agent } of rows) agents.set(id, source_agent)
  return agents
}

async function readResumeFacts(
  tables: SessionTables,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ResumeFacts>> {
  const where = isIn("session_id", [...ids])
  const found = new Map(ids.map((id) => [id, { nextOrdinal: 0, seen: new Set<string>() }]))
  // A session may have a million messages, so only their ids are held.
  const readIds = async () => {
    for await (const rows of tables.messages.batches({ columns: ["session_id", "id", "ordinal"], where })) {
      for (const { session_id, id, ordinal } of rows) {
        const session = found.get(session_id)
        if (session === undefined) continue
        session.seen.add(id)
        session.nextOrdinal = Math.max(session.nextOrdinal, ordinal + 1)
      }
    }
  }
  // The import writes next, and a write reads the sessions first: that table is opened meanwhile.
  await Promise.all([readIds(), tables.sessions.version()])
  return found
}
