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
import { assert } from "../model/errors.ts"
import { createKeySet } from "../platform/key-set.ts"
import { returnFreedMemory } from "../platform/native-memory.ts"
import { type AnyRow, arrowSchema, arrowTable } from "./arrow-rows.ts"
import { int32Column, textColumn } from "./columns.ts"
import type { Dataset } from "./dataset.ts"
import { and, type Filter, type FilterValue, filterText, isIn } from "./filter.ts"
import { type RowBatch, rowsOfBatch, tableOfBatches } from "./packed.ts"
import { countNewest, keyValue, scanNewest } from "./read.ts"
import type { TableDefinition } from "./table-definition.ts"

export interface Inserted<Row = AnyRow> {
  readonly inserted: number
  /** Rows that were there before, or stood twice in what was given. */
  readonly present: number
  /** The rows that were not there when they were looked up. Another writer may have been quicker for some. */
  readonly absent: readonly Row[]
}

/** One commit at most. The first of two rows with one key counts. */
export async function insertAbsent<Row extends AnyRow>(dataset: Dataset, rows: readonly Row[]): Promise<Inserted<Row>> {
  if (rows.length === 0) return { inserted: 0, present: 0, absent: [] }
  return await dataset.exclusively(() => insert(dataset, rows, dataset.local === undefined ? merge : append))
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
  const { key } = definition
  return await dataset.exclusively(async () => {
    await recall(dataset)
    if (isTaken === undefined && areNew(dataset, batches)) return await appendWhole(dataset, batches)
    const given = batches.flatMap((batch) =>
      rowsOfBatch(batch, key).map((values, row): Placed => ({ values, batch, row })),
    )
    const offered = isTaken === undefined ? given : given.filter(({ values }) => isTaken(values))
    const absent = new Map<string, Placed>()
    for (const placed of offered) {
      const text = keyText(key, placed.values)
      if (!absent.has(text)) absent.set(text, placed)
    }
    const doubtful = await rowsToLookUp(
      dataset,
      [...absent.values()].map(({ values }) => values),
    )
    for (const found of await presentKeys(dataset, doubtful)) absent.delete(keyText(key, found))
    if (absent.size === 0) return { inserted: 0, present: offered.length }
    const isWhole = absent.size === given.length
    const content = isWhole ? tableOfBatches(definition, batches) : selected(definition, [...absent.values()])
    const table = await dataset.writable()
    const inserted = await (dataset.local === undefined ? merge : append)(dataset, table, content)
    remember(
      dataset,
      [...absent.values()].map(({ values }) => values),
      inserted,
    )
    return { inserted, present: offered.length - inserted }
  })
}

/** Whether all that is stored is known, and nothing of these rows is among it or twice among them. Keeps their keys. */
function areNew({ own, definition }: Dataset, batches: readonly RowBatch[]): boolean {
  if (own === undefined) return false
  for (const batch of batches) {
    const columns = definition.key.map((name) => keyColumn(batch, name))
    for (let row = 0; row < batch.length; row++) {
      let text = ""
      for (const column of columns) text += part(column(row))
      if (own.keys.mayHave(text)) return false
      own.keys.add(text)
    }
  }
  return true
}

function keyColumn(batch: RowBatch, name: string): (row: number) => FilterValue {
  if (batch.definition.columns[name]?.kind === "int32") {
    const numbers = int32Column(batch, name)
    return (row) => numbers[row] ?? 0
  }
  const texts = textColumn(batch, name)
  return (row) => texts.at(row) ?? ""
}

async function appendWhole(
  dataset: Dataset,
  batches: readonly RowBatch[],
): Promise<Pick<Inserted, "inserted" | "present">> {
  const content = tableOfBatches(dataset.definition, batches)
  const inserted = await (dataset.local === undefined ? merge : append)(dataset, await dataset.writable(), content)
  if (dataset.own !== undefined) dataset.own.rows += inserted
  return { inserted, present: content.numRows - inserted }
}

interface Placed {
  readonly values: AnyRow
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

async function insert<Row extends AnyRow>(
  dataset: Dataset,
  rows: readonly Row[],
  commit: Commit,
): Promise<Inserted<Row>> {
  const { definition } = dataset
  const { key } = definition
  const distinct = new Map<string, Row>()
  for (const row of rows) {
    const text = keyText(key, row)
    if (!distinct.has(text)) distinct.set(text, row)
  }
  const doubtful = await rowsToLookUp(dataset, [...distinct.values()])
  for (const found of await presentKeys(dataset, doubtful)) distinct.delete(keyText(key, found))
  const absent = [...distinct.values()]
  if (absent.length === 0) return { inserted: 0, present: rows.length, absent }
  const inserted = await commit(
    dataset,
    await dataset.writable(),
    arrowTable(definition, arrowSchema(definition), absent),
  )
  remember(dataset, absent, inserted)
  return { inserted, present: rows.length - inserted, absent }
}

/**
 * A first import would look up every key of a table that it alone has filled. Rows never leave a table that is not derived,
 * so that as many rows as this handle has put there are those rows.
 */
async function recall(dataset: Dataset): Promise<void> {
  const stored = await countNewest(dataset)
  if (stored === 0 && dataset.definition.derived !== true) dataset.own = { rows: 0, keys: createKeySet() }
  if (dataset.own?.rows !== stored) dataset.own = undefined
}

async function rowsToLookUp<Row extends AnyRow>(dataset: Dataset, rows: readonly Row[]): Promise<readonly Row[]> {
  await recall(dataset)
  const { own, definition } = dataset
  return own === undefined ? rows : rows.filter((row) => own.keys.mayHave(keyText(definition.key, row)))
}

/** What encoding and committing so many rows needed is worth giving back. */
const LARGE_ROWS = 1000

/** In 70 MB. A table that one import has filled further is asked what is in it, as any other. */
const OWN_KEYS_MAX = 4_000_000

function remember(dataset: Dataset, absent: readonly AnyRow[], inserted: number): void {
  const { own, tail, definition } = dataset
  if (inserted >= LARGE_ROWS) returnFreedMemory()
  if (own === undefined || own.keys.size > OWN_KEYS_MAX) {
    dataset.own = undefined
    tail.rows += inserted
    return
  }
  own.rows += inserted
  for (const row of absent) own.keys.add(keyText(definition.key, row))
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
  await attempt(() => table.add(content as never))
  return content.numRows
}

/** So many rows at most are looked up by more than the leading column of the key: a longer list costs more than it saves. */
const NARROW_ROWS_MAX = 256

async function presentKeys(dataset: Dataset, rows: readonly AnyRow[]): Promise<readonly AnyRow[]> {
  if (rows.length === 0) return []
  const { key } = dataset.definition
  const narrowed = rows.length <= NARROW_ROWS_MAX ? key : key.slice(0, 1)
  const filters = narrowed.map((name) => isIn(name, [...new Set(rows.map((row) => keyValue(row, name)))]))
  return await scanNewest(dataset, { columns: key, where: and(...filters) })
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
