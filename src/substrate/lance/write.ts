/**
 * The write path (`lance-chokepoints-write`): rows come in by insert-if-absent on the table's key and in no other way
 * (`lance-append-only`, `lance-deterministic-pk`). Writing again what is there commits nothing. Indexes are not folded here.
 *
 * Two writers of one key must not both succeed, and there are two ways to that:
 * - On an object store the engine's merge: writers conflict by their keys, and the loser looks again. It must not use an
 *   index for it: with an index over the key, four writers of the same 1,000 rows stored 4,000 (tested).
 * - On a local disk writers take turns by a lock, look their keys up, and append. The merge without an index reads the
 *   keys of the whole table: a second for each flush at two million rows, where this way costs the same at any size.
 */
import type { Table as LanceTable } from "@lancedb/lancedb"
import type { Table as ArrowTable } from "apache-arrow"
import { assert } from "../../model/errors.ts"
import { type CompactFingerprintSet, FingerprintSet } from "../../platform/fingerprint-set.ts"
import { lazy } from "../../platform/lazy.ts"
import { between } from "../../platform/memory.ts"
import { arrowSchema, arrowTable, arrowTableOfColumns } from "../columns/arrow-rows.ts"
import { keyHashesOf } from "../columns/batch-cells.ts"
import { type ColumnBatch, keyHashes, ofColumns, rowsOfColumns, valuesOf } from "../columns/column-batch.ts"
import { freeBytes, type RowBatch, rowsOfBatch, tableOfBatches } from "../columns/row-batch.ts"
import { joinedColumns, pickedRows } from "../columns/slice-columns.ts"
import { and, type Filter, type FilterValue, filterText, isIn } from "../filter.ts"
import type { Inserted, InsertedColumns } from "../table.ts"
import type { AnyRow, TableDefinition } from "../table-definition.ts"
import type { Dataset, OwnRows } from "./dataset.ts"
import { engine } from "./engine.ts"
import { addHashes, addOwnRows, hashesOfRows, ownRows } from "./own-rows.ts"
import { keyValue, type Scan, scanNewest, scanNewestColumns } from "./read.ts"

/** One commit at most. The first of two rows with one key counts. */
export async function insertAbsent<Row extends AnyRow>(dataset: Dataset, rows: readonly Row[]): Promise<Inserted<Row>> {
  if (rows.length === 0) return { inserted: 0, present: 0, absent: [] }
  const { definition } = dataset
  const { inserted, absent } = await insert(dataset, {
    length: rows.length,
    hashes: (names) => hashesOfRows(definition, rows, names),
    keys: () => rows,
    content: (places) => arrowTable(definition, arrowSchema(definition), at(rows, places)),
  })
  return { inserted, present: rows.length - inserted, absent: at(rows, absent) }
}

/** The same for rows that were made into columns elsewhere. All batches are one commit. */
export async function insertColumns(dataset: Dataset, batches: readonly ColumnBatch[]): Promise<InsertedColumns> {
  const { definition } = dataset
  const whole = joinedColumns(Object.keys(definition.columns), batches)
  if (whole.length === 0) return { inserted: 0, present: 0, absent: batches.map(() => 0) }
  const key = ofColumns(whole, definition.key)
  const { inserted, absent } = await insert(dataset, {
    length: whole.length,
    hashes: (names) => keyHashes(valuesOf(ofColumns(whole, names)), whole.length),
    keys: () => rowsOfColumns(definition, key),
    content: (places) =>
      arrowTableOfColumns(definition, places.length === whole.length ? whole : pickedRows(whole, places)),
  })
  return { inserted, present: whole.length - inserted, absent: countByBatch(batches, absent) }
}

/** `places` rise. */
function countByBatch(batches: readonly ColumnBatch[], places: readonly number[]): number[] {
  let [next, end] = [0, 0]
  return batches.map(({ length }) => {
    const from = next
    end += length
    while (next < places.length && (places[next] as number) < end) next++
    return next - from
  })
}

/**
 * The same for rows that come by the batch: what is new as a whole goes to the engine as it is. Rows that `isTaken`
 * refuses are left out, and count as neither.
 */
export async function insertBatches(
  dataset: Dataset,
  batches: readonly RowBatch[],
  isTaken?: (key: AnyRow) => boolean,
): Promise<Pick<Inserted, "inserted" | "present">> {
  const { definition } = dataset
  const placed = () =>
    batches.flatMap((batch) => rowsOfBatch(batch, definition.key).map((key, row) => ({ key, batch, row })))
  const whole = batches.reduce((sum, batch) => sum + batch.length, 0)
  // What is taken whole is not looked at row by row, unless a key is doubtful.
  const offered = isTaken === undefined ? lazy(placed) : taken(placed().filter(({ key }) => isTaken(key)))
  const length = isTaken === undefined ? whole : offered().length
  const { inserted } = await insert(dataset, {
    length,
    hashes: (names) =>
      length === whole && names === definition.key
        ? joinedHashes(batches.map(keyHashesOf))
        : hashesOfRows(
            definition,
            offered().map(({ key }) => key),
            names,
          ),
    keys: () => offered().map(({ key }) => key),
    content: (places) =>
      places.length === whole ? tableOfBatches(definition, batches) : selected(definition, at(offered(), places)),
  })
  return { inserted, present: length - inserted }
}

function taken<Items>(items: Items): () => Items {
  return () => items
}

function joinedHashes(hashes: readonly Uint32Array[]): Uint32Array {
  const joined = new Uint32Array(hashes.reduce((sum, { length }) => sum + length, 0))
  let used = 0
  for (const own of hashes) {
    joined.set(own, used)
    used += own.length
  }
  return joined
}

interface Placed {
  readonly batch: RowBatch
  readonly row: number
}

function selected(definition: TableDefinition, places: readonly Placed[]): ArrowTable {
  const rows = [...Map.groupBy(places, ({ batch }) => batch)].flatMap(([batch, own]) => {
    const all = rowsOfBatch(batch)
    return own.map(({ row }) => all[row] as AnyRow)
  })
  return arrowTable(definition, arrowSchema(definition), rows)
}

function at<Item>(items: readonly Item[], places: readonly number[]): readonly Item[] {
  return places.length === items.length ? items : places.map((place) => items[place] as Item)
}

/** Only of rows that can be made again from other tables. */
export async function deleteWhere(dataset: Dataset, where: Filter): Promise<{ readonly deleted: number }> {
  const { definition } = dataset
  assert(definition.derived === true, `rows of ${definition.name} are never deleted`)
  const filter = filterText(definition, where)
  return await dataset.exclusively(async () => {
    const table = await dataset.newest()
    if (table === undefined) return { deleted: 0 }
    const { numDeletedRows } = await dataset.attempt(() => table.delete(filter))
    return { deleted: numDeletedRows }
  })
}

type Writing = Pick<Dataset, "definition" | "attempt">
type Commit = (dataset: Writing, table: LanceTable, content: ArrowTable) => Promise<number>

/** Rows in whatever form they come. */
interface Offered {
  readonly length: number
  /** Two for what each row has in those columns (see `keyHashes`). */
  hashes(names: readonly string[]): Uint32Array
  /** The values of the key of each row: asked for where a hash does not tell. */
  keys(): readonly AnyRow[]
  /** The rows of those places, which rise. */
  content(places: readonly number[]): ArrowTable
}

/** Of those that are not there, the first of each key: `absent` has their places. */
async function insert(
  dataset: Dataset,
  offered: Offered,
): Promise<{ readonly inserted: number; readonly absent: readonly number[] }> {
  if (offered.length === 0) return { inserted: 0, absent: [] }
  const { definition } = dataset
  return await dataset.exclusively(async () => {
    const own = await ownRows(dataset)
    const absent = await absentPlaces(dataset, offered, own)
    if (absent.length === 0) return { inserted: 0, absent }
    const table = await dataset.writable()
    const commit = dataset.local === undefined ? merge : append
    const inserted = await commit(dataset, table, offered.content(absent))
    if (inserted >= LARGE_ROWS) between("commits")
    dataset.put += inserted
    // Where nobody waits for his turn, another may have begun to know the table anew, with these rows or without.
    if (own === undefined || own !== dataset.own) dataset.tail.rows += inserted
    else {
      // While the turn is ours nobody else can have made it.
      const version = definition.derived === true ? await dataset.attempt(() => table.version()) : undefined
      addOwnRows(dataset, { inserted, version, hashesOf: offered.hashes })
    }
    return { inserted, absent }
  })
}

/** What encoding and committing so many rows needed is worth giving back. */
const LARGE_ROWS = 1000

async function absentPlaces(dataset: Dataset, offered: Offered, own: OwnRows | undefined): Promise<readonly number[]> {
  const { definition } = dataset
  const doubtful = own && doubtfulPlaces(own.keys, offered.hashes(definition.key))
  if (doubtful?.size === 0) return Array.from({ length: offered.length }, (_, place) => place)
  const keys = offered.keys()
  const absent = new Map<string, number>()
  for (const [place, key] of keys.entries()) {
    const text = keyText(definition.key, key)
    if (!absent.has(text)) absent.set(text, place)
  }
  const toLookUp = [...absent.values()].filter((place) => doubtful?.has(place) !== false)
  for (const found of await presentKeys(dataset, at(keys, toLookUp))) absent.delete(keyText(definition.key, found))
  return [...absent.values()]
}

/** The places whose key may be there already, or before them. All keys are known from here on. */
function doubtfulPlaces(known: CompactFingerprintSet, hashes: Uint32Array): ReadonlySet<number> {
  const doubtful = new Set<number>()
  for (let place = 0; 2 * place < hashes.length; place++) {
    if (!known.addHash(hashes[2 * place] as number, hashes[2 * place + 1] as number)) doubtful.add(place)
  }
  return doubtful
}

/** Whatever others write at the same time. */
export async function mergeAbsent(dataset: Writing, table: LanceTable, rows: readonly AnyRow[]): Promise<number> {
  const { definition } = dataset
  return await merge(dataset, table, arrowTable(definition, arrowSchema(definition), rows))
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
  return merged.numInsertedRows
}

/** Right only while the lock is held under which the keys were looked up. */
const append: Commit = async ({ attempt }, table, content) => {
  const file = engine().arrow.RecordBatchFileWriter.writeAll(content).toUint8Array(true)
  await attempt(() => added(table, file))
  // The engine has a copy.
  freeBytes(file)
  return content.numRows
}

/**
 * What `add` of the engine does with a table, whose columns it makes anew and whose bytes it copies three times on the way,
 * in two and a half times the processor time. Its declaration hides the call.
 */
async function added(table: LanceTable, file: Uint8Array): Promise<void> {
  const { inner } = table as unknown as { readonly inner: { add(file: Buffer, mode: "append"): Promise<unknown> } }
  await inner.add(Buffer.from(file.buffer, file.byteOffset, file.byteLength), "append")
}

/** So many rows at most are looked up by more than the leading column of the key: a longer list costs more than it saves. */
const NARROW_ROWS_MAX = 256

async function presentKeys(dataset: Dataset, rows: readonly AnyRow[]): Promise<readonly AnyRow[]> {
  if (rows.length === 0) return []
  const { key } = dataset.definition
  const isNarrow = rows.length <= NARROW_ROWS_MAX
  const narrowed = isNarrow ? key : key.slice(0, 1)
  const filters = narrowed.map((name) => isIn(name, [...new Set(rows.map((row) => keyValue(row, name)))]))
  const scan = { columns: key, where: and(...filters) }
  return isNarrow ? await scanNewest(dataset, scan) : await keysAmong(dataset, rows, scan)
}

/** A session of a million messages has a million keys: values are made of those alone that may be asked for. */
async function keysAmong(dataset: Dataset, rows: readonly AnyRow[], scan: Scan): Promise<AnyRow[]> {
  const { definition } = dataset
  const asked = new FingerprintSet()
  addHashes(asked, hashesOfRows(definition, rows, definition.key))
  const found: AnyRow[] = []
  dataset.lookedThrough = 0
  for await (const batch of scanNewestColumns(dataset, scan)) {
    dataset.lookedThrough += batch.length
    const hashes = keyHashes(valuesOf(batch), batch.length)
    const places = Array.from({ length: batch.length }, (_, place) => place).filter((place) =>
      asked.mayHaveHash(hashes[2 * place] as number, hashes[2 * place + 1] as number),
    )
    found.push(...rowsOfColumns(definition, pickedRows(batch, places)))
  }
  return found
}

/** One string per key. Each text says its length, so that no two keys read the same. */
function keyText(key: readonly string[], row: AnyRow): string {
  let text = ""
  for (const name of key) text += part(keyValue(row, name))
  return text
}

function part(value: FilterValue): string {
  const text = String(value)
  return `${text.length}:${text}`
}
