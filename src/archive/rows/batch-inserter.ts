/**
 * Stores batches of rows that come from an export file or from another store. Batches are gathered into commits that are
 * large enough to be worth their cost and small enough for memory. Rows that are stored already are left alone, so a run
 * that was stopped can simply be repeated.
 */
import { openLedger } from "../../platform/memory.ts"
import { batchBytes, type RowBatch, rowsOfBatch } from "../../substrate/columns/row-batch.ts"
import { isIn } from "../../substrate/filter.ts"
import type { Store } from "../../substrate/table.ts"
import { type ArchivedTable, addRows, NO_ROWS, ownerColumn, type RowCounts } from "./archived-tables.ts"
import type { Arrivals } from "./arrivals.ts"

export interface BatchInserter {
  /** Buffers a batch, and starts a commit once enough of its table is buffered. */
  add(table: ArchivedTable, batch: RowBatch): Promise<void>
  /** Commits what is still buffered. */
  flush(): Promise<void>
  /** Waits for the commits under way, whether they succeed or not. Afterwards nothing writes to the store. */
  waitForCommits(): Promise<void>
  readonly inserted: RowCounts
  readonly present: RowCounts
}

interface Flush {
  readonly bytes: number
  readonly rows: number
}

/** Two commits of this size run at once. A third more of both takes a copy from 545 MB of memory to 640 MB. */
const FLUSH: Flush = { bytes: 12 * 1024 * 1024, rows: 40_000 }
/** For an import whose validation runs in another thread: a tenth less processor time, within 575 MB. */
export const LARGE_FLUSH: Flush = { bytes: 16 * 1024 * 1024, rows: 53_000 }

export interface BatchInserterRequest {
  readonly store: Store
  /** What decides which sessions come in. Absent: the store is empty, and nobody else writes to it. */
  readonly arrivals?: Arrivals
  /** Only counts what would be stored. */
  readonly isDryRun: boolean
  /** When a buffer is committed. */
  readonly flush?: Flush
}

interface TableBuffer {
  batches: RowBatch[]
  bytes: number
  rows: number
  flushing: Promise<void>
}

export function createBatchInserter({
  store,
  arrivals,
  isDryRun,
  flush: enough = FLUSH,
}: BatchInserterRequest): BatchInserter {
  const buffers = new Map<ArchivedTable, TableBuffer>()
  let inserted = NO_ROWS
  let present = NO_ROWS

  function bufferOf(table: ArchivedTable): TableBuffer {
    const own = buffers.get(table) ?? { batches: [], bytes: 0, rows: 0, flushing: Promise.resolve() }
    buffers.set(table, own)
    return own
  }

  /** Commits a buffer while the next one fills. A table has one commit under way at a time. */
  async function flushTable(table: ArchivedTable, own: TableBuffer): Promise<void> {
    const { batches } = own
    if (batches.length === 0) return
    own.batches = []
    own.bytes = 0
    own.rows = 0
    await own.flushing
    own.flushing = storeBatches(table, batches)
    own.flushing.catch(() => undefined) // the next flush of this table, or the last one, throws it
  }

  async function flush(): Promise<void> {
    for (const [table, own] of buffers) await flushTable(table, own)
    for (const { flushing } of buffers.values()) await flushing
  }

  const memory = openLedger("archivedRows")

  async function storeBatches(table: ArchivedTable, batches: readonly RowBatch[]): Promise<void> {
    const insert = async (leftOut: ReadonlySet<string>) => {
      const isTaken = takenUnless(table, leftOut, arrivals?.erased.blobs)
      return isDryRun
        ? await countAbsent(store, table, batches, isTaken)
        : await store.table(table.definition).insertBatches(batches, isTaken)
    }
    const left = () => new Set([...(arrivals?.refused ?? []), ...(arrivals?.diverging ?? [])])
    // Who only counts takes no lock, and leaves nothing behind where there is no store.
    const isOpen = arrivals === undefined || isDryRun
    const counted = await (isOpen ? insert(left()) : arrivals.guard(table, batches, insert))
    if (!isDryRun) await store.table(table.definition).maintain("lookups")
    inserted = addRows(inserted, table.role, counted.inserted)
    present = addRows(present, table.role, counted.present)
    const kept = batches.filter(({ letGo }) => letGo === undefined)
    memory.made(kept.reduce((sum, batch) => sum + batchBytes(batch), 0))
    for (const { letGo } of batches) letGo?.()
  }

  return {
    add: async (table, batch) => {
      const own = bufferOf(table)
      own.batches.push(batch)
      own.bytes += batchBytes(batch)
      own.rows += batch.length
      if (own.bytes >= enough.bytes || own.rows >= enough.rows) await flushTable(table, own)
    },
    flush,
    waitForCommits: async () => {
      await Promise.allSettled([...buffers.values()].map(({ flushing }) => flushing))
    },
    get inserted() {
      return inserted
    },
    get present() {
      return present
    },
  }
}

function takenUnless(
  table: ArchivedTable,
  left: ReadonlySet<string>,
  blobs: ReadonlySet<string> | undefined,
): ((row: Cells) => boolean) | undefined {
  if (table.role === "blobs") return blobs && ((row) => blobs.has(String(row["sha256"])))
  if (left.size === 0) return undefined
  const owner = ownerColumn(table)
  return (row) => !left.has(String(row[owner]))
}

type Cells = Readonly<Record<string, unknown>>

async function countAbsent(
  store: Store,
  { definition }: ArchivedTable,
  batches: readonly RowBatch[],
  isTaken: (row: Cells) => boolean = () => true,
): Promise<{ readonly inserted: number; readonly present: number }> {
  const { key } = definition
  const offered = batches.flatMap((batch) => rowsOfBatch(batch, key)).filter(isTaken)
  const [leading = ""] = key
  const owners = [...new Set(offered.map((row) => String(row[leading])))]
  const found = await store.table(definition).read({ columns: key, where: isIn(leading, owners) })
  const text = (row: Cells) => JSON.stringify(key.map((name) => row[name]))
  const there = new Set(found.map(text))
  const present = offered.filter((row) => there.has(text(row))).length
  return { inserted: offered.length - present, present }
}
