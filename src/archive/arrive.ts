/**
 * Batches of rows arriving in a store, from an archive or from another store: what is absent is appended, in commits that
 * are large enough to pay and small enough for memory. What is repeated is a no-op, so that a stopped run is run again.
 */
import { isIn } from "../substrate/filter.ts"
import { batchBytes, type RowBatch, rowsOfBatch } from "../substrate/packed.ts"
import type { Store } from "../substrate/table.ts"
import { type ArchivedTable, added, NOTHING, ownerColumn, type Tally } from "./tables.ts"
import { createBreather } from "./work.ts"

export interface Arrival {
  /** Takes a batch; stores what was gathered once there is enough of it. */
  take(table: ArchivedTable, batch: RowBatch): Promise<void>
  /** Stores what is left of the table. */
  settle(): Promise<void>
  readonly inserted: Tally
  readonly present: Tally
}

const FLUSH_BYTES = 12 * 1024 * 1024
const FLUSH_ROWS = 40_000

export interface ArrivalRequest {
  readonly store: Store
  /** Sessions that are another's under the same id: nothing of them is stored. */
  readonly refused: ReadonlySet<string>
  /** Counts, and stores nothing. */
  readonly isRehearsal: boolean
}

export function createArrival({ store, refused, isRehearsal }: ArrivalRequest): Arrival {
  let current: ArchivedTable | undefined
  let gathered: RowBatch[] = []
  let bytes = 0
  let rows = 0
  let inserted = NOTHING
  let present = NOTHING

  /** What is gathered is stored while the next is being read; one flush at a time. */
  let flushing: Promise<void> = Promise.resolve()

  async function flush(): Promise<void> {
    const [table, batches] = [current, gathered]
    gathered = []
    bytes = 0
    rows = 0
    if (table === undefined || batches.length === 0) return
    await flushing
    flushing = stored(table, batches)
    flushing.catch(() => undefined) // whoever waits for it next is told
  }

  async function settle(): Promise<void> {
    await flush()
    await flushing
  }

  const breathe = createBreather()

  async function stored(table: ArchivedTable, batches: readonly RowBatch[]): Promise<void> {
    const owner = ownerColumn(table)
    const isEvery = table.role === "blobs" || refused.size === 0
    const isTaken = isEvery ? undefined : (row: Cells) => !refused.has(String(row[owner]))
    const counted = isRehearsal
      ? await countAbsent(store, table, batches, isTaken)
      : await store.table(table.definition).insertBatches(batches, isTaken)
    if (!isRehearsal) await store.table(table.definition).maintain("lookups")
    inserted = added(inserted, table.role, counted.inserted)
    present = added(present, table.role, counted.present)
    breathe(batches.reduce((sum, batch) => sum + batchBytes(batch), 0))
  }

  return {
    take: async (table, batch) => {
      if (current !== table) await settle()
      current = table
      gathered.push(batch)
      bytes += batchBytes(batch)
      rows += batch.length
      if (bytes >= FLUSH_BYTES || rows >= FLUSH_ROWS) await flush()
    },
    settle,
    get inserted() {
      return inserted
    },
    get present() {
      return present
    },
  }
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
  const stored = await store.table(definition).read({ columns: key, where: isIn(leading, owners) })
  const text = (row: Cells) => JSON.stringify(key.map((name) => row[name]))
  const there = new Set(stored.map(text))
  const present = offered.filter((row) => there.has(text(row))).length
  return { inserted: offered.length - present, present }
}
