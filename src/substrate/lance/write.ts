/**
 * The write path (`lance-chokepoints-write`): rows come in by insert-if-absent on the table's key and in no other way
 * (`lance-append-only`, `lance-deterministic-pk`). Writing again what is there commits nothing. Indexes are not folded here.
 *
 * Two writers of one key must not both succeed, and there are three ways to that:
 * - On a local disk writers take turns by a lock, look their keys up, and append.
 * - In a bucket they look their keys up in one version and append, and the commit counts only as the next version: where
 *   another writer was first, `bucket/gateway.ts` refuses the manifest, and the keys are looked up again.
 * - In a bucket that has no gateway, the engine's merge: writers conflict by their keys, and the loser looks again. It must
 *   not use an index for it: with an index over the key, four writers of the same 1,000 rows stored 4,000 (tested). So it
 *   reads the keys of the whole table for each commit, 34 MB at 370,000 messages, where the other ways cost the new rows.
 */
import type { Table as LanceTable } from "@lancedb/lancedb"
import type { Table as ArrowTable } from "apache-arrow"
import { assert, PondError, toPondError } from "../../model/errors.ts"
import { lazy } from "../../platform/lazy.ts"
import { between } from "../../platform/memory.ts"
import { tableKey } from "../bucket/commit-guards.ts"
import type { Gateway } from "../bucket/gateway.ts"
import { arrowTable } from "../columns/arrow-rows.ts"
import { keyHashesOf } from "../columns/batch-cells.ts"
import { type ColumnBatch, columnsOf, keyHashes, ofColumns, rowsOfColumns, valuesOf } from "../columns/column-batch.ts"
import { contentHash, hashedColumns } from "../columns/content-hash.ts"
import { freeBytes, type RowBatch, rowsOfBatch, tableOfBatches } from "../columns/row-batch.ts"
import { concatColumns, pickRows } from "../columns/slice-columns.ts"
import { type Filter, filterText } from "../filter.ts"
import type { WrittenRows } from "../local/local-table.ts"
import type { Location } from "../location.ts"
import type { Inserted, InsertedColumns } from "../table.ts"
import type { AnyRow, TableDefinition } from "../table-definition.ts"
import type { Dataset } from "./dataset.ts"
import { engine } from "./engine.ts"
import { busyStore } from "./lance-errors.ts"
import { delayMs, type RetryContext } from "./retry.ts"
import { addStored, findAbsent, hashesOfRows, type OfferedKeys } from "./stored-keys.ts"

/** One commit at most. The first of two rows with one key counts. */
export async function insertAbsent(dataset: Dataset, rows: readonly AnyRow[]): Promise<Inserted> {
  if (rows.length === 0) return { inserted: 0, present: 0 }
  const { inserted, present } = await insertColumns(dataset, [columnsOf(dataset.definition, rows)])
  return { inserted, present }
}

/** The same for rows that are columns already, which is the form in which rows are written. */
export async function insertColumns(dataset: Dataset, batches: readonly ColumnBatch[]): Promise<InsertedColumns> {
  const { definition } = dataset
  const whole = concatColumns(Object.keys(definition.columns), batches)
  if (whole.length === 0) return { inserted: 0, present: 0, absent: batches.map(() => 0) }
  const { inserted, absent } = await insert(dataset, {
    length: whole.length,
    hashes: (names) => keyHashes(valuesOf(ofColumns(whole, names)), whole.length),
    keys: () => rowsOfColumns(definition, ofColumns(whole, definition.key)),
    content: (rows) => arrowTable(definition, rows.length === whole.length ? whole : pickRows(whole, rows)),
  })
  return { inserted, present: whole.length - inserted, absent: countByBatch(batches, absent) }
}

/** How many of the rows, whose numbers rise, are of each batch. */
function countByBatch(batches: readonly ColumnBatch[], rows: readonly number[]): number[] {
  let [next, end] = [0, 0]
  return batches.map(({ length }) => {
    const from = next
    end += length
    while (next < rows.length && (rows[next] as number) < end) next++
    return next - from
  })
}

/**
 * The same for Arrow batches, as an archive has them: where every row is absent they go to the engine as they are. Rows
 * whose key `isTaken` refuses are left out, and count as neither inserted nor present.
 */
export async function insertBatches(
  dataset: Dataset,
  batches: readonly RowBatch[],
  isTaken?: (key: AnyRow) => boolean,
): Promise<Inserted> {
  const { definition } = dataset
  const located = lazy(() =>
    batches
      .flatMap((batch) => rowsOfBatch(batch, definition.key).map((key, row) => ({ key, batch, row })))
      .filter(({ key }) => isTaken === undefined || isTaken(key)),
  )
  const whole = batches.reduce((sum, batch) => sum + batch.length, 0)
  // Batches that are taken whole need no look at their rows, unless a key is doubtful.
  const length = isTaken === undefined ? whole : located().length
  const keys = () => located().map(({ key }) => key)
  const { inserted } = await insert(dataset, {
    length,
    hashes: (names) =>
      length === whole && names === definition.key
        ? joinHashes(batches.map(keyHashesOf))
        : hashesOfRows(definition, keys(), names),
    keys,
    // Where the engine merges it stores several batches in any order: the hash of the rows would be of another.
    content: (rows) =>
      rows.length === whole && (isAppended(dataset) || batches.length === 1)
        ? tableOfBatches(definition, batches)
        : pickFromBatches(definition, at(located(), rows)),
  })
  return { inserted, present: length - inserted }
}

function isAppended({ local, catalog }: Dataset): boolean {
  return local !== undefined || catalog.gateway() !== undefined
}

function joinHashes(hashes: readonly Uint32Array[]): Uint32Array {
  const joined = new Uint32Array(hashes.reduce((sum, { length }) => sum + length, 0))
  let used = 0
  for (const own of hashes) {
    joined.set(own, used)
    used += own.length
  }
  return joined
}

interface LocatedRow {
  readonly batch: RowBatch
  readonly row: number
}

function pickFromBatches(definition: TableDefinition, located: readonly LocatedRow[]): ArrowTable {
  const rows = [...Map.groupBy(located, ({ batch }) => batch)].flatMap(([batch, own]) => {
    const all = rowsOfBatch(batch)
    return own.map(({ row }) => all[row] as AnyRow)
  })
  return arrowTable(definition, columnsOf(definition, rows))
}

function at<Item>(items: readonly Item[], rows: readonly number[]): readonly Item[] {
  return rows.length === items.length ? items : rows.map((row) => items[row] as Item)
}

/** Only of rows that can be made again from other tables. */
export async function deleteWhere(dataset: Dataset, where: Filter): Promise<{ readonly deleted: number }> {
  const { definition } = dataset
  assert(definition.derived === true, `rows of ${definition.name} are never deleted`)
  const filter = filterText(definition, where)
  return await dataset.exclusively(async () => {
    const table = await dataset.newest()
    if (table === undefined) return { deleted: 0 }
    const { numDeletedRows } = await dataset.attempt(async (count) => {
      if (count > 1) await table.checkoutLatest()
      return await table.delete(filter)
    })
    return { deleted: numDeletedRows }
  })
}

type Writing = Pick<Dataset, "definition" | "attempt">
type Commit = (dataset: Writing, table: LanceTable, content: ArrowTable) => Promise<Committed>

interface Committed {
  readonly inserted: number
  /** Where it is told. */
  readonly version?: number | undefined
}

interface Offered extends OfferedKeys {
  /** The rows of those numbers, which rise. */
  content(rows: readonly number[]): ArrowTable
}

/** Stores those that are absent, the first of each key. */
async function insert(dataset: Dataset, offered: Offered): Promise<Stored> {
  if (offered.length === 0) return { inserted: 0, absent: [] }
  return await dataset.exclusively(async () => {
    const gateway = dataset.catalog.gateway()
    if (gateway === undefined) return await insertOnce(dataset, offered, dataset.local === undefined ? merge : append)
    const { retry } = dataset.catalog
    return await whileOvertaken(retry, () =>
      dataset.atOneVersion(async () => {
        const table = await dataset.newest()
        const version = table && (await dataset.attempt(() => table.version()))
        return await insertOnce(dataset, offered, appendNext(gateway, dataset.catalog.location, version))
      }),
    )
  })
}

interface Stored {
  readonly inserted: number
  readonly absent: readonly number[]
}

async function insertOnce(dataset: Dataset, offered: Offered, commit: Commit): Promise<Stored> {
  const { definition } = dataset
  const { absent: unstored, own } = await findAbsent(dataset, offered)
  const absent = await withoutErased(dataset, offered, unstored)
  if (absent.length === 0) return { inserted: 0, absent }
  const table = await dataset.writable()
  const content = offered.content(absent)
  // Before it is handed over: what the engine's client does with a table of several batches is its own affair.
  const described = describeContent(definition, content)
  const { inserted, version: committed } = await commit(dataset, table, content)
  const isWhole = inserted === content.numRows
  await noteCommit(dataset, isWhole ? described : { groups: described.groups }, { inserted, version: committed })
  if (inserted >= LARGE_ROWS) between("commits")
  dataset.put += inserted
  // Without a lock another writer may have read the fingerprints anew, with these rows or without.
  if (own === undefined || own !== dataset.own) dataset.tail.rows += inserted
  else {
    // No other writer can have made the version while this process holds the lock.
    const version = definition.derived === true ? await dataset.attempt(() => table.version()) : undefined
    addStored(dataset, { inserted, version, hashes: offered.hashes })
  }
  return { inserted, absent }
}

/**
 * On a disk it is noted with the checksums of the commit. In a bucket it takes two more requests; where another writer
 * has stored some of the rows first it is not known which these are, and where the note fails the rows are stored.
 */
async function noteCommit(
  { definition, local, noted, catalog }: Dataset,
  described: Omit<WrittenRows, "count">,
  { inserted, version }: Committed,
): Promise<void> {
  local?.noteRows({ ...described, count: inserted })
  if (noted === undefined || version === undefined || definition.derived === true || inserted === 0) return
  await noted.noteCommit(version, { ...described, count: inserted }).catch((error: unknown) => {
    catalog.context.log.warn(`A commit to the table ${definition.name} has no checksum: ${toPondError(error).message}`)
  })
}

/** What can be made again is deleted too, and a hash is one of all the rows. */
function describeContent(definition: TableDefinition, content: ArrowTable): Omit<WrittenRows, "count"> {
  if (definition.derived === true) return { groups: [] }
  const spans = content.batches.map((record) => ({ record, from: 0, to: record.numRows }))
  return { groups: groupsOf(definition, content), hash: contentHash(spans, hashedColumns(content.schema)) }
}

/** What is erased does not come back, whichever way it arrives. Asked under the lock, so that a purge is not overtaken. */
async function withoutErased(
  { definition, erased }: Dataset,
  offered: Offered,
  rows: readonly number[],
): Promise<readonly number[]> {
  const { size, has, mayHaveAny } = await erased()
  const [owner] = definition.key
  if (size === 0 || owner === undefined || rows.length === 0 || !mayHaveAny(offered.hashes([owner]))) return rows
  const keys = offered.keys()
  return rows.filter((row) => !has(String(keys[row]?.[owner])))
}

/**
 * What the first key column says, each value once, so that damage can be told by session. Rows of one session stand
 * together: a text is made only where the bytes change. What can be made again needs no name.
 */
function groupsOf({ key, derived, columns }: TableDefinition, content: ArrowTable): readonly string[] {
  const name = key[0] as string
  const column = derived === true || columns[name]?.kind !== "utf8" ? undefined : content.getChild(name)
  const groups = new Set<string>()
  for (const { values, valueOffsets, length } of column?.data ?? []) {
    const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength)
    let [from, to] = [0, 0]
    for (let row = 0; row < length; row++) {
      const [begin, end] = [valueOffsets[row] as number, valueOffsets[row + 1] as number]
      if (row > 0 && bytes.compare(bytes, from, to, begin, end) === 0) continue
      groups.add(bytes.toString("utf8", begin, end))
      ;[from, to] = [begin, end]
    }
  }
  return [...groups]
}

/** What encoding and committing so many rows needed is worth giving back. */
const LARGE_ROWS = 1000

/** Whatever others write at the same time. */
export async function mergeAbsent(dataset: Writing, table: LanceTable, rows: readonly AnyRow[]): Promise<number> {
  const { definition } = dataset
  return (await merge(dataset, table, arrowTable(definition, columnsOf(definition, rows)))).inserted
}

/** A repeated attempt begins at the newest version. */
const merge: Commit = async ({ definition, attempt }, table, content) => {
  const merged = await attempt(async (count) => {
    if (count > 1) await table.checkoutLatest()
    const absent = table
      .mergeInsert([...definition.key])
      .useIndex(false)
      .whenNotMatchedInsertAll()
    return await absent.execute(content as never)
  })
  return { inserted: merged.numInsertedRows, version: merged.version }
}

/** Another writer has committed since the keys were looked up. */
class Overtaken extends Error {}

/** The engine meets some of the others before it has made a manifest. */
function isConflict(error: unknown): boolean {
  return error instanceof PondError && error.code === "conflict"
}

/** Fifty writers of one table are all served within these. */
const OVERTAKEN_MAX = 60

async function whileOvertaken<Result>(retry: RetryContext, work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof Overtaken)) throw error
      if (attempt >= OVERTAKEN_MAX) throw busyStore(retry.store, attempt)
      await retry.sleep(delayMs(Math.min(attempt, OVERTAKEN_DELAYS), retry.random))
    }
  }
}

/** Waits grow up to 0.8 seconds: a commit takes a few round trips. */
const OVERTAKEN_DELAYS = 6

/** Right only where nobody has committed since the keys were looked up in that version. */
function appendNext(gateway: Gateway, location: Location, version: number | undefined): Commit {
  return async (dataset, table, content) => {
    // The table was made just now, and another process may have filled it before.
    if (version === undefined) throw new Overtaken("the table is new")
    const guard = gateway.guard(tableKey(location, dataset.definition.name), BigInt(version) + 1n)
    try {
      const { inserted } = await append(dataset, table, content)
      return { inserted, version: version + 1 }
    } catch (error) {
      if (guard.release() || isConflict(error)) throw new Overtaken("another writer was first", { cause: error })
      throw error
    } finally {
      guard.release()
    }
  }
}

/** Right only while the lock is held under which the keys were looked up. */
const append: Commit = async ({ attempt }, table, content) => {
  const file = engine().arrow.RecordBatchFileWriter.writeAll(content).toUint8Array(true)
  await attempt(() => addRows(table, file))
  // The engine has a copy.
  freeBytes(file)
  return { inserted: content.numRows }
}

/**
 * What `add` of the engine does with a table, whose columns it makes anew and whose bytes it copies three times on the way,
 * in two and a half times the processor time. Its declaration hides the call.
 */
async function addRows(table: LanceTable, file: Uint8Array): Promise<void> {
  const { inner } = table as unknown as { readonly inner: { add(file: Buffer, mode: "append"): Promise<unknown> } }
  await inner.add(Buffer.from(file.buffer, file.byteOffset, file.byteLength), "append")
}
