/**
 * Batches of rows arriving in a store, from an archive or from another store: what is absent is appended, in commits that
 * are large enough to pay and small enough for memory. What is repeated is a no-op, so that a stopped run is run again.
 */

import { batchBytes, type RowBatch, rowsOfBatch } from "../../substrate/columns/row-batch.ts"
import { isIn } from "../../substrate/filter.ts"
import type { Store } from "../../substrate/table.ts"
import { createBreather } from "../work.ts"
import { type ArchivedTable, added, NOTHING, ownerColumn, type Tally } from "./archived-tables.ts"

export interface Arrival {
  /** Takes a batch; stores what was gathered once there is enough of it. */
  take(table: ArchivedTable, batch: RowBatch): Promise<void>
  /** Stores what is left. */
  settle(): Promise<void>
  /** Waits for what is being stored, whatever becomes of it: then nobody writes any more. */
  end(): Promise<void>
  readonly inserted: Tally
  readonly present: Tally
}

interface Flush {
  readonly bytes: number
  readonly rows: number
}

/** Two of these are being written at once: with a third more of both a copy took 640 MB instead of 545 MB. */
const FLUSH: Flush = { bytes: 12 * 1024 * 1024, rows: 40_000 }
/** Beside an archive that is read in another thread there is room for more: a tenth of the processor time less, in 575 MB. */
export const LARGE_FLUSH: Flush = { bytes: 16 * 1024 * 1024, rows: 53_000 }

export interface ArrivalRequest {
  readonly store: Store
  /** Sessions that are another's under the same id: nothing of them is stored. */
  readonly refused: ReadonlySet<string>
  /** Counts, and stores nothing. */
  readonly isRehearsal: boolean
  /** How much is stored at once. */
  readonly flush?: Flush
}

interface Gathered {
  batches: RowBatch[]
  bytes: number
  rows: number
  flushing: Promise<void>
}

export function createArrival({ store, refused, isRehearsal, flush: enough = FLUSH }: ArrivalRequest): Arrival {
  const gathered = new Map<ArchivedTable, Gathered>()
  let inserted = NOTHING
  let present = NOTHING

  function gatheredOf(table: ArchivedTable): Gathered {
    const own = gathered.get(table) ?? { batches: [], bytes: 0, rows: 0, flushing: Promise.resolve() }
    gathered.set(table, own)
    return own
  }

  /** What is gathered is stored while the next is being read; of each table one flush at a time. */
  async function flush(table: ArchivedTable, own: Gathered): Promise<void> {
    const { batches } = own
    if (batches.length === 0) return
    own.batches = []
    own.bytes = 0
    own.rows = 0
    await own.flushing
    own.flushing = stored(table, batches)
    own.flushing.catch(() => undefined) // whoever waits for it next is told
  }

  async function settle(): Promise<void> {
    for (const [table, own] of gathered) await flush(table, own)
    for (const { flushing } of gathered.values()) await flushing
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
    const left = batches.filter(({ letGo }) => letGo === undefined)
    breathe(left.reduce((sum, batch) => sum + batchBytes(batch), 0))
    for (const { letGo } of batches) letGo?.()
  }

  return {
    take: async (table, batch) => {
      const own = gatheredOf(table)
      own.batches.push(batch)
      own.bytes += batchBytes(batch)
      own.rows += batch.length
      if (own.bytes >= enough.bytes || own.rows >= enough.rows) await flush(table, own)
    },
    settle,
    end: async () => {
      await Promise.allSettled([...gathered.values()].map(({ flushing }) => flushing))
    },
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
