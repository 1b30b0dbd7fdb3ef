/**
 * What is needed of stored sessions to go on with them: where they end, and what is there. Asked for many at once, because
 * a watcher may find hundreds that grew and a question costs the same for one as for all.
 */
import { isIn } from "../../substrate/filter.ts"
import type { SessionTables } from "../write/write-sessions.ts"

export interface ResumeFacts {
  readonly nextOrdinal: number
  readonly seen: ReadonlySet<string>
}

export async function readResumeFacts(
  tables: SessionTables,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ResumeFacts>> {
  const where = isIn("session_id", [...ids])
  const found = new Map(ids.map((id) => [id, { nextOrdinal: 0, seen: new Set<string>() }]))
  // A session may have a million messages: no more than their ids is held of them.
  const readMet = async () => {
    for await (const rows of tables.messages.batches({ columns: ["session_id", "id", "ordinal"], where })) {
      for (const { session_id, id, ordinal } of rows) {
        const session = found.get(session_id)
        if (session === undefined) continue
        session.seen.add(id)
        session.nextOrdinal = Math.max(session.nextOrdinal, ordinal + 1)
      }
    }
  }
  // Who goes on with a session writes next, and a write asks the sessions first: that table is opened meanwhile.
  await Promise.all([readMet(), tables.sessions.version()])
  return found
}
