/**
 * Rows are written anew, as they are, and rows leave a table: for a purge alone (`lance-append-only`). Part of the write
 * path (`lance-chokepoints-write`). A row keeps its number and every value; only the file that it lies in is another.
 */
import type { Table as LanceTable } from "@lancedb/lancedb"
import { between } from "../../platform/memory.ts"
import { columnNamed } from "../columns/answer.ts"
import { rowsOf } from "../columns/arrow-rows.ts"
import { tableOfBatches } from "../columns/row-batch.ts"
import { type Filter, filterText, not, or, stored } from "../filter.ts"
import type { Key } from "../table.ts"
import type { TableDefinition } from "../table-definition.ts"
import { allAnswers, answersOf } from "./answers.ts"
import type { Dataset } from "./dataset.ts"
import { keysFilter } from "./read.ts"
import { blobBatches, blobColumns } from "./snapshot.ts"

/** Writes what stays of the files that hold such rows into new ones. Of a derived table all: rows may lie deleted in any. */
export async function moveNeighbours(dataset: Dataset, table: LanceTable, gone: Filter): Promise<number> {
  const { definition, attempt } = dataset
  const searched = definition.derived === true ? undefined : filterText(definition, gone)
  const fragments = await attempt(() => fragmentsOf(table, searched))
  let moved = 0
  for (const fragment of fragments) {
    const stays = `${addressesOf(fragment)} AND ${filterText(definition, not(gone))}`
    moved +=
      blobColumns(definition).length > 0
        ? await moveWithBlobs(dataset, table, stays)
        : await attempt(
            async () => (await table.update({ where: stays, valuesSql: unchanged(definition) })).rowsUpdated,
          )
    between("commits")
  }
  return moved
}

/** The upper half of the address of a row is the number of its fragment. */
async function fragmentsOf(table: LanceTable, where: string | undefined): Promise<readonly bigint[]> {
  const query = table.query().select(["_rowaddr"])
  if (where !== undefined) query.where(where)
  const found = new Set<bigint>()
  for await (const batch of query) for (const address of batch.getChild("_rowaddr") ?? []) found.add(address >> 32n)
  return [...found]
}

function addressesOf(fragment: bigint): string {
  return `_rowaddr >= ${fragment << 32n} AND _rowaddr < ${(fragment + 1n) << 32n}`
}

/** An update has to name a column. */
function unchanged({ key }: TableDefinition): Record<string, string> {
  const [first = ""] = key
  return { [first]: `\`${first}\`` }
}

const KEYS_AT_ONCE = 500

/** The engine updates no row that has a blob: such rows are written again by their keys, a few megabytes at a time. */
async function moveWithBlobs(dataset: Dataset, table: LanceTable, where: string): Promise<number> {
  const { definition, attempt } = dataset
  const keys: Key[] = []
  const keysStored = table
    .query()
    .where(where)
    .select([...definition.key])
  for await (const answer of answersOf(keysStored)) keys.push(...(rowsOf(definition, answer) as Key[]))
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) {
    const some = keysFilter(dataset, keys.slice(from, from + KEYS_AT_ONCE))
    for await (const batch of blobBatches(dataset, table, some)) {
      const rewrite = () =>
        table
          .mergeInsert([...definition.key])
          .useIndex(false)
          .whenMatchedUpdateAll()
          .execute(tableOfBatches(definition, [batch]) as never)
      await attempt(rewrite)
      between("commits")
    }
  }
  return keys.length
}

// --- Removing ----------------------------------------------------------------------------------------------------------

const RANGES_AT_ONCE = 500

/** By the numbers of the rows, because the newest version keeps the filter of the last deletion, in plain text. */
export async function deleteByNumber(
  { definition, attempt }: Dataset,
  table: LanceTable,
  gone: Filter,
): Promise<number> {
  const found = await attempt(() => allAnswers(table.query().where(filterText(definition, gone)).select(["_rowid"])))
  const numbers = found.flatMap((answer) => Array.from(columnNamed(answer, "_rowid").values as BigUint64Array, Number))
  const ranges = rangesOf(numbers)
  let removed = 0
  for (let from = 0; from < ranges.length; from += RANGES_AT_ONCE) {
    const some = or(...ranges.slice(from, from + RANGES_AT_ONCE).map(([first, end]) => stored(first, end)))
    removed += (await attempt(() => table.delete(filterText(definition, some)))).numDeletedRows
  }
  return removed
}

/** The number of the first row of each run, and the one behind its last. Rows of one owner mostly stand together. */
function rangesOf(numbers: readonly number[]): readonly (readonly [first: number, end: number])[] {
  const ranges: [number, number][] = []
  for (const number of numbers.toSorted((one, other) => one - other)) {
    const last = ranges.at(-1)
    if (last?.[1] === number) last[1] += 1
    else ranges.push([number, number + 1])
  }
  return ranges
}

/** Whose rows these are: of most tables the sessions. */
export async function ownersAmong({ definition, attempt }: Dataset, table: LanceTable, gone: Filter) {
  const [owner = ""] = definition.key
  const found = await attempt(() => allAnswers(table.query().where(filterText(definition, gone)).select([owner])))
  return new Set(found.flatMap((answer) => rowsOf(definition, answer).map((row) => String(row[owner]))))
}
