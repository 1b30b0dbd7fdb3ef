/** Imports an export file. Nothing of it is visible in the store before its last row was validated. */
import type { Sessions } from "../sessions/store.ts"
import type { StagingTables, Store } from "../substrate/table.ts"
import type { ArchiveEntry } from "./file/manifest.ts"
import { checkArchive, type OpenArchive, openArchive, readAhead } from "./file/open-archive.ts"
import { type RowCounts, TABLE_ORDER } from "./rows/archived-tables.ts"
import { createBatchInserter, LARGE_FLUSH } from "./rows/batch-inserter.ts"
import { type ArrivingBatch, findDivergingSessions } from "./rows/find-diverging.ts"
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
  /** Sessions that the store has with other messages at the same positions: none of their rows were stored. */
  readonly diverging: readonly string[]
  readonly bytes: number
}

type Owners = ReadonlyMap<string, { readonly source_agent: string; readonly project: string }>

export async function importArchive(sessions: Sessions, request: ImportRequest, work: Work): Promise<ImportReport> {
  const archive = await openArchive(request.path)
  try {
    const staging = await openStagingFor(sessions.store, request)
    const report =
      staging === undefined
        ? await importAbsent(sessions, archive, request, work)
        : await importAll(sessions, archive, staging, work)
    return { ...report, bytes: archive.entries.reduce((sum, entry) => sum + entry.bytes, 0) }
  } finally {
    await archive.close()
  }
}

type StoredRows = Omit<ImportReport, "bytes">

/** Into a store that has rows: the file is validated to its last row first, and read a second time for what is absent. */
async function importAbsent(
  sessions: Sessions,
  archive: OpenArchive,
  { isDryRun }: Pick<ImportRequest, "isDryRun">,
  work: Work,
): Promise<StoredRows> {
  const owners = await checkArchive(archive, work)
  const { refused, stored } = await compareOwners(sessions, owners)
  const { diverging, changed } = await findDivergingSessions(sessions, stored, () => readConversations(archive))
  const left = new Set([...refused, ...diverging])
  if (!isDryRun) await sessions.origins.note("archive", arrivedOf(owners, { stored, changed, left }))
  const inserter = createBatchInserter({ store: sessions.store, refused: left, isDryRun })
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
  return { inserted: inserter.inserted, present: inserter.present, refused: [...refused], diverging: [...diverging] }
}

async function* readConversations(archive: OpenArchive): AsyncGenerator<ArrivingBatch> {
  const entries = archive.entries.filter(({ table: { role } }) => role === "messages" || role === "parts")
  for await (const { entry, batches } of readAhead(archive, entries))
    for (const batch of batches) yield { table: entry.table, batch }
}

// --- Into a store that has nothing yet -------------------------------------------------------------------------------

async function openStagingFor(store: Store, { isDryRun }: ImportRequest): Promise<StagingTables | undefined> {
  if (isDryRun) return undefined
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
  const request = { store: staging.store, refused: new Set<string>(), isDryRun: false, flush: LARGE_FLUSH }
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
    return { inserted: inserter.inserted, present: inserter.present, refused: [], diverging: [] }
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

interface Arriving {
  readonly stored: ReadonlySet<string>
  readonly changed: ReadonlySet<string>
  readonly left: ReadonlySet<string>
}

/** The sessions of which something is about to be stored. */
export function arrivedOf(owners: Owners, { stored, changed, left }: Arriving): string[] {
  return [...owners.keys()].filter((id) => !left.has(id) && (!stored.has(id) || changed.has(id)))
}

const OWNERS_AT_ONCE = 1000

/**
 * Which arriving sessions are stored, and whose id belongs to another client or project there. Both facts are copied onto
 * every message of a session, so a second value must not get in.
 */
export async function compareOwners(
  sessions: Sessions,
  owners: Owners,
): Promise<{ readonly refused: Set<string>; readonly stored: Set<string> }> {
  const ids = [...owners.keys()]
  const refused = new Set<string>()
  const stored = new Set<string>()
  for (let from = 0; from < ids.length; from += OWNERS_AT_ONCE) {
    for (const row of await sessions.owners(ids.slice(from, from + OWNERS_AT_ONCE))) {
      const given = owners.get(row.id)
      if (given?.source_agent !== row.source_agent || given.project !== row.project) refused.add(row.id)
      else stored.add(row.id)
    }
  }
  return { refused, stored }
}
