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
import { assert } from "../model/errors.ts"
import { type AnyRow, arrowSchema, arrowTable } from "./arrow-rows.ts"
import type { Dataset } from "./dataset.ts"
import { and, type Filter, type FilterValue, filterText, isIn } from "./filter.ts"
import { keyValue, scanNewest } from "./read.ts"

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
  return await dataset.exclusively(() => insert(dataset, rows, dataset.local === undefined ? mergeAbsent : append))
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
type Commit = (dataset: Writing, table: LanceTable, rows: readonly AnyRow[]) => Promise<number>

async function insert<Row extends AnyRow>(
  dataset: Dataset,
  rows: readonly Row[],
  commit: Commit,
): Promise<Inserted<Row>> {
  const { key } = dataset.definition
  const distinct = new Map<string, Row>()
  for (const row of rows) {
    const text = keyText(key, row)
    if (!distinct.has(text)) distinct.set(text, row)
  }
  for (const found of await presentKeys(dataset, [...distinct.values()])) distinct.delete(keyText(key, found))
  const absent = [...distinct.values()]
  if (absent.length === 0) return { inserted: 0, present: rows.length, absent }
  const inserted = await commit(dataset, await dataset.writable(), absent)
  dataset.tail.rows += inserted
  return { inserted, present: rows.length - inserted, absent }
}

/** Whatever others write at the same time. A repeated attempt begins at the newest version. */
export const mergeAbsent: Commit = async ({ definition, attempt }, table, rows) => {
  const batch = arrowTable(definition, arrowSchema(definition), rows)
  const merged = await attempt(async (count) => {
    if (count > 1) await table.checkoutLatest()
    const merge = table
      .mergeInsert([...definition.key])
      .useIndex(false)
      .whenNotMatchedInsertAll()
    return await merge.execute(batch as never)
  })
  return merged.numInsertedRows
}

/** Right only while the lock is held under which the keys were looked up. */
const append: Commit = async (dataset, table, rows) => {
  const { definition } = dataset
  const batch = arrowTable(definition, arrowSchema(definition), rows)
  await dataset.attempt(() => table.add(batch as never))
  return rows.length
}

/** So many rows at most are looked up by more than the leading column of the key: a longer list costs more than it saves. */
const NARROW_ROWS_MAX = 256

async function presentKeys(dataset: Dataset, rows: readonly AnyRow[]): Promise<readonly AnyRow[]> {
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
