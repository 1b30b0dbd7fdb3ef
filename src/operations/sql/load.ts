/** Reads what a plan asks for and fills the tables of a sandbox with it, a chunk at a time. Counts what it read. */
import { PondError } from "../../model/errors.ts"
import { and, type Filter, isIn, or } from "../../substrate/filter.ts"
import { typeOf } from "./engine/preparation.ts"
import type { PlannedRead } from "./plan.ts"
import { columnsOf, FOUND_TABLE, type QueryColumn } from "./query-tables.ts"
import type { Sandbox } from "./sandbox.ts"
import { findRows, SOURCES, type Source, type SourceRow, type Stored } from "./sources.ts"

/** What was read for a query: the proof that no more was. */
export interface TableRead {
  readonly table: string
  readonly columns: string[]
  readonly rows: number
  readonly filtered: boolean
}

export interface Loading extends Stored {
  readonly sandbox: Sandbox
}

/** Of more different values than this the store is not asked one by one. */
const JOIN_VALUES_MAX = 2000
/** Bytes of text that one query may bring into the sandbox, on disk what does not fit into memory. */
const READ_UNITS_MAX = 4_000_000_000

export async function loadTables(loading: Loading, reads: readonly PlannedRead[]): Promise<TableRead[]> {
  const done: TableRead[] = []
  for (const read of reads.toSorted((left, right) => rankOf(left) - rankOf(right))) {
    const loaded = new Set(done.map(({ table }) => table))
    done.push(await loadTable(loading, readWhole(await narrowed(loading, read, loaded))))
  }
  return done
}

function readWhole(read: PlannedRead): PlannedRead {
  const isWhole = SOURCES.some(({ name, isReadWhole }) => name === read.table && isReadWhole === true)
  return isWhole ? { ...read, where: undefined, limit: undefined, orderBy: [], isCounted: false, extremes: [] } : read
}

/** What is found by words or a filter comes first: what it is joined with need not be read whole. */
function rankOf({ table, where, limit }: PlannedRead): number {
  if (table === FOUND_TABLE) return 0
  if (limit !== undefined) return 1
  const size = SOURCES.findIndex(({ name }) => name === table)
  return (where === undefined ? 20 : 10) + size
}

async function narrowed(loading: Loading, read: PlannedRead, loaded: ReadonlySet<string>): Promise<PlannedRead> {
  if (read.limit !== undefined || read.table === FOUND_TABLE) return read
  const filters: Filter[] = []
  for (const { column, table, tableColumn } of read.joins) {
    if (!loaded.has(table)) continue
    const values = await distinctValues(loading.sandbox, table, tableColumn)
    if (values !== undefined) filters.push(isIn(column, values))
  }
  if (filters.length === 0) return read
  return { ...read, where: and(...(read.where === undefined ? [] : [read.where]), ...filters) }
}

async function distinctValues(sandbox: Sandbox, table: string, column: string) {
  const asked = `select distinct "${column}" from ${table} where "${column}" is not null limit ${JOIN_VALUES_MAX + 1}`
  const values = (await sandbox.rows(asked)).map(([value]) => value)
  const areTexts = values.every((value) => typeof value === "string")
  return values.length > JOIN_VALUES_MAX || !areTexts ? undefined : (values as string[])
}

async function loadTable(loading: Loading, read: PlannedRead): Promise<TableRead> {
  const { table, columns, where } = read
  const all = columnsOf(table)
  const used = all.filter(({ name }) => columns.includes(name))
  const of = { table, columns: used.map(({ name }) => name), filtered: where !== undefined }
  const source = SOURCES.find(({ name }) => name === table)
  if (source !== undefined && used.length === 0) {
    const count = Math.min(await source.count(loading, where), read.limit ?? Number.POSITIVE_INFINITY)
    await replaceTable(loading.sandbox, table, used, `select null as filler from range(${count})`)
    return { ...of, rows: count }
  }
  await replaceTable(loading.sandbox, table, used)
  if (source === undefined)
    return { ...of, rows: await append(loading, readName(table), used, foundBatches(loading, read)) }
  const rows = await append(
    loading,
    readName(table),
    used,
    storedBatches(loading, source, { ...read, columns: of.columns }),
  )
  if (read.isCounted && read.limit === undefined) await repeat(loading, read, source)
  return { ...of, rows }
}

/** The rows that a query can need: all of them, those with the ends of its columns, or one for the number of all. */
async function* storedBatches(
  stored: Loading,
  source: Source,
  { columns, where, limit, orderBy, isCounted, extremes }: PlannedRead,
): AsyncGenerator<readonly SourceRow[]> {
  if (limit === undefined && isCounted) {
    yield* firstOf(source.rows(stored, { columns, where, limit: 1, orderBy: [] }))
    return
  }
  if (limit !== undefined || extremes.length === 0) {
    yield* source.rows(stored, { columns, where, limit, orderBy })
    return
  }
  for (const order of extremes) yield* source.rows(stored, { columns, where, limit: 1, orderBy: [order] })
}

/** A source of several tables gives a row of each. */
async function* firstOf(batches: AsyncIterable<readonly SourceRow[]>): AsyncGenerator<readonly SourceRow[]> {
  for await (const batch of batches) {
    if (batch.length === 0) continue
    yield batch.slice(0, 1)
    return
  }
}

/** As often as the store counts them: nothing of these rows but their number is asked for. */
async function repeat(loading: Loading, { table, where }: PlannedRead, source: Source): Promise<void> {
  const { sandbox } = loading
  const count = await source.count(loading, where)
  const name = readName(table)
  const more = `insert into ${name} select first.* from (select * from ${name} limit 1) first, range(${Math.max(0, count - 1)})`
  await sandbox.run(more)
}

const readName = (table: string) => `${table}_read`

/** Under the name of the table then stands what is read of it; a column that no part of the query looks at is empty. */
async function replaceTable(
  sandbox: Sandbox,
  table: string,
  used: readonly QueryColumn[],
  rows = `select ${used.map(({ name }) => `"${name}"`).join(", ")} from ${table} limit 0`,
): Promise<void> {
  const shown = columnsOf(table).map((column) =>
    used.includes(column) ? `"${column.name}"` : `null::${typeOf(column)} as "${column.name}"`,
  )
  for (const statement of [
    `create table ${readName(table)} as ${rows}`,
    `drop table ${table}`,
    `create view ${table} as select ${shown.join(", ")} from ${readName(table)}`,
  ]) {
    await sandbox.run(statement)
  }
}

async function* foundBatches(loading: Loading, { columns, where }: PlannedRead): AsyncGenerator<readonly SourceRow[]> {
  const asked = (where?.op === "or" ? where.filters : [where]).map(splitFound)
  for (const [query, same] of Map.groupBy(asked, (each) => each.query)) {
    const filters = same.flatMap(({ rest }) => (rest.length === 0 ? [] : [and(...rest)]))
    // The same words twice are found once: the rows that either of the two may need.
    yield await findRows(loading.sessions, query, columns, filters.length < same.length ? undefined : or(...filters))
  }
}

/** The macro says its arguments as conditions on two columns that no message has. */
function splitFound(where: Filter | undefined): { readonly query: string; readonly rest: readonly Filter[] } {
  const parts = conjuncts(where)
  const argument = (column: string): unknown =>
    parts.flatMap((part) => (part.op === "eq" && part.column === column ? [part.value] : [])).at(0)
  const query = argument("fts_query")
  if (argument("fts_source") !== "messages" || typeof query !== "string") {
    throw new PondError(
      "validation_failed",
      "fts takes two string literals: fts('messages', 'the words'). Only messages can be searched.",
    )
  }
  return { query, rest: parts.filter((part) => !("column" in part) || !part.column.startsWith("fts_")) }
}

function conjuncts(where: Filter | undefined): readonly Filter[] {
  if (where === undefined) return []
  return where.op === "and" ? where.filters.flatMap(conjuncts) : [where]
}

// --- Appending ------------------------------------------------------------------------------------------------------

async function append(
  { sandbox, signal }: Loading,
  table: string,
  used: readonly QueryColumn[],
  batches: AsyncIterable<readonly SourceRow[]>,
): Promise<number> {
  const appender = await sandbox.appender(table, used)
  let rows = 0
  let units = 0
  for await (const batch of batches) {
    signal.throwIfAborted()
    units += await appender.add(batch)
    if (units > READ_UNITS_MAX) throw tooMuch(table)
    rows += batch.length
  }
  await appender.end()
  return rows
}

function tooMuch(table: string): PondError {
  return new PondError(
    "validation_failed",
    `The query reads more than ${READ_UNITS_MAX} characters of ${table}. Narrow it with WHERE, or select fewer columns.`,
    { details: { table } },
  )
}
