/** Everything that makes a store smaller and faster to read, now, whether it pays or not; and what that gained. */
import type { Sessions, TableMaintenance } from "../sessions/store.ts"
import type { Pond } from "./pond.ts"

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

export async function optimizeStore(pond: Pond): Promise<OptimizeReport> {
  const { clock } = pond.host
  const sessions = await pond.sessions()
  const startedMs = clock.monotonicMs()
  const before = await shapesOf(sessions)
  const done = await sessions.maintain("all")
  const after = await shapesOf(sessions)
  const tables = done.flatMap((report): OptimizedTable[] => {
    const [was, is] = [before.get(report.table), after.get(report.table)]
    return was === undefined || is === undefined
      ? []
      : [{ ...report, rows: is.rows, before: was.shape, after: is.shape }]
  })
  return { tables, ms: Math.round(clock.monotonicMs() - startedMs) }
}

async function shapesOf(sessions: Sessions) {
  const facts = await sessions.statistics()
  return new Map(
    facts.map(({ table, rows, fragments, indexes, bytes }) => {
      const waiting = Math.max(0, ...indexes.map(({ unindexedRows }) => unindexedRows))
      return [table, { rows, shape: { bytes: bytes ?? null, pieces: fragments, waiting } satisfies TableShape }]
    }),
  )
}
