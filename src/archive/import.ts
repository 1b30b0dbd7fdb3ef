/** Imports an export file. Nothing of it is visible in the store before its last row was validated. */
import type { Sessions } from "../sessions/store.ts"
import type { LabelMerge } from "../sessions/write/labels.ts"
import type { StagingTables } from "../substrate/table.ts"
import { type ArchiveEntry, labelRowsOf } from "./file/manifest.ts"
import { checkArchive, type OpenArchive, openArchive, readAhead } from "./file/open-archive.ts"
import { type ArrivingBatch, type RowCounts, TABLE_ORDER } from "./rows/archived-tables.ts"
import { compareArrivals, isCompared } from "./rows/arrivals.ts"
import { createBatchInserter, LARGE_FLUSH } from "./rows/batch-inserter.ts"
import { stopIfAsked, type Work } from "./work.ts"

export interface ImportRequest {
  readonly path: string
  /** Validates and counts, and stores nothing. */
  readonly isDryRun: boolean
}

export interface ImportReport {
  readonly inserted: RowCounts
  readonly present: RowCounts
  /** Sessions whose id belongs to another client or project in the store: none of their rows were stored. */
  readonly refused: readonly string[]
  /** Sessions that the store has with other messages, or from another source: none of their rows were stored. */
  readonly diverging: readonly string[]
  /** Sessions that are erased in the store: none of their rows were stored. */
  readonly erased: readonly string[]
  /** Sessions of projects that are excluded on this machine. */
  readonly excluded: readonly string[]
  readonly labels: LabelMerge
  readonly bytes: number
}

export async function importArchive(sessions: Sessions, request: ImportRequest, work: Work): Promise<ImportReport> {
  const archive = await openArchive(request.path)
  try {
    const staging = await openStagingFor(sessions, request)
    const report =
      staging === undefined
        ? await importAbsent(sessions, archive, request, work)
        : await importAll(sessions, archive, staging, work)
    const left = new Set([report.refused, report.diverging, report.erased, report.excluded].flat())
    const arriving = labelRowsOf(archive.manifest).filter(({ session_id }) => !left.has(session_id))
    const labels = await sessions.labels.merge(arriving, request)
    return { ...report, labels, bytes: archive.entries.reduce((sum, entry) => sum + entry.bytes, 0) }
  } finally {
    await archive.close()
  }
}

type StoredRows = Omit<ImportReport, "bytes" | "labels">

/** Into a store that has rows: the file is validated to its last row first, and read a second time for what is absent. */
async function importAbsent(
  sessions: Sessions,
  archive: OpenArchive,
  { isDryRun }: Pick<ImportRequest, "isDryRun">,
  work: Work,
): Promise<StoredRows> {
  const owners = await checkArchive(archive, work)
  const arrivals = await compareArrivals(sessions, owners, () => readConversations(archive))
  if (!isDryRun) await sessions.origins.note("archive", arrivals.arriving)
  const inserter = createBatchInserter({ store: sessions.store, arrivals, isDryRun })
  for (const [name, entries] of groupInWriteOrder(archive.entries)) {
    let done = 0
    work.onStage(
      name,
      entries.reduce((sum, { rows }) => sum + rows, 0),
    )
    for await (const { entry, batches } of readAhead(archive, entries)) {
      stopIfAsked(work, "Stopped before everything was imported. Run it again to import the rest.")
      for (const batch of batches) await inserter.add(entry.table, batch)
      done += entry.rows
      work.onRows(done)
    }
    await inserter.flush()
  }
  const { refused: owned, diverging: others, erased: gone, excluded: kept } = arrivals
  const [refused, diverging, erased, excluded] = [owned, others, gone.ids, kept].map((ids) => [...ids])
  return { inserted: inserter.inserted, present: inserter.present, refused, diverging, erased, excluded } as StoredRows
}

async function* readConversations(archive: OpenArchive): AsyncGenerator<ArrivingBatch> {
  const entries = archive.entries.filter(({ table: { role } }) => isCompared(role))
  for await (const { entry, batches } of readAhead(archive, entries))
    for (const batch of batches) yield { table: entry.table, batch }
}

// --- Into a store that has nothing yet -------------------------------------------------------------------------------

async function openStagingFor({ store, excludesAny }: Sessions, { isDryRun }: ImportRequest) {
  if (isDryRun || excludesAny) return undefined
  if ((await store.names()).length === 0) return await store.openStaging()
  await store.removeStaleStaging()
  return undefined
}

/** Into an empty store: read once. Validated rows go to a staging place, which becomes the store when all of them are valid. */
async function importAll(
  sessions: Sessions,
  archive: OpenArchive,
  staging: StagingTables,
  work: Work,
): Promise<StoredRows> {
  const request = { store: staging.store, isDryRun: false, flush: LARGE_FLUSH }
  const inserter = createBatchInserter(request)
  try {
    const owners = await checkArchive(archive, work, inserter.add)
    await inserter.flush()
    staging.store.close()
    await sessions.origins.note("archive", owners.keys())
    for (const [name] of groupInWriteOrder(archive.entries)) {
      // Another process has begun to fill the store, so it is not empty any more.
      if (!(await staging.adopt(name))) return await importAbsent(sessions, archive, { isDryRun: false }, work)
    }
    return {
      inserted: inserter.inserted,
      present: inserter.present,
      refused: [],
      diverging: [],
      erased: [],
      excluded: [],
    }
  } finally {
    await inserter.waitForCommits()
    await staging.end()
  }
}

/** The reverse of the reading order: sessions become visible last, when everything that they consist of is there. */
function groupInWriteOrder(entries: readonly ArchiveEntry[]): [string, ArchiveEntry[]][] {
  const tables = [...Map.groupBy(entries, ({ table }) => table.definition.name)]
  const place = ([, [entry]]: [string, ArchiveEntry[]]) => TABLE_ORDER.indexOf(entry?.table.role ?? "blobs")
  return tables.toSorted((one, other) => place(other) - place(one))
}
