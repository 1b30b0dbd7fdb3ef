/**
 * The write path (`lance-chokepoints-write`): rows come in by insert-if-absent on the table's key and in no other way
 * (`lance-append-only`, `lance-deterministic-pk`). Writing again what is there commits nothing. Indexes are not folded here.
 */
import { assert } from "../model/errors.ts"
import { type AnyRow, arrowSchema, arrowTable } from "./arrow-rows.ts"
import type { Dataset } from "./dataset.ts"
import { and, type Filter, type FilterValue, filterText, isIn } from "./filter.ts"
import { keyValue, scanRows } from "./read.ts"

export interface Inserted<Row = AnyRow> {
  readonly inserted: number
  /** Rows that were there before, or stood twice in what was given. */
  readonly present: number
  /** The rows that were not there when they were looked up. Another writer may have been quicker for some. */
  readonly absent: readonly Row[]
}

export async function insertAbsent<Row extends AnyRow>(dataset: Dataset, rows: readonly Row[]): Promise<Inserted<Row>> {
  const { definition } = dataset
  const distinct = new Map(rows.map((row) => [keyText(definition.key, row), row] as const).reverse())
  for (const key of await presentKeys(dataset, [...distinct.values()])) distinct.delete(key)
  const absent = [...distinct.values()].reverse()
  if (absent.length === 0) return { inserted: 0, present: rows.length, absent }
  const table = await dataset.writable()
  const batch = arrowTable(definition, arrowSchema(definition), absent)
  const merged = await dataset.attempt(() =>
    table
      .mergeInsert([...definition.key])
      .whenNotMatchedInsertAll()
      .execute(batch as never),
  )
  return { inserted: merged.numInsertedRows, present: rows.length - merged.numInsertedRows, absent }
}

/** Only of rows that can be made again from other tables. */
export async function deleteWhere(dataset: Dataset, where: Filter): Promise<{ readonly deleted: number }> {
  assert(dataset.definition.derived === true, `rows of ${dataset.definition.name} are never deleted`)
  const table = await dataset.current()
  if (table === undefined) return { deleted: 0 }
  const filter = filterText(dataset.definition, where)
  const { numDeletedRows } = await dataset.attempt(() => table.delete(filter))
  return { deleted: numDeletedRows }
}

/** The lookup only makes the batch smaller: whether a key is new is decided by the merge, atomically. */
async function presentKeys(dataset: Dataset, rows: readonly AnyRow[]): Promise<readonly string[]> {
  const { key } = dataset.definition
  const filters = key.map((name) => isIn(name, [...new Set(rows.map((row) => keyValue(row, name)))]))
  const found = await scanRows(dataset, { columns: [...key], where: and(...filters) })
  return found.map((row) => keyText(key, row))
}

/** One string per key. Each text says its length, so that no two keys read the same. */
function keyText(key: readonly string[], row: AnyRow): string {
  return key.map((name) => part(keyValue(row, name))).join("")
}

function part(value: FilterValue): string {
  const text = String(value)
  return `${text.length}:${text}`
}
