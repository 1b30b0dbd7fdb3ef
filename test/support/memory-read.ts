/** Reads of a table in memory: by condition, key and number, in order, and of one moment. */
import { assert } from "../../src/model/errors.ts"
import { type ColumnBatch, columnsOf } from "../../src/substrate/columns/column-batch.ts"
import { batchOfRows, type RowBatch } from "../../src/substrate/columns/row-batch.ts"
import { originalText } from "../../src/substrate/columns/surrogate-escape.ts"
import { and, type Filter } from "../../src/substrate/filter.ts"
import type { Key, NumberedRows, NumberRange, Order, TakeOptions, VectorQuery } from "../../src/substrate/table.ts"
import type { AnyRow, Columns, TableDefinition } from "../../src/substrate/table-definition.ts"
import type { ErasedOwners } from "../../src/substrate/tombstones.ts"
import type { MemoryTable } from "./memory-disk.ts"
import { type NumberedRow, predicateOf } from "./memory-filter.ts"
import { nearest, sortRows } from "./memory-order.ts"

interface Scan {
  readonly columns: readonly string[]
  readonly where?: Filter
  readonly limit?: number
  readonly offset?: number
  readonly orderBy?: readonly Order[]
  readonly vector?: VectorQuery
}

/** One handle. `find` gives the table as it is now; every method answers in a later turn, as an engine does. */
export interface Handle {
  readonly definition: TableDefinition
  /** Of an erasable table. */
  erased(): Promise<ErasedOwners>
  find(): Promise<MemoryTable | undefined>
  /** The same in this turn, made where it is not there. */
  findOrCreate(): MemoryTable
}

const BATCH_ROWS = 4096

export async function rowsWhere(handle: Handle, where: Filter | undefined): Promise<readonly NumberedRow[]> {
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

export async function read(handle: Handle, request: Scan): Promise<AnyRow[]> {
  const { columns } = handle.definition
  return (await scan(handle, request)).map(({ values, distance }) => ({
    ...pick(columns, values, request.columns),
    ...(distance === undefined ? {} : { _distance: distance }),
  }))
}

export async function* readBatches(handle: Handle, request: Scan): AsyncGenerator<AnyRow[]> {
  for (const group of groupsOf(await read(handle, request), BATCH_ROWS)) yield group
}

export async function* readColumns(handle: Handle, request: Scan): AsyncGenerator<ColumnBatch> {
  for await (const rows of readBatches(handle, request)) yield columnsOf(handle.definition, rows, request.columns)
}

export async function readBlobs(handle: Handle, column: string, request: Scan): Promise<AnyRow[]> {
  const { columns } = handle.definition
  return (await scan(handle, request)).map(({ values }) => pick(columns, values, [...request.columns, column]))
}

export async function takeByKey(handle: Handle, keys: readonly Key[], columns: readonly string[]): Promise<AnyRow[]> {
  const table = await handle.find()
  const wanted = new Set(keys.map((key) => keyText(handle.definition.key, key)))
  const passes = predicateOf(handle.definition, await readable(handle, undefined))
  const found = [...wanted].flatMap((text) => table?.byKey.get(text) ?? []).filter(passes)
  return found.map(({ values }) => pick(handle.definition.columns, values, columns))
}

export async function takeByNumber(
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

export async function* scanByNumber(handle: Handle, request: NumberRange): AsyncGenerator<NumberedRows> {
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

export async function valuesThere(
  handle: Handle,
  column: string,
  values: readonly string[],
): Promise<readonly string[]> {
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

export async function beginSnapshot(handle: Handle) {
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

export function keyText(names: readonly string[], row: AnyRow): string {
  return names
    .map((name) => {
      const value = row[name] ?? null
      assert(value !== null, `a key has a value for ${name}`)
      return `${String(value).length}:${String(value)}`
    })
    .join("")
}
