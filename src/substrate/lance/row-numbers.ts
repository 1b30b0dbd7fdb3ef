/**
 * Rows by their number. The engine numbers rows as they are written and a row keeps its number through every rewrite, so
 * that what is derived from a table can name rows by eight bytes and know what came after them.
 */
import type { Table as LanceTable } from "@lancedb/lancedb"
import type { RecordBatch } from "apache-arrow"
import { type AnswerColumn, columnNamed, hasValue } from "../columns/answer.ts"
import { columnsOfAnswer, rowsOf } from "../columns/arrow-rows.ts"
import { originalText } from "../columns/surrogate-escape.ts"
import { filterText } from "../filter.ts"
import { newestVersionOf } from "../local/local-table.ts"
import { rowsOfManifest } from "../local/manifest-edit.ts"
import type { NumberedRows, NumberRange, TakeOptions } from "../table.ts"
import type { AnyRow } from "../table-definition.ts"
import { allAnswers, answersOf } from "./answers.ts"
import type { Dataset } from "./dataset.ts"
import { readable, readOnce } from "./read.ts"

export const ROW = "_rowid"

const NO_TEXT = { bytes: new Uint8Array(), offsets: new Int32Array(), at: () => null }

/** The engine's answers for rows of an open table, by their numbers. */
export function readNumbered(table: LanceTable, rows: readonly number[], columns: readonly string[]) {
  return allAnswers(table.takeRowIds([...rows]).select([...columns]))
}

export async function takeByNumber(
  dataset: Dataset,
  rows: readonly number[],
  columns: readonly string[],
  { withErased = false }: TakeOptions = {},
): Promise<AnyRow[]> {
  if (rows.length === 0) return []
  const { definition } = dataset
  const owner = definition.key[0] as string
  const taken = await readOnce(dataset, async (table, { erased }) => {
    const isEachRead = withErased || erased.readableIn(definition) === undefined
    const asked = [...new Set([...columns, ...(isEachRead ? [] : [owner]), ROW])]
    const answers = await readNumbered(table, rows, asked)
    const found = answers.flatMap((answer) => rowsOf(definition, answer))
    return isEachRead ? found : found.filter((row) => !erased.has(String(row[owner])))
  })
  for (const row of (taken ?? []) as Record<string, unknown>[]) row["row"] = Number(row[ROW])
  return taken ?? []
}

/**
 * So many rows are taken by their numbers: a bound makes the engine look at the numbers of all rows first, 15 ms of processor
 * time beside 100,000 rows where taking 30 costs one.
 */
const TAKEN_ROWS_MAX = 5_000

/** The numbers of a narrow range; nothing where it is a wide one. */
async function fewNumbers(dataset: Dataset, from: number, to: number | undefined): Promise<number[] | undefined> {
  const end = Math.min(to ?? Number.POSITIVE_INFINITY, await nextRowNumberOf(dataset))
  if (end - from > TAKEN_ROWS_MAX) return undefined
  return Array.from({ length: Math.max(0, end - from) }, (_, place) => from + place)
}

export async function* scanByNumber(dataset: Dataset, request: NumberRange): AsyncGenerator<NumberedRows> {
  const read = await dataset.beginRead()
  if (read === undefined) return
  const { from, to, columns, text, where, withErased = false } = request
  // A filter makes the engine look at all rows first and read their columns apart: all rows are asked for without one.
  const asked = where === undefined ? {} : { where }
  const { where: passing } = withErased ? asked : readable(dataset, read, asked)
  const selected = [...columns, ...(text === undefined ? [] : [text])]
  const bounds = [...(from === 0 ? [] : [`${ROW} >= ${from}`]), ...(to === undefined ? [] : [`${ROW} < ${to}`])]
  if (passing !== undefined) bounds.push(filterText(dataset.definition, passing))
  const scanned = (table: LanceTable) => {
    const query = table.query()
    if (bounds.length > 0) query.where(bounds.join(" AND "))
    return query.select(selected).withRowId()
  }
  try {
    const isBounded = passing === undefined && bounds.length > 0
    const few = isBounded ? await fewNumbers(dataset, from, to) : undefined
    if (few?.length === 0) return
    const { batches, first } = await dataset.attempt(async () => {
      const taken = () => read.table.takeRowIds(few as number[]).select([...selected, ROW])
      const started = answersOf(few === undefined ? scanned(read.table) : taken())
      return { batches: started, first: await started.next() }
    })
    for (let next = first; next.done !== true; next = await dataset.once(() => batches.next())) {
      const answer = next.value
      const own = columns.map((name) => columnNamed(answer, name))
      yield {
        get rows() {
          return rowsOf(dataset.definition, { numRows: answer.numRows, names: columns, columns: own })
        },
        numbers: numbersOf(columnNamed(answer, ROW).values as BigUint64Array, answer.numRows),
        text: text === undefined ? NO_TEXT : textColumnReader(columnNamed(answer, text)),
        columns: () => columnsOfAnswer(dataset.definition, answer, selected),
      }
    }
  } finally {
    read.end()
  }
}

/** Rows from a number on, with their numbers, as the engine gives them. */
export function batchesFrom(table: LanceTable, from: number, columns: readonly string[]): AsyncIterable<RecordBatch> {
  const query = table
    .query()
    .select([...columns])
    .withRowId()
  return (from === 0 ? query : query.where(`${ROW} >= ${from}`)) as never
}

/** The same of those numbers. */
export async function batchesOfNumbers(
  table: LanceTable,
  numbers: readonly number[],
  columns: readonly string[],
): Promise<readonly RecordBatch[]> {
  const taken = table.takeRowIds([...numbers]).select([...columns, ROW])
  return (await taken.toArrow()).batches as never
}

function numbersOf(ids: BigUint64Array, count: number): number[] {
  const numbers = new Array<number>(count)
  for (let at = 0; at < count; at++) numbers[at] = Number(ids[at])
  return numbers
}

function textColumnReader(data: AnswerColumn): NumberedRows["text"] {
  const bytes = data.values as Uint8Array
  const offsets = data.valueOffsets as Int32Array
  const stored = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const at = (index: number) =>
    hasValue(data, index) ? originalText(stored.toString("utf8", offsets[index], offsets[index + 1])) : null
  return { bytes, offsets, at }
}

/**
 * The number that the next row gets. That is how many rows there are, unless some were purged, or two machines made the
 * table of a bucket at once: then one has overwritten the other's, and the rows begin at a higher number.
 */
export async function nextRowNumberOf(dataset: Dataset): Promise<number> {
  const known = await dataset.version()
  if (known !== undefined && dataset.reach?.version === known) return dataset.reach.rows
  const reach = await readOnce(dataset, async (table) => {
    const version = await table.version()
    dataset.reach = { version, rows: (await recordedReach(dataset, version)) ?? (await highestOf(table)) }
    return dataset.reach.rows
  })
  return reach ?? 0
}

/** The manifest says it. Rows that damage has cost leave a gap that counting would not see. */
async function recordedReach({ local }: Dataset, version: number): Promise<number | undefined> {
  const recorded = await local?.recorded()
  return recorded?.version === BigInt(version) ? rowsOfManifest(recorded.bytes).next : undefined
}

async function highestOf(table: LanceTable): Promise<number> {
  const count = await table.countRows()
  let highest = count - 1
  const beyond = table.query().where(`${ROW} >= ${count}`).select([ROW]).withRowId()
  for await (const answer of answersOf(beyond))
    for (const row of columnNamed(answer, ROW).values as BigUint64Array) highest = Math.max(highest, Number(row))
  return highest + 1
}

export async function versionOf(dataset: Dataset): Promise<number | undefined> {
  return await dataset.version()
}

/** On a local disk the names of its manifests say it, and the engine need not be loaded. */
export async function lastCommitOf(dataset: Dataset): Promise<string | undefined> {
  const { local } = dataset
  const version = local === undefined ? await versionOf(dataset) : await newestVersionOf(local)
  return version?.toString()
}
