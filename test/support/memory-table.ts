/** A table of the store in memory (`memory-store.ts`): reads, writes and maintenance over rows in an array. */
import { assert } from "../../src/model/errors.ts"
import { type ColumnBatch, columnsOf, rowsOfColumns } from "../../src/substrate/columns/column-batch.ts"
import { batchOfRows, type RowBatch, rowsOfBatch } from "../../src/substrate/columns/row-batch.ts"
import { originalText } from "../../src/substrate/columns/surrogate-escape.ts"
import { and, type Filter } from "../../src/substrate/filter.ts"
import { type Effort, planMaintenance } from "../../src/substrate/maintain/maintenance-plan.ts"
import type {
  Inserted,
  Key,
  MaintenanceReport,
  NumberedRows,
  NumberRange,
  Order,
  Table,
  TableStatistics,
  TakeOptions,
  VectorQuery,
} from "../../src/substrate/table.ts"
import {
  type AnyRow,
  type Column,
  type Columns,
  indexName,
  refuseNewerSchema,
  type TableDefinition,
} from "../../src/substrate/table-definition.ts"
import { type ErasedOwners, NOTHING_ERASED } from "../../src/substrate/tombstones.ts"
import { erasedIn } from "./memory-erased.ts"
import { type NumberedRow, predicateOf } from "./memory-filter.ts"
import { nearest, sortRows } from "./memory-order.ts"

// --- What is stored --------------------------------------------------------------------------------------------------

export interface MemoryTable {
  readonly name: string
  readonly schemaVersion: number
  /** In the order of storing. Replaced and never changed, so that who holds it holds a snapshot. */
  rows: readonly NumberedRow[]
  readonly byKey: Map<string, NumberedRow>
  nextNumber: number
  version: number
  /** What maintenance has done, as far as its plan asks: rows of each index, and commits since the last compaction. */
  readonly indexedRows: Map<string, number>
  fragments: number
}

/** What several handles of one store share, as processes share a directory. */
export interface MemoryDisk {
  readonly id: string
  readonly folders: Map<string, Map<string, MemoryTable>>
  readonly staging: Set<string>
  /** The end of the queue of each folder. */
  readonly writing: Map<string, Promise<unknown>>
}

export function createMemoryDisk(): MemoryDisk {
  return { id: crypto.randomUUID(), folders: new Map(), staging: new Set(), writing: new Map() }
}

export function tablesIn(disk: MemoryDisk, folder: string): Map<string, MemoryTable> {
  const tables = disk.folders.get(folder) ?? new Map<string, MemoryTable>()
  disk.folders.set(folder, tables)
  return tables
}

// --- Table -----------------------------------------------------------------------------------------------------------

interface Scan {
  readonly columns: readonly string[]
  readonly where?: Filter
  readonly limit?: number
  readonly offset?: number
  readonly orderBy?: readonly Order[]
  readonly vector?: VectorQuery
}

/** One handle. `find` gives the table as it is now; every method answers in a later turn, as an engine does. */
interface Handle {
  readonly definition: TableDefinition
  /** Of an erasable table. */
  erased(): Promise<ErasedOwners>
  find(): Promise<MemoryTable | undefined>
  /** The same in this turn, made where it is not there. */
  findOrCreate(): MemoryTable
}

export function tableOf<C extends Columns>(disk: MemoryDisk, folder: string, typed: TableDefinition<C>): Table<C> {
  const definition = typed as unknown as TableDefinition
  const handle: Handle = {
    definition,
    erased: () => (definition.erasable === true ? erasedIn(disk.folders.get(folder)) : Promise.resolve(NOTHING_ERASED)),
    find: async () => {
      const found = await Promise.resolve(disk.folders.get(folder)?.get(definition.name))
      if (found !== undefined) refuseNewerSchema(found.schemaVersion, definition, "memory")
      return found
    },
    findOrCreate: () => {
      const tables = tablesIn(disk, folder)
      const table = tables.get(definition.name) ?? emptyTable(definition)
      tables.set(definition.name, table)
      return table
    },
  }
  return {
    definition: typed,
    read: (request) => read(handle, request) as never,
    readWithin: (_withinMs, request) => read(handle, request) as never,
    batches: (request) => readBatches(handle, request) as never,
    columnBatches: (request) => readColumns(handle, request),
    count: async (where) => (await rowsWhere(handle, where)).length,
    perhapsThere: (column, values) => valuesThere(handle, column, values),
    takeByKey: (keys, columns) => takeByKey(handle, keys, columns) as never,
    takeByNumber: (numbers, columns, options) => takeByNumber(handle, numbers, columns, options) as never,
    scanByNumber: (request) => scanByNumber(handle, request) as never,
    erased: () => handle.erased(),
    nextRowNumber: async () => (await handle.find())?.nextNumber ?? 0,
    version: async () => (await handle.find())?.version,
    lastCommit: async () => (await handle.find())?.version.toString(),
    searchVector: (vector, request) => read(handle, { ...request, vector }) as never,
    readBlobs: (column, request) => readBlobs(handle, column, request) as never,
    explain: async (request) => `memory: ${(await read(handle, request)).length} rows`,
    insertAbsent: (rows) => insertAbsent(handle, rows as readonly AnyRow[]) as never,
    insertColumns: (batches) => insertColumns(handle, batches),
    insertBatches: (batches, isTaken) => insertBatches(handle, batches, isTaken),
    snapshot: () => beginSnapshot(handle) as never,
    deleteWhere: (where) => deleteWhere(handle, where),
    purge: (where) => purge(handle, where),
    maintain: (effort) => maintain(handle, effort),
    isWhole: () => Promise.resolve(true),
    statistics: async () => {
      const table = await handle.find()
      return table && statisticsOf(definition, table)
    },
  }
}

function emptyTable({ name, schemaVersion }: TableDefinition): MemoryTable {
  return {
    name,
    schemaVersion,
    rows: [],
    byKey: new Map(),
    nextNumber: 0,
    version: 1,
    indexedRows: new Map(),
    fragments: 0,
  }
}

// --- Reading ---------------------------------------------------------------------------------------------------------

const BATCH_ROWS = 4096

async function rowsWhere(handle: Handle, where: Filter | undefined): Promise<readonly NumberedRow[]> {
  const passes = predicateOf(handle.definition, await readable(handle, where))
  return (await handle.find())?.rows.filter(passes) ?? []
}

async function readable(handle: Handle, where: Filter | undefined): Promise<Filter | undefined> {
  const passing = (await handle.erased()).readableIn(handle.definition)
  return passing === undefined || where === undefined ? (where ?? passing) : and(where, passing)
}

/** The rows of a request in its order, before values are copied out. */
async function scan(handle: Handle, request: Scan): Promise<readonly (NumberedRow & { readonly distance?: number })[]> {
  const { where, orderBy, offset = 0, limit = Number.POSITIVE_INFINITY, vector } = request
  const found = await rowsWhere(handle, where)
  const ordered = vector === undefined ? sortRows(found, orderBy) : nearest(found, vector)
  return offset === 0 && limit >= ordered.length ? ordered : ordered.slice(offset, offset + limit)
}

async function read(handle: Handle, request: Scan): Promise<AnyRow[]> {
  const { columns } = handle.definition
  return (await scan(handle, request)).map(({ values, distance }) => ({
    ...pick(columns, values, request.columns),
    ...(distance === undefined ? {} : { _distance: distance }),
  }))
}

async function* readBatches(handle: Handle, request: Scan): AsyncGenerator<AnyRow[]> {
  for (const group of groupsOf(await read(handle, request), BATCH_ROWS)) yield group
}

async function* readColumns(handle: Handle, request: Scan): AsyncGenerator<ColumnBatch> {
  for await (const rows of readBatches(handle, request)) yield columnsOf(handle.definition, rows, request.columns)
}

async function readBlobs(handle: Handle, column: string, request: Scan): Promise<AnyRow[]> {
  const { columns } = handle.definition
  return (await scan(handle, request)).map(({ values }) => pick(columns, values, [...request.columns, column]))
}

async function takeByKey(handle: Handle, keys: readonly Key[], columns: readonly string[]): Promise<AnyRow[]> {
  const table = await handle.find()
  const wanted = new Set(keys.map((key) => keyText(handle.definition.key, key)))
  const passes = predicateOf(handle.definition, await readable(handle, undefined))
  const found = [...wanted].flatMap((text) => table?.byKey.get(text) ?? []).filter(passes)
  return found.map(({ values }) => pick(handle.definition.columns, values, columns))
}

async function takeByNumber(
  handle: Handle,
  numbers: readonly number[],
  columns: readonly string[],
  { withErased = false }: TakeOptions = {},
): Promise<AnyRow[]> {
  const passes = predicateOf(handle.definition, withErased ? undefined : await readable(handle, undefined))
  const rows = (await handle.find())?.rows ?? []
  return [...new Set(numbers)].flatMap((number) => {
    const found = rowOfNumber(rows, number)
    return found === undefined || !passes(found)
      ? []
      : [{ ...pick(handle.definition.columns, found.values, columns), row: number }]
  })
}

/** Binary search: numbers rise. */
function rowOfNumber(rows: readonly NumberedRow[], number: number): NumberedRow | undefined {
  let [from, to] = [0, rows.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((rows[middle]?.number ?? 0) < number) from = middle + 1
    else to = middle
  }
  return rows[from]?.number === number ? rows[from] : undefined
}

async function* scanByNumber(handle: Handle, request: NumberRange): AsyncGenerator<NumberedRows> {
  const { definition } = handle
  const { from, to = Number.POSITIVE_INFINITY, columns, text, where, withErased = false } = request
  const passes = predicateOf(definition, withErased ? where : await readable(handle, where))
  const table = await handle.find()
  const found = table?.rows.filter((row) => row.number >= from && row.number < to && passes(row)) ?? []
  for (const group of groupsOf(found, BATCH_ROWS)) {
    const values = group.map((row) => row.values)
    yield {
      get rows() {
        return values.map((each) => pick(definition.columns, each, columns))
      },
      numbers: group.map(({ number }) => number),
      text: storedTexts(definition, values, text),
      columns: () => columnsOf(definition, values, text === undefined ? columns : [...columns, text]),
    }
  }
}

function storedTexts(definition: TableDefinition, values: readonly AnyRow[], name: string | undefined) {
  if (name === undefined) return { bytes: new Uint8Array(), offsets: new Int32Array(), at: () => null }
  const column = columnsOf(definition, values, [name]).columns[name]
  assert(column?.offsets !== undefined, `${name} is a column of texts`)
  const { offsets, nulls } = column
  const bytes = column.data as Uint8Array
  const stored = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const at = (index: number) =>
    nulls?.[index] ? null : originalText(stored.toString("utf8", offsets[index], offsets[index + 1]))
  return { bytes, offsets, at }
}

async function valuesThere(handle: Handle, column: string, values: readonly string[]): Promise<readonly string[]> {
  const { key, name } = handle.definition
  assert(key.includes(column), `of ${name} what stands in ${column} is not kept: it is not part of the key`)
  const there = new Set((await handle.find())?.rows.map((row) => row.values[column]))
  return values.filter((value) => there.has(value))
}

function pick(columns: Columns, values: AnyRow, names: readonly string[]): AnyRow {
  const row: Record<string, unknown> = {}
  for (const name of names) {
    assert(columns[name] !== undefined, `a read names a column of the table, not ${name}`)
    const value = values[name]
    row[name] = value instanceof Uint8Array || value instanceof Float32Array ? value.slice() : value
  }
  return row
}

function* groupsOf<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}

async function beginSnapshot(handle: Handle) {
  const { definition } = handle
  const table = await handle.find()
  if (table === undefined) return undefined
  const visible = predicateOf(definition, await readable(handle, undefined))
  const rows = table.rows.filter(visible)
  const passing = (where: Filter | undefined) => rows.filter(predicateOf(definition, where))
  return {
    count: (where?: Filter) => Promise.resolve(passing(where).length),
    rows: async function* (columns: readonly string[], where?: Filter) {
      for (const group of groupsOf(passing(where), BATCH_ROWS)) {
        yield await Promise.resolve(group.map(({ values }) => pick(definition.columns, values, columns)))
      }
    },
    batches: async function* (where?: Filter): AsyncGenerator<RowBatch> {
      for (const group of groupsOf(passing(where), BATCH_ROWS)) {
        const values = group.map((row) => row.values)
        yield await Promise.resolve(batchOfRows(definition, values))
      }
    },
    end: () => undefined,
  }
}

// --- Writing ---------------------------------------------------------------------------------------------------------

async function insertAbsent(handle: Handle, rows: readonly AnyRow[]): Promise<Inserted> {
  const places = await insert(handle, rows)
  return { inserted: places.length, present: rows.length - places.length }
}

async function insertColumns(handle: Handle, batches: readonly ColumnBatch[]) {
  const rows = batches.map((batch) => rowsOfColumns(handle.definition, batch))
  const whole = rows.flat()
  const places = await insert(handle, whole)
  let [end, next] = [0, 0]
  const absent = batches.map(({ length }) => {
    const from = next
    end += length
    while (next < places.length && (places[next] as number) < end) next += 1
    return next - from
  })
  return { inserted: places.length, present: whole.length - places.length, absent }
}

async function insertBatches(handle: Handle, batches: readonly RowBatch[], isTaken?: (key: AnyRow) => boolean) {
  const rows = batches.flatMap((batch) => rowsOfBatch(batch)).filter((row) => isTaken?.(row) !== false)
  const { length } = await insert(handle, rows)
  return { inserted: length, present: rows.length - length }
}

/** Places of the rows that were not there: the first of each key. Nothing comes between looking and storing. */
async function insert(handle: Handle, rows: readonly AnyRow[]): Promise<readonly number[]> {
  const { definition } = handle
  const texts = rows.map((row) => keyText(definition.key, row))
  const stored = rows.map((row) => storedRow(definition, row))
  const erased = await handle.erased()
  // Refuses the table of a newer pond. From here on nothing else runs.
  if ((await handle.find()) === undefined && rows.length === 0) return []
  const table = handle.findOrCreate()
  const given = new Set<string>()
  const places = texts.flatMap((text, place) => {
    if (given.has(text) || table.byKey.has(text) || erased.has(String(rows[place]?.[definition.key[0] as string])))
      return []
    given.add(text)
    return [place]
  })
  if (places.length === 0) return places
  const added = places.map((place) => {
    const row = { number: table.nextNumber++, values: stored[place] as AnyRow }
    table.byKey.set(texts[place] as string, row)
    return row
  })
  table.rows = [...table.rows, ...added]
  table.version += 1
  table.fragments += 1
  return places
}

/** A copy with the precision that a column has. */
function storedRow({ name: table, columns }: TableDefinition, row: AnyRow): AnyRow {
  return Object.fromEntries(
    Object.entries(columns).map(([name, column]) => {
      const value = row[name] ?? null
      assert(value !== null || column.nullable, `every row has a value for ${table}.${name}`)
      return [name, value === null ? null : storedValue(column, value)]
    }),
  )
}

function storedValue({ kind, dimension }: Column, value: unknown): unknown {
  if (kind === "bytes" || kind === "blob") return (value as Uint8Array).slice()
  if (kind !== "vector") return value
  assert((value as Float32Array).length === dimension, `a vector has ${dimension} numbers`)
  return Float32Array.from(Float16Array.from(value as Float32Array))
}

/** One string per key. Each text says its length, so that no two keys read the same. */
function keyText(names: readonly string[], row: AnyRow): string {
  return names
    .map((name) => {
      const value = row[name] ?? null
      assert(value !== null, `a key has a value for ${name}`)
      return `${String(value).length}:${String(value)}`
    })
    .join("")
}

async function deleteWhere(handle: Handle, where: Filter): Promise<{ readonly deleted: number }> {
  const { definition } = handle
  assert(definition.derived === true, `rows of ${definition.name} are never deleted`)
  const passes = predicateOf(definition, where)
  const table = await handle.find()
  const gone = table?.rows.filter(passes) ?? []
  if (table === undefined || gone.length === 0) return { deleted: 0 }
  table.rows = table.rows.filter((row) => !passes(row))
  for (const { values } of gone) table.byKey.delete(keyText(definition.key, values))
  table.version += 1
  return { deleted: gone.length }
}

async function purge(handle: Handle, where: Filter) {
  const { definition } = handle
  const erased = (await handle.erased()).erasedIn(definition)
  const goes = predicateOf(definition, definition.erasable === true ? and(where, erased) : where)
  const table = await handle.find()
  const gone = table?.rows.filter(goes) ?? []
  if (table === undefined || gone.length === 0) return { removed: 0, moved: 0 }
  table.rows = table.rows.filter((row) => !goes(row))
  for (const { values } of gone) table.byKey.delete(keyText(definition.key, values))
  table.version += 1
  return { removed: gone.length, moved: 0 }
}

// --- Maintenance -----------------------------------------------------------------------------------------------------

/** Decided by the plan that decides for the engine, so that tests of who maintains when see the same steps. */
async function maintain(handle: Handle, effort: Effort): Promise<MaintenanceReport> {
  const { definition } = handle
  const table = await handle.find()
  if (table === undefined) return { isBusy: false, steps: [] }
  const plan = planMaintenance(definition, statisticsOf(definition, table), { effort, nowMs: 0 })
  for (const planned of plan) {
    if (planned.step === "build_index") table.indexedRows.set(indexName(planned.index), table.rows.length)
    if (planned.step !== "optimize") continue
    table.fragments = 1
    for (const name of table.indexedRows.keys()) table.indexedRows.set(name, table.rows.length)
  }
  if (plan.length > 0) table.version += 1
  const steps = plan.map((planned) => ({ step: planned.step, why: "why" in planned ? planned.why : "", ms: 0 }))
  return { isBusy: false, steps }
}

function statisticsOf({ indexes }: TableDefinition, table: MemoryTable): TableStatistics {
  return {
    rows: table.rows.length,
    fragments: table.fragments,
    version: table.version,
    bytes: { live: 0, dead: 0 },
    indexes: indexes.flatMap((index) => {
      const name = indexName(index)
      const indexedRows = table.indexedRows.get(name)
      if (indexedRows === undefined) return []
      return [{ name, indexedRows, unindexedRows: table.rows.length - indexedRows, bytes: 0, createdAtMs: 0 }]
    }),
  }
}
