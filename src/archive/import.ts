/** An archive into a store: nothing of it is there before its last row was judged, and then what was absent is. */
import type { Sessions } from "../sessions/store.ts"
import type { StagingTables, Store } from "../substrate/table.ts"
import type { ArchiveEntry } from "./file/manifest.ts"
import { checkArchive, type OpenArchive, openArchive, readAhead } from "./file/open-archive.ts"
import { ROLES, type Tally } from "./rows/archived-tables.ts"
import { createArrival, LARGE_FLUSH } from "./rows/batch-inserter.ts"
import { stopIfAsked, type Work } from "./work.ts"

export interface ImportRequest {
  readonly path: string
  /** Checks and counts, and stores nothing. */
  readonly isRehearsal: boolean
}

export interface ImportReport {
  readonly inserted: Tally
  readonly present: Tally
  /** Sessions that the store has under the same id from another client or project: nothing of them was stored. */
  readonly refused: readonly string[]
  readonly bytes: number
}

type Owners = ReadonlyMap<string, { readonly source_agent: string; readonly project: string }>

export async function importArchive(sessions: Sessions, request: ImportRequest, work: Work): Promise<ImportReport> {
  const archive = await openArchive(request.path)
  try {
    const incoming = await incomingFor(sessions.store, request)
    const report =
      incoming === undefined
        ? await importAbsent(sessions, archive, request, work)
        : await importAll(sessions, archive, incoming, work)
    return { ...report, bytes: archive.entries.reduce((sum, entry) => sum + entry.bytes, 0) }
  } finally {
    await archive.close()
  }
}

type Arrived = Omit<ImportReport, "bytes">

/** Checked first, to its last row; then read again, for what is absent. */
async function importAbsent(
  sessions: Sessions,
  archive: OpenArchive,
  { isRehearsal }: Pick<ImportRequest, "isRehearsal">,
  work: Work,
): Promise<Arrived> {
  const refused = await strangers(sessions, await checkArchive(archive, work))
  const arrival = createArrival({ store: sessions.store, refused, isRehearsal })
  for (const [name, entries] of inWritingOrder(archive.entries)) {
    let done = 0
    work.onStage(
      name,
      entries.reduce((sum, { rows }) => sum + rows, 0),
    )
    for await (const { entry, batches } of readAhead(archive, entries)) {
      stopIfAsked(work, "Stopped before everything was imported. Run it again: what is stored is not stored twice.")
      for (const batch of batches) await arrival.take(entry.table, batch)
      done += entry.rows
      work.onRows(done)
    }
    await arrival.settle()
  }
  return { inserted: arrival.inserted, present: arrival.present, refused: [...refused] }
}

// --- Into a store that has nothing yet -------------------------------------------------------------------------------

async function incomingFor(store: Store, { isRehearsal }: ImportRequest): Promise<StagingTables | undefined> {
  if (isRehearsal) return undefined
  if ((await store.names()).length === 0) return await store.openStaging()
  await store.removeStaleStaging()
  return undefined
}

/** Read once: what was judged is written where nobody sees it, and put in place when all of it was. */
async function importAll(
  sessions: Sessions,
  archive: OpenArchive,
  incoming: StagingTables,
  work: Work,
): Promise<Arrived> {
  const request = { store: incoming.store, refused: new Set<string>(), isRehearsal: false, flush: LARGE_FLUSH }
  const arrival = createArrival(request)
  try {
    await checkArchive(archive, work, arrival.take)
    await arrival.settle()
    incoming.store.close()
    for (const [name] of inWritingOrder(archive.entries)) {
      // Another process has begun to fill the store: then it is a store that has something.
      if (!(await incoming.adopt(name))) return await importAbsent(sessions, archive, { isRehearsal: false }, work)
    }
    return { inserted: arrival.inserted, present: arrival.present, refused: [] }
  } finally {
    await arrival.end()
    await incoming.end()
  }
}

/** The other way round than they were read: what becomes visible last is what names the rest. */
function inWritingOrder(entries: readonly ArchiveEntry[]): [string, ArchiveEntry[]][] {
  const tables = [...Map.groupBy(entries, ({ table }) => table.definition.name)]
  const place = ([, [entry]]: [string, ArchiveEntry[]]) => ROLES.indexOf(entry?.table.role ?? "blobs")
  return tables.toSorted((one, other) => place(other) - place(one))
}

const OWNERS_AT_ONCE = 1000

/** Client and project of a session are copied onto every message, so a second value would make two truths. */
export async function strangers(sessions: Sessions, owners: Owners): Promise<Set<string>> {
  const ids = [...owners.keys()]
  const found = new Set<string>()
  for (let from = 0; from < ids.length; from += OWNERS_AT_ONCE) {
    for (const row of await sessions.owners(ids.slice(from, from + OWNERS_AT_ONCE))) {
      const given = owners.get(row.id)
      if (given?.source_agent !== row.source_agent || given.project !== row.project) found.add(row.id)
    }
  }
  return found
}
