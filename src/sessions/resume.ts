/**
 * What is needed of stored sessions to go on with them: where they end, what is there, and what was said last. Asked for
 * many at once, because a watcher may find hundreds that grew and a question costs the same for one as for all.
 */
import { and, eq, isIn, isNull, not, or } from "../substrate/filter.ts"
import { CONTEXT_DEPTH, type Spoken } from "./search-text.ts"
import type { SessionTables } from "./write.ts"

export interface ResumeFacts {
  readonly nextOrdinal: number
  readonly seen: ReadonlySet<string>
  /** In order: by these the next short message is found too. */
  readonly spoken: readonly Spoken[]
}

export async function readResumeFacts(
  tables: SessionTables,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ResumeFacts>> {
  const where = isIn("session_id", [...ids])
  const [messages, said] = await Promise.all([
    tables.messages.read({ columns: ["session_id", "id", "ordinal"], where }),
    tables.messages.read({ columns: ["session_id", "ordinal"], where: and(where, not(isNull("search_text"))) }),
  ])
  const spoken = await readSpoken(tables, lastOf(said))
  const bySession = Map.groupBy(messages, (row) => row.session_id)
  return new Map(
    ids.map((id) => {
      const rows = bySession.get(id) ?? []
      const last = rows.reduce((ordinal, row) => Math.max(ordinal, row.ordinal), -1)
      const seen = new Set(rows.map((row) => row.id))
      return [id, { nextOrdinal: last + 1, seen, spoken: spoken.get(id) ?? [] }]
    }),
  )
}

interface Place {
  readonly session_id: string
  readonly ordinal: number
}

function lastOf(said: readonly Place[]): ReadonlyMap<string, readonly number[]> {
  const bySession = Map.groupBy(said, (row) => row.session_id)
  return new Map(
    [...bySession].map(([id, rows]) => {
      const ordinals = rows.map(({ ordinal }) => ordinal).toSorted((one, other) => one - other)
      return [id, ordinals.slice(-CONTEXT_DEPTH)]
    }),
  )
}

async function readSpoken(
  tables: SessionTables,
  places: ReadonlyMap<string, readonly number[]>,
): Promise<ReadonlyMap<string, readonly Spoken[]>> {
  if (places.size === 0) return new Map()
  const where = or(...[...places].map(([id, ordinals]) => and(eq("session_id", id), isIn("ordinal", [...ordinals]))))
  const rows = await tables.messages.read({ columns: ["session_id", "ordinal", "role", "search_text"], where })
  const inOrder = rows.toSorted((one, other) => one.ordinal - other.ordinal)
  return Map.groupBy(
    inOrder.map(({ session_id, role, search_text }) => ({ session_id, role, text: search_text ?? "" })),
    (row) => row.session_id,
  )
}
