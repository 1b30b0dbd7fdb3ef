/**
 * Which sessions of an export file or of another store may come in. None whose id belongs to another client or project,
 * none that says something else than what is stored (see `sessions/write/divergence.ts`), and none that is erased. All of them are compared
 * before the first row is stored. What others write meanwhile is compared again, under the write lock, with each flush.
 */
import type { Sessions } from "../../sessions/store.ts"
import type { SessionRow } from "../../sessions/tables.ts"
import { type DivergenceCheck, type FirstStored, isSameSource } from "../../sessions/write/divergence.ts"
import { type RowBatch, rowsOfBatch } from "../../substrate/columns/row-batch.ts"
import { type ArchivedTable, type ArrivingBatch, ownerColumn } from "./archived-tables.ts"
import { referencesOfRow } from "./selection.ts"

/** Whether rows of such a table are compared with the stored ones. */
export function isCompared(role: ArchivedTable["role"]): boolean {
  return role === "sessions" || role === "messages" || role === "parts"
}

export type Owners = ReadonlyMap<string, Pick<SessionRow, "source_agent" | "project">>

export interface Arrivals {
  /** Sessions whose id belongs to another client or project in the store. */
  readonly refused: ReadonlySet<string>
  /** Sessions that say something else than what is stored of them. It grows while others write. */
  readonly diverging: ReadonlySet<string>
  /** Sessions that are erased in the store, and what comes with them. */
  readonly erased: ErasedArrivals
  /** Sessions of projects that are not stored on this machine. */
  readonly excluded: ReadonlySet<string>
  /** The sessions of which something is about to be stored. */
  readonly arriving: readonly string[]
  /** Does the work under the write lock of the store, with the sessions whose rows are left out by then. */
  guard<Result>(
    table: ArchivedTable,
    batches: readonly RowBatch[],
    work: (left: ReadonlySet<string>) => Promise<Result>,
  ): Promise<Result>
}

/** `rows` are those of sessions, messages and parts, in this order, and are read only where a session is stored. */
export async function compareArrivals(
  sessions: Sessions,
  owners: Owners,
  rows: () => AsyncIterable<ArrivingBatch>,
): Promise<Arrivals> {
  const watch = await sessions.watchStored()
  const { refused, stored } = await compareOwners(sessions, owners)
  const sources = new Set<string>()
  const check =
    stored.size === 0 ? undefined : await sessions.divergenceCheck([...stored.keys()], (id) => sources.has(id))
  if (check !== undefined) {
    for await (const { table, batch } of rows()) {
      if (table.role === "sessions") for (const id of sameSources(batch, stored)) sources.add(id)
      else compareRows(check, table, batch, (id) => stored.has(id))
      batch.letGo?.()
    }
  }
  const diverging = new Set(check?.diverging)
  const erased = await findErasedArrivals(sessions, owners.keys(), rows)
  const excluded = new Set([...owners].flatMap(([id, { project }]) => (sessions.excludes(project) ? id : [])))
  const left = () => new Set([...refused, ...diverging, ...erased.ids, ...excluded])
  const changed = check?.changed ?? new Set()
  return {
    refused,
    diverging,
    erased,
    excluded,
    arriving: [...owners.keys()].filter((id) => !left().has(id) && (!stored.has(id) || changed.has(id))),
    guard: (table, batches, work) =>
      sessions.store.withWriteLock(async () => {
        const touched = (await watch.touched()).filter((id) => owners.has(id))
        if (touched.length > 0) await compareAgain(touched, table, batches)
        const done = await work(left())
        await watch.pass()
        return done
      }),
  }

  /** A session that somebody else has stored since is not ours to fill. Parts of it that came in before name no message. */
  async function compareAgain(touched: readonly string[], table: ArchivedTable, batches: readonly RowBatch[]) {
    const met = new Set(touched)
    const others = await compareOwners(sessions, new Map(touched.map((id) => [id, owners.get(id) as Owner])))
    for (const id of others.refused) refused.add(id)
    const again = await sessions.divergenceCheck(touched, (id) => sources.has(id))
    for (const batch of batches) compareRows(again, table, batch, (id) => met.has(id))
    for (const id of again.diverging) diverging.add(id)
  }
}

type Owner = Pick<SessionRow, "source_agent" | "project">

function compareRows(
  check: DivergenceCheck,
  { role }: ArchivedTable,
  batch: RowBatch,
  isMeant: (id: string) => boolean,
) {
  const rowsOf = (columns: readonly string[]) =>
    (rowsOfBatch(batch, columns) as unknown as readonly Row[]).filter(({ session_id }) => isMeant(session_id))
  if (role === "messages") rowsOf(["session_id", "id", "ordinal"]).forEach(check.message)
  if (role === "parts") rowsOf(["session_id", "message_id", "id"]).forEach(check.part)
}

interface Row {
  readonly session_id: string
  readonly message_id: string
  readonly id: string
  readonly ordinal: number
}

function sameSources(batch: RowBatch, stored: ReadonlyMap<string, FirstStored>): readonly string[] {
  const given = rowsOfBatch(batch, ["id", "ingested_at", "host"]) as unknown as readonly FirstStored[]
  return given.filter((row) => isSameSource(stored.get(row.id), row)).map(({ id }) => id)
}

const OWNERS_AT_ONCE = 1000

/**
 * Which arriving sessions are stored, and whose id belongs to another client or project there. Both facts are copied onto
 * every message of a session, so a second value must not get in.
 */
async function compareOwners(
  sessions: Sessions,
  owners: Owners,
): Promise<{ readonly refused: Set<string>; readonly stored: ReadonlyMap<string, FirstStored> }> {
  const ids = [...owners.keys()]
  const refused = new Set<string>()
  const stored = new Map<string, FirstStored>()
  for (let from = 0; from < ids.length; from += OWNERS_AT_ONCE) {
    for (const row of await sessions.owners(ids.slice(from, from + OWNERS_AT_ONCE))) {
      const given = owners.get(row.id)
      if (given?.source_agent !== row.source_agent || given.project !== row.project) refused.add(row.id)
      else stored.set(row.id, row)
    }
  }
  return { refused, stored }
}

// --- Rows that were erased here --------------------------------------------------------------------------------------

// Which arriving sessions are erased in the store that they come to, and so stay out: by their own tombstone, or because
// they belong to an erased session or hold copies of its messages. Of the values that are stored apart only those come in
// that another arriving session uses, because nobody would own the others.

interface ErasedArrivals {
  readonly ids: ReadonlySet<string>
  /** The hashes of values that may come in; nothing where all may. */
  readonly blobs: ReadonlySet<string> | undefined
}

const NONE: ErasedArrivals = { ids: new Set(), blobs: undefined }

type Rows = () => AsyncIterable<ArrivingBatch>

/** The rows are read only where something is erased in the store. */
async function findErasedArrivals(sessions: Sessions, owners: Iterable<string>, rows: Rows): Promise<ErasedArrivals> {
  const detector = await sessions.erasure.detect(owners)
  if (detector === undefined) return NONE
  for await (const { table, batch } of rows()) {
    const columns = DETECTED[table.role]
    if (columns !== undefined)
      for (const row of rowsOfBatch(batch, columns))
        detector[table.role === "sessions" ? "session" : "message"](row as never)
    batch.letGo?.()
  }
  const ids = await detector.finish()
  return ids.size === 0 ? NONE : { ids, blobs: await referencesOfOthers(ids, rows) }
}

const DETECTED: Readonly<Record<string, readonly string[]>> = {
  sessions: ["id", "parent_session_id"],
  messages: ["session_id", "id", "timestamp", "search_text", "lane"],
}

async function referencesOfOthers(ids: ReadonlySet<string>, rows: Rows): Promise<ReadonlySet<string>> {
  const used = new Set<string>()
  for await (const { table, batch } of rows()) {
    const owner = ownerColumn(table)
    for (const row of rowsOfBatch(batch)) {
      if (ids.has(String(row[owner]))) continue
      for (const hash of referencesOfRow(table, row)) used.add(hash)
    }
    batch.letGo?.()
  }
  return used
}
