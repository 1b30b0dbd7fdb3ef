/**
 * The read path (`lance-chokepoints-read`): every scan, count and search of a table is built here. Filters are always
 * applied before ranking (`search-prefilter-pushdown`), and rows that no index covers yet are always read too: the
 * engine's ways around both are not offered.
 */
import type { Query as LanceQuery, Table as LanceTable, VectorQuery as LanceVectorQuery } from "@lancedb/lancedb"
import type { RecordBatch } from "apache-arrow"
import { assert, PondError } from "../../model/errors.ts"
import type { Answer } from "../columns/answer.ts"
import { columnsOfAnswer, rowsOf } from "../columns/arrow-rows.ts"
import type { ColumnBatch } from "../columns/column-batch.ts"
import { and, eq, type Filter, type FilterValue, filterText, isIn, or } from "../filter.ts"
import type { Key, Order, VectorQuery } from "../table.ts"
import type { AnyRow, TableDefinition } from "../table-definition.ts"
import { allAnswers, answersOf } from "./answers.ts"
import type { Dataset, ReadInProgress } from "./dataset.ts"

export interface Scan {
  readonly columns: readonly string[]
  readonly where?: Filter
  readonly limit?: number
  readonly offset?: number
  readonly orderBy?: readonly Order[]
  readonly vector?: VectorQuery
  /** Given up after so long, in the engine too. */
  readonly withinMs?: number
}

const BATCH_ROWS = 4096

type AnyQuery = LanceQuery | LanceVectorQuery

/** What was handed out cannot be taken back: only a read that has given nothing yet is begun again. */
export async function* scanBatches(dataset: Dataset, scan: Scan): AsyncGenerator<AnyRow[]> {
  const read = await dataset.beginRead()
  if (read === undefined) return
  try {
    if (scan.limit === 0) return
    const { batches, first } = await dataset.attempt(async () => {
      const started = answersOf(buildQuery(dataset, read.table, readable(dataset, read, scan)))
      return { batches: started, first: await started.next() }
    })
    for (let next = first; next.done !== true; next = await dataset.once(() => batches.next())) {
      yield rowsOf(dataset.definition, next.value)
    }
  } finally {
    read.end()
  }
}

/** The same as columns: no value is made for a cell. */
export async function* scanColumns(dataset: Dataset, scan: Scan): AsyncGenerator<ColumnBatch> {
  const read = await dataset.beginRead()
  if (read === undefined) return
  try {
    for await (const answer of answersWithRetries(dataset, read.table, readable(dataset, read, scan))) {
      if (answer.numRows > 0) yield columnsOfAnswer(dataset.definition, answer, scan.columns)
    }
  } finally {
    read.end()
  }
}

export async function scanRows(dataset: Dataset, scan: Scan): Promise<AnyRow[]> {
  return (await readOnce(dataset, (table, read) => scanTable(dataset, table, readable(dataset, read, scan)))) ?? []
}

/** Nothing where the time was too short. */
export async function scanWithin(dataset: Dataset, scan: Scan, withinMs: number): Promise<AnyRow[] | undefined> {
  try {
    // The engine takes a whole number, and none for no limit.
    return await scanRows(dataset, { ...scan, withinMs: Math.max(1, Math.ceil(withinMs)) })
  } catch (error) {
    if (error instanceof PondError && error.details["failure"] === "late") return undefined
    throw error
  }
}

/** The same over the newest version, for a writer whose turn it is. */
export async function scanNewest(dataset: Dataset, scan: Scan): Promise<AnyRow[]> {
  const table = await dataset.newest()
  return table === undefined ? [] : await dataset.attempt(() => scanTable(dataset, table, scan))
}

/** The same by the batch, as columns. */
export async function* scanNewestColumns(dataset: Dataset, scan: Scan): AsyncGenerator<ColumnBatch> {
  const table = await dataset.newest()
  if (table === undefined) return
  for await (const answer of answersWithRetries(dataset, table, scan)) {
    if (answer.numRows > 0) yield columnsOfAnswer(dataset.definition, answer, scan.columns)
  }
}

/** As many as the newest version has, for a writer whose turn it is. */
export async function countNewest(dataset: Dataset): Promise<number> {
  const table = await dataset.newest()
  return table === undefined ? 0 : await dataset.attempt(() => table.countRows())
}

/**
 * The same without the rows of erased owners. Every read of the layers above goes through here; the lookups of a writer do
 * not, because a key that is stored must not be stored again.
 */
export function readable<Asked extends { readonly where?: Filter }>(
  { definition }: Pick<Dataset, "definition">,
  { erased }: Pick<ReadInProgress, "erased">,
  scan: Asked,
): Asked {
  const passing = erased.readableIn(definition)
  if (passing === undefined) return scan
  return { ...scan, where: scan.where === undefined ? passing : and(scan.where, passing) }
}

export async function scanTable(dataset: Dataset, table: LanceTable, scan: Scan): Promise<AnyRow[]> {
  if (scan.limit === 0) return []
  const { withinMs: timeoutMs } = scan
  const options = { maxBatchLength: BATCH_ROWS, ...(timeoutMs === undefined ? {} : { timeoutMs }) }
  const answers = await allAnswers(buildQuery(dataset, table, scan), options)
  return answers.flatMap((answer) => rowsOf(dataset.definition, answer))
}

export async function countRows(dataset: Dataset, where?: Filter): Promise<number> {
  const counted = await readOnce(dataset, (table, read) => {
    const { where: passing } = readable(dataset, read, where === undefined ? {} : { where })
    return table.countRows(passing && filterText(dataset.definition, passing))
  })
  return counted ?? 0
}

/** The engine's plan of a read, with what each step cost. Runs the read. */
export async function explainScan(dataset: Dataset, scan: Scan): Promise<string> {
  const plan = await readOnce(dataset, (table, read) =>
    buildQuery(dataset, table, readable(dataset, read, scan)).analyzePlan(),
  )
  return plan ?? "the table was never written"
}

/** One whole read of one version, which no clean-up takes away meanwhile. */
export async function readOnce<Result>(
  dataset: Dataset,
  work: (table: LanceTable, read: ReadInProgress) => Promise<Result>,
): Promise<Result | undefined> {
  const read = await dataset.beginRead()
  if (read === undefined) return undefined
  try {
    return await dataset.attempt(() => work(read.table, read))
  } finally {
    read.end()
  }
}

/** A filter for whole keys: the leading column once per group, so that its index narrows before the rest is read. */
export function keysFilter(dataset: Dataset, keys: readonly Key[]): Filter {
  const [leading, ...rest] = dataset.definition.key
  assert(leading !== undefined, "a table has a key")
  const values = keys.map((key) => keyValue(key, leading))
  const [second, ...others] = rest
  if (second === undefined) return isIn(leading, values)
  const groups = Map.groupBy(keys, (key) => keyValue(key, leading))
  return or(
    ...[...groups].map(([value, group]) => {
      if (others.length === 0)
        return and(
          eq(leading, value),
          isIn(
            second,
            group.map((key) => keyValue(key, second)),
          ),
        )
      return and(
        eq(leading, value),
        or(...group.map((key) => and(...rest.map((name) => eq(name, keyValue(key, name)))))),
      )
    }),
  )
}

export function keyValue(key: Readonly<Record<string, unknown>>, name: string): FilterValue {
  const value = key[name]
  assert(value !== undefined && value !== null, `a key has a value for ${name}`)
  return value as FilterValue
}

/** The bytes of a blob column, with the scanned columns of their rows. */
export async function readBlobs(dataset: Dataset, column: string, scan: Scan): Promise<AnyRow[]> {
  const found = await readOnce(dataset, async (table) => {
    const answers = await allAnswers(buildQuery(dataset, table, scan).withRowId())
    const rows = answers.flatMap((answer) => rowsOf(dataset.definition, answer))
    const rowIds = rows.map((row) => row["_rowid"] as bigint)
    const bytes = await table.fetchBlobs(column, rowIds)
    return rows.map(({ _rowid, ...row }, index) => ({ ...row, [column]: bytes[index] ?? null }))
  })
  return found ?? []
}

/** Every row of a version, with its blobs. */
export async function* completeRows(definition: TableDefinition, table: LanceTable): AsyncGenerator<AnyRow[]> {
  const blobs = Object.keys(definition.columns).filter((name) => definition.columns[name]?.kind === "blob")
  for await (const answer of answersOf(table.query().withRowId())) {
    const rows = rowsOf(definition, answer)
    const rowIds = rows.map((row) => row["_rowid"] as bigint)
    const bytes = await Promise.all(blobs.map((column) => table.fetchBlobs(column, rowIds)))
    yield rows.map(({ _rowid, ...row }, index) => {
      const own = blobs.map((column, at) => [column, bytes[at]?.[index] ?? null])
      return { ...row, ...Object.fromEntries(own) }
    })
  }
}

/** The batches of a read of this very handle, which its caller keeps, for what writes them again by Arrow's library. */
export async function* batchesOf(dataset: Dataset, table: LanceTable, scan: Scan): AsyncGenerator<RecordBatch> {
  const { batches, first } = await dataset.attempt(async () => {
    const started = execute(buildQuery(dataset, table, scan))
    return { batches: started, first: await started.next() }
  })
  for (let next = first; next.done !== true; next = await dataset.once(() => batches.next())) {
    yield next.value as RecordBatch
  }
}

/** The same, read without it. */
async function* answersWithRetries(dataset: Dataset, table: LanceTable, scan: Scan): AsyncGenerator<Answer> {
  const { answers, first } = await dataset.attempt(async () => {
    const started = answersOf(buildQuery(dataset, table, scan), { maxBatchLength: BATCH_ROWS })
    return { answers: started, first: await started.next() }
  })
  for (let next = first; next.done !== true; next = await dataset.once(() => answers.next())) yield next.value
}

/** The engine reads several batches ahead, and its own are of twice as many rows. Its declaration hides the call that says so. */
function execute(query: AnyQuery): AsyncIterator<unknown> {
  const { execute: run } = query as unknown as {
    readonly execute: (options: { readonly maxBatchLength: number }) => AsyncIterator<unknown>
  }
  return run.call(query, { maxBatchLength: BATCH_ROWS })
}

/** The count, and the bytes, of such a handle. */
export async function countOf(dataset: Dataset, table: LanceTable, where?: Filter): Promise<number> {
  const filter = where === undefined ? undefined : filterText(dataset.definition, where)
  return await dataset.attempt(() => table.countRows(filter))
}

export async function bytesOf(dataset: Dataset, table: LanceTable, column: string, rowIds: readonly bigint[]) {
  return await dataset.attempt(() => table.fetchBlobs(column, [...rowIds]))
}

function buildQuery(dataset: Dataset, table: LanceTable, scan: Scan): AnyQuery {
  const query = scan.vector === undefined ? table.query() : vectorQuery(table, scan.vector)
  query.select([...scan.columns, ...(scan.vector ? ["_distance"] : [])])
  if (scan.where !== undefined) query.where(filterText(dataset.definition, scan.where))
  if (scan.orderBy !== undefined) {
    query.orderBy(
      scan.orderBy.map(({ column, descending }) => ({
        columnName: column,
        ascending: descending !== true,
        nullsFirst: false,
      })),
    )
  }
  if (scan.limit !== undefined) query.limit(scan.limit)
  if (scan.offset !== undefined) query.offset(scan.offset)
  return query
}

/** A fixed number of probes would starve a selective filter: the engine may go on until it has enough rows. */
function vectorQuery(table: LanceTable, search: VectorQuery): LanceVectorQuery {
  const query = table.query().nearestTo(search.vector).column(search.column).distanceType(search.distance)
  if (search.exact === true) return query.bypassVectorIndex()
  query.minimumNprobes(search.probesMin ?? 20).maximumNprobes(0)
  return query.refineFactor(search.refine ?? 10)
}
