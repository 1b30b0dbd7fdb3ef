/** Everything that makes a store smaller and faster to read, now, whether it pays or not; and what that gained. */
import { PondError } from "../../model/errors.ts"
import type { TableMaintenance } from "../../sessions/store.ts"
import type { TableStatistics } from "../../substrate/table.ts"
import type { Pond } from "../pond.ts"
import { checkShare } from "./integrity.ts"

/** What a table is made of. On an object store its bytes are not known: that would cost a listing of everything. */
export interface TableShape {
  /** What the newest version needs, and what only older ones need. */
  readonly bytes: { readonly live: number; readonly dead: number } | null
  readonly pieces: number
  /** Rows that a text search reads one by one, because the index does not have them. */
  readonly waiting: number
}

export interface OptimizedTable extends TableMaintenance {
  readonly rows: number
  readonly before: TableShape
  readonly after: TableShape
}

export interface OptimizeReport {
  readonly tables: readonly OptimizedTable[]
  readonly ms: number
}

export interface OptimizeHooks {
  readonly signal: AbortSignal
  readonly onTable: (name: string) => void
}

export async function optimizeStore(pond: Pond, { signal, onTable }: OptimizeHooks): Promise<OptimizeReport> {
  const { clock } = pond.host
  const sessions = await pond.sessions()
  const startedMs = clock.monotonicMs()
  const tables: OptimizedTable[] = []
  await sessions.store.removeStaleStaging()
  for (const { name, statistics, maintain } of await sessions.written()) {
    if (signal.aborted) throw stopped(tables)
    onTable(name)
    const before = await statistics()
    const done = await maintain("all")
    const after = await statistics()
    if (before === undefined || after === undefined) continue
    tables.push({ table: name, ...done, rows: after.rows, before: shapeOf(before), after: shapeOf(after) })
  }
  await sessions.gatherOpening(tables)
  await checkShare(pond, signal)
  return { tables, ms: Math.round(clock.monotonicMs() - startedMs) }
}

function stopped(tables: readonly OptimizedTable[]): PondError {
  const done = tables.length === 0 ? "before the first table" : `after ${tables.map(({ table }) => table).join(", ")}`
  return new PondError("interrupted", `Stopped ${done}. Run it again for the rest.`)
}

function shapeOf({ fragments, indexes, bytes }: TableStatistics): TableShape {
  const waiting = Math.max(0, ...indexes.map(({ unindexedRows }) => unindexedRows))
  return { bytes: bytes ?? null, pieces: fragments, waiting }
}
