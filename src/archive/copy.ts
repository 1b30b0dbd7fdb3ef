/** Copies one store into another, whatever backends they use, and proves by comparing rows that nothing is missing or different. */
import { between } from "../platform/memory.ts"
import type { Sessions } from "../sessions/store.ts"
import type { SessionRow } from "../sessions/tables.ts"
import { type LabelMerge, readLabelRows } from "../sessions/write/labels.ts"
import { rowsOfBatch } from "../substrate/columns/row-batch.ts"
import { type Comparison, compareStores, rowLimitsOf } from "./compare.ts"
import { type CopyNote, changedSince, noteCopy } from "./copy-note.ts"
import { type ArrivingBatch, NO_ROWS, type RowCounts } from "./rows/archived-tables.ts"
import { compareArrivals, isCompared } from "./rows/arrivals.ts"
import { createBatchInserter } from "./rows/batch-inserter.ts"
import { refuseDamaged } from "./rows/refuse-damaged.ts"
import { type ChosenRows, type SelectedTable, selectFrom } from "./rows/selection.ts"
import { stopIfAsked, type Work } from "./work.ts"

export interface CopyReport extends Comparison {
  readonly copied: RowCounts
  /** Sessions whose id belongs to another client or project in the target: none of their rows were copied. */
  readonly refused: readonly string[]
  /** Sessions that the target has with other messages, or from another source: none of their rows were copied. */
  readonly diverging: readonly string[]
  /** Sessions that are erased in the target: none of their rows were copied, and none is missing. */
  readonly erased: readonly string[]
  /** Copied, or, of a comparison, what a copy would add. */
  readonly labels: LabelMerge
  /** Whether the target has everything that the source had when the copy began, as it is there. */
  readonly ok: boolean
  /** What was compared: everything, or the sessions that changed since the last copy. */
  readonly compared: "all" | "changed"
  /** For the next copy between these stores. Absent where this one is not whole. */
  readonly note?: CopyNote
}

export interface CopyRequest {
  readonly isVerifyOnly: boolean
  /** What an earlier copy between these stores has verified: that is not read again. */
  readonly since?: CopyNote | undefined
  /** Builds the indexes of the target before the comparison. Without them each step of it scans whole tables. */
  readonly index?: () => Promise<void>
}

export async function copyStore(
  from: Sessions,
  to: Sessions,
  { isVerifyOnly, since, index }: CopyRequest,
  work: Work,
): Promise<CopyReport> {
  const limits = await rowLimitsOf(from.store)
  const changed = isVerifyOnly || since === undefined ? undefined : await changedSince(from.store, to.store, since)
  await refuseDamaged(from.store, work, changed?.sessions)
  if (isVerifyOnly) await refuseDamaged(to.store, work)
  const moved = isVerifyOnly
    ? { copied: NO_ROWS, refused: [], diverging: [], erased: await erasedInTarget(from, to) }
    : await moveAbsent(from, to, { changed, work })
  if (!isVerifyOnly) {
    await index?.()
    between("stages")
  }
  const needed = neededBlobs(from, to)
  const comparison = await compareStores(from.store, to.store, work, { limits, needed, changed })
  const labels = await mergeLabels(from, to, { isDryRun: isVerifyOnly, left: moved })
  const isWhole = [comparison.missing, comparison.different].every((counts) =>
    Object.values(counts).every((rows) => rows === 0),
  )
  const ok = isWhole && !(isVerifyOnly && labels.inserted > 0)
  const note = ok && !isVerifyOnly ? { note: await noteCopy(from.store, to.store, limits) } : {}
  return { ...moved, ...comparison, labels, ok, compared: changed === undefined ? "all" : "changed", ...note }
}

type LeftOut = Pick<CopyReport, "refused" | "diverging" | "erased">

/** Behind the rows: a label without its session would be a label of nothing. */
async function mergeLabels(
  from: Sessions,
  to: Sessions,
  { isDryRun, left }: { readonly isDryRun: boolean; readonly left: LeftOut },
): Promise<LabelMerge> {
  const absent = new Set([left.refused, left.diverging, left.erased].flat())
  const rows = (await readLabelRows(from.store)).filter(({ session_id }) => !absent.has(session_id))
  return await to.labels.merge(rows, { isDryRun })
}

interface Moving {
  /** Absent: everything. */
  readonly changed: ChosenRows | undefined
  readonly work: Work
}

async function moveAbsent(
  from: Sessions,
  to: Sessions,
  { changed, work }: Moving,
): Promise<Pick<CopyReport, "copied"> & LeftOut> {
  const selection = await selectFrom(from.store, changed)
  try {
    const owners = await ownersOf(selection.tables)
    const arrivals = await compareArrivals(to, owners, () => readConversations(selection.tables))
    await to.origins.note("copy", arrivals.arriving)
    const inserter = createBatchInserter({ store: to.store, arrivals, isDryRun: false })
    for (const { table, rows, batches } of selection.tables.toReversed()) {
      let done = 0
      work.onStage(table.definition.name, rows)
      for await (const batch of batches()) {
        stopIfAsked(work, "Stopped before everything was copied. Run it again to copy the rest.")
        await inserter.add(table, batch)
        done += batch.length
        work.onRows(done)
      }
      await inserter.flush()
    }
    // Or the next sync into the target would store what its owner has erased.
    await to.erasure.adopt(await from.erasure.carried())
    return {
      copied: inserter.inserted,
      refused: [...arrivals.refused],
      diverging: [...arrivals.diverging],
      erased: [...arrivals.erased.ids],
    }
  } finally {
    selection.end()
  }
}

async function erasedInTarget(from: Sessions, to: Sessions): Promise<string[]> {
  const ids = (await to.erasure.tombstones()).map(({ id }) => id)
  return ids.length === 0 ? [] : (await from.owners(ids)).map(({ id }) => id)
}

/** Those of the values that a session uses which is not erased in the target. */
function neededBlobs(from: Sessions, to: Sessions) {
  return async (hashes: readonly string[]) => {
    const ids = (await to.erasure.tombstones()).map(({ id }) => id)
    return ids.length === 0 ? new Set(hashes) : await from.erasure.sharedAttachments(hashes, ids)
  }
}

async function* readConversations(tables: readonly SelectedTable[]): AsyncGenerator<ArrivingBatch> {
  for (const { table, batches } of tables)
    if (isCompared(table.role)) for await (const batch of batches()) yield { table, batch }
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
