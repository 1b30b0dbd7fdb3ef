/** Which sessions that arrive say something else than what the store has under their id: see `sessions/write/divergence.ts`. */
import type { Sessions } from "../../sessions/store.ts"
import type { Compared } from "../../sessions/write/divergence.ts"
import { type RowBatch, rowsOfBatch } from "../../substrate/columns/row-batch.ts"
import type { ArchivedTable } from "./archived-tables.ts"

export interface ArrivingBatch {
  readonly table: ArchivedTable
  readonly batch: RowBatch
}

/** `rows` are those of messages and parts, and are read only where a session of them is stored. */
export async function findDivergingSessions(
  sessions: Sessions,
  stored: ReadonlySet<string>,
  rows: () => AsyncIterable<ArrivingBatch>,
): Promise<Compared> {
  if (stored.size === 0) return { diverging: new Set(), changed: new Set() }
  const check = await sessions.divergenceCheck([...stored])
  const rowsOf = (batch: RowBatch, columns: readonly string[]) =>
    (rowsOfBatch(batch, columns) as unknown as readonly Row[]).filter(({ session_id }) => stored.has(session_id))
  for await (const { table, batch } of rows()) {
    if (table.role === "messages") rowsOf(batch, ["session_id", "id", "ordinal"]).forEach(check.message)
    if (table.role === "parts") rowsOf(batch, ["session_id", "message_id", "id"]).forEach(check.part)
    batch.letGo?.()
  }
  return check
}

interface Row {
  readonly session_id: string
  readonly message_id: string
  readonly id: string
  readonly ordinal: number
}
