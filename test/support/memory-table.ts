/** A table of the store in memory (`memory-store.ts`): reads, writes and maintenance over rows in an array. */
import { assert } from "../../src/model/errors.ts"
import { type ColumnBatch, rowsOfColumns } from "../../src/substrate/columns/column-batch.ts"
import { type RowBatch, rowsOfBatch } from "../../src/substrate/columns/row-batch.ts"
import { and, type Filter } from "../../src/substrate/filter.ts"
import { type Effort, planMaintenance } from "../../src/substrate/maintain/maintenance-plan.ts"
import type { Inserted, MaintenanceReport, Table, TableStatistics } from "../../src/substrate/table.ts"
import {
  type AnyRow,
  type Column,
  type Columns,
  indexName,
  refuseNewerSchema,
  type TableDefinition,
} from "../../src/substrate/table-definition.ts"
import { NOTHING_ERASED } from "../../src/substrate/tombstones.ts"
import { type MemoryDisk, type MemoryTable, tablesIn } from "./memory-disk.ts"
import { erasedIn } from "./memory-erased.ts"
import { predicateOf } from "./memory-filter.ts"
import {
  beginSnapshot,
  type Handle,
  keyText,
  read,
  readBatches,
  readBlobs,
  readColumns,
  rowsWhere,
  scanByNumber,
  takeByKey,
  takeByNumber,
  valuesThere,
} from "./memory-read.ts"

// --- Table -----------------------------------------------------------------------------------------------------------

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
