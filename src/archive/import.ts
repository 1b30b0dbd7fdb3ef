/** An archive into a store: checked to its last row first, then what is absent is appended. */
import type { Sessions } from "../sessions/store.ts"
import { isIn } from "../substrate/filter.ts"
import { createArrival } from "./arrive.ts"
import { type ArchiveEntry, checkArchive, openArchive } from "./check.ts"
import { ROLES, type Tally } from "./tables.ts"
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
    const owners = await checkArchive(archive, work)
    const refused = await strangers(sessions, owners)
    const arrival = createArrival({ sessions, refused, isRehearsal: request.isRehearsal })
    for (const [name, entries] of inWritingOrder(archive.entries)) {
      let done = 0
      work.onStage(
        name,
        entries.reduce((sum, { rows }) => sum + rows, 0),
      )
      for (const entry of entries) {
        stopIfAsked(work, "Stopped before everything was imported. Run it again: what is stored is not stored twice.")
        for (const batch of await archive.read(entry)) await arrival.take(entry.table, batch)
        done += entry.rows
        work.onRows(done)
      }
      await arrival.settle()
    }
    const bytes = archive.entries.reduce((sum, entry) => sum + entry.bytes, 0)
    return { inserted: arrival.inserted, present: arrival.present, refused: [...refused], bytes }
  } finally {
    await archive.close()
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
export async function strangers({ tables }: Sessions, owners: Owners): Promise<Set<string>> {
  const ids = [...owners.keys()]
  const found = new Set<string>()
  for (let from = 0; from < ids.length; from += OWNERS_AT_ONCE) {
    const where = isIn("id", ids.slice(from, from + OWNERS_AT_ONCE))
    for (const row of await tables.sessions.read({ columns: ["id", "source_agent", "project"], where })) {
      const given = owners.get(row.id)
      if (given?.source_agent !== row.source_agent || given.project !== row.project) found.add(row.id)
    }
  }
  return found
}
