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
  const found = new Map(ids.map((id) => [id, { last: -1, seen: new Set<string>(), said: [] as number[] }]))
  // A session may have a million messages: no more than their ids is held of them.
  const readMet = async () => {
    for await (const rows of tables.messages.batches({ columns: ["session_id", "id", "ordinal"], where })) {
      for (const { session_id, id, ordinal } of rows) {
        const session = found.get(session_id)
        session?.seen.add(id)
        if (session !== undefined && ordinal > session.last) session.last = ordinal
      }
    }
  }
  const readSaid = async () => {
    const spoken = and(where, not(isNull("search_text")))
    for await (const rows of tables.messages.batches({ columns: ["session_id", "ordinal"], where: spoken })) {
      for (const { session_id, ordinal } of rows) keepLast(found.get(session_id)?.said ?? [], ordinal)
    }
  }
  await Promise.all([readMet(), readSaid()])
  const spoken = await readSpoken(
    tables,
    new Map([...found].filter(([, { said }]) => said.length > 0).map(([id, { said }]) => [id, said])),
  )
  return new Map(
    [...found].map(([id, { last, seen }]) => [id, { nextOrdinal: last + 1, seen, spoken: spoken.get(id) ?? [] }]),
  )
}

/** The highest ones, in order. */
function keepLast(ordinals: number[], ordinal: number): void {
  if (ordinals.length === CONTEXT_DEPTH && ordinal < (ordinals[0] ?? 0)) return
  ordinals.push(ordinal)
  ordinals.sort((one, other) => one - other)
  if (ordinals.length > CONTEXT_DEPTH) ordinals.shift()
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
