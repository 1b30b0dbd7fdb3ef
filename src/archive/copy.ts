/** One store into another, between any two backends: what is absent is appended, then both are compared by their ids. */
import type { Sessions } from "../sessions/store.ts"
import type { SessionRow } from "../sessions/tables.ts"
import { rowsOfBatch } from "../substrate/columns/row-batch.ts"
import { type Comparison, compareStores, momentOf } from "./compare.ts"
import { strangers } from "./import.ts"
import { NOTHING, type Tally } from "./rows/archived-tables.ts"
import { createArrival } from "./rows/batch-inserter.ts"
import { type SelectedTable, selectFrom } from "./rows/selection.ts"
import { letGo, stopIfAsked, type Work } from "./work.ts"

export interface CopyReport extends Comparison {
  readonly copied: Tally
  /** Sessions that the target has under the same id from another client or project: nothing of them was copied. */
  readonly refused: readonly string[]
  /** Whether the target has everything that the source had when this began. */
  readonly ok: boolean
}

export interface CopyRequest {
  readonly isVerifyOnly: boolean
  /** Makes the indexes of the target, before both are compared: without them each step of it reads all that was copied. */
  readonly index?: () => Promise<void>
}

export async function copyStore(
  from: Sessions,
  to: Sessions,
  { isVerifyOnly, index }: CopyRequest,
  work: Work,
): Promise<CopyReport> {
  const began = await momentOf(from.store)
  const moved = isVerifyOnly ? { copied: NOTHING, refused: [] } : await moveAbsent(from, to, work)
  if (!isVerifyOnly) {
    await index?.()
    letGo()
  }
  const comparison = await compareStores(from.store, to.store, work, began)
  const ok = Object.values(comparison.missing).every((rows) => rows === 0)
  return { ...moved, ...comparison, ok }
}

async function moveAbsent(from: Sessions, to: Sessions, work: Work): Promise<Pick<CopyReport, "copied" | "refused">> {
  const selection = await selectFrom(from.store)
  try {
    const refused = await strangers(to, await ownersOf(selection.tables))
    const arrival = createArrival({ store: to.store, refused, isRehearsal: false })
    for (const { table, rows, batches } of selection.tables.toReversed()) {
      let done = 0
      work.onStage(table.definition.name, rows)
      for await (const batch of batches()) {
        stopIfAsked(work, "Stopped before everything was copied. Run it again: what is stored is not stored twice.")
        await arrival.take(table, batch)
        done += batch.length
        work.onRows(done)
      }
      await arrival.settle()
    }
    return { copied: arrival.inserted, refused: [...refused] }
  } finally {
    selection.end()
  }
}

async function ownersOf(tables: readonly SelectedTable[]) {
  const owners = new Map<string, Pick<SessionRow, "source_agent" | "project">>()
  for (const { table, batches } of tables) {
    if (table.role !== "sessions") continue
    for await (const batch of batches()) {
      for (const row of rowsOfBatch(batch, ["id", "source_agent", "project"])) {
        owners.set((row as SessionRow).id, row as SessionRow)
      }
    }
  }
  return owners
}
