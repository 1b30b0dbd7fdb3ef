/**
 * Rows to Arrow and back: the one file that knows how a value lies in a column. Values come back as they went in: exact
 * strings, exact microseconds, null apart from the empty string.
 */
import type { Table as ArrowTable, Data, DataType, Field, Schema } from "apache-arrow"
import { assert } from "../../model/errors.ts"
import { engine } from "../lance/engine.ts"
import type { AnyRow, Column, TableDefinition } from "../table-definition.ts"
import { type Answer, type AnswerColumn, columnNamed, hasValue } from "./answer.ts"
import type { ColumnBatch, ColumnValues } from "./column-batch.ts"
import { originalText } from "./surrogate-escape.ts"

export const SCHEMA_VERSION_KEY = "pond:schema_version"
/** Given to a table when it is made: another table of its name, in its place, has another. */
export const TABLE_ID_KEY = "pond:table_id"

/**
 * Over 113 MB of real sessions, the JSON beside the messages took 33 MB as the engine lays it out by itself, 22 MB in
 * chunks of 16 KiB, 17 MB in those of 128 KiB and 13 MB so; higher levels of zstd cost five times as long for 4 % more. Who
 * reads one row decompresses a chunk, which takes a millisecond.
 */
const PACKED = {
  "lance-encoding:structural-encoding": "miniblock",
  "lance-encoding:compression": "zstd",
  "lance-encoding:compression-level": "3",
  "lance-encoding:minichunk-size": "1048576",
}

/** Of 8 bytes of a moment those of the day repeat from row to row: 4 are left, and of the 4 of an ordinal less than one. */
const SHORTENED = { "lance-encoding:compression": "zstd" }

function encodingOf({ kind, isPacked }: Column): Readonly<Record<string, string>> {
  if (isPacked === true) return PACKED
  return kind === "timestamp_us" || kind === "int32" || kind === "int64" ? SHORTENED : {}
}

// --- Schema ----------------------------------------------------------------------------------------------------------

export function arrowSchema(table: TableDefinition, tableId?: string): Schema {
  const { arrow } = engine()
  const fields = Object.entries(table.columns).map(([name, column]) =>
    arrowField(name, column, table.key.indexOf(name)),
  )
  const metadata = new Map([[SCHEMA_VERSION_KEY, String(table.schemaVersion)]])
  if (tableId !== undefined) metadata.set(TABLE_ID_KEY, tableId)
  return new arrow.Schema(fields, metadata)
}

/** The key is declared on its fields (`lance-table-creation-unenforced-pk`): it is what makes two writers of one key conflict instead of doubling the row. */
function arrowField(name: string, column: Column, keyPosition: number): Field {
  const { arrow } = engine()
  if (column.kind === "blob") return engine().lance.blob(name, { nullable: column.nullable }) as unknown as Field
  const metadata = new Map<string, string>()
  if (keyPosition >= 0) {
    metadata.set("lance-schema:unenforced-primary-key", "true")
    metadata.set("lance-schema:unenforced-primary-key:position", String(keyPosition + 1))
  }
  for (const [option, value] of Object.entries(encodingOf(column))) metadata.set(option, value)
  return new arrow.Field(name, arrowType(column), column.nullable, metadata)
}

export function arrowType(column: Column): DataType {
  const { arrow } = engine()
  switch (column.kind) {
    case "utf8":
      return new arrow.Utf8()
    case "int32":
      return new arrow.Int32()
    case "int64":
      return new arrow.Int64()
    case "float64":
      return new arrow.Float64()
    case "bool":
      return new arrow.Bool()
    case "timestamp_us":
      return new arrow.TimestampMicrosecond()
    case "bytes":
      return new arrow.Binary()
    case "vector":
      return new arrow.FixedSizeList(column.dimension ?? 0, new arrow.Field("item", new arrow.Float16(), true))
    case "blob":
      return new arrow.Struct([
        new arrow.Field("data", new arrow.LargeBinary(), true),
        new arrow.Field("uri", new arrow.Utf8(), true),
      ])
  }
}

// --- Rows -> Arrow ---------------------------------------------------------------------------------------------------

export function arrowTable(table: TableDefinition, { length, columns }: ColumnBatch): ArrowTable {
  const children = Object.entries(table.columns).map(([name, column]) =>
    arrowColumn(column, columns[name] as ColumnValues, length),
  )
  return tableOf(arrowSchema(table), children, length)
}

function tableOf(schema: Schema, children: Data[], length: number): ArrowTable {
  const { arrow } = engine()
  const data = arrow.makeData({ type: new arrow.Struct(schema.fields), length, nullCount: 0, children })
  return new arrow.Table(schema, [new arrow.RecordBatch(schema, data)])
}

interface Frame {
  readonly length: number
  readonly nullCount: number
  readonly nullBitmap?: Uint8Array
}

/** Arrow marks what is there, a bit for each. */
function frameOf(length: number, nulls: Uint8Array | undefined): Frame {
  if (nulls === undefined) return { length, nullCount: 0 }
  const nullBitmap = new Uint8Array((length + 7) >> 3).fill(0xff)
  let nullCount = 0
  for (let index = 0; index < length; index++) {
    if (nulls[index] === 0) continue
    nullBitmap[index >> 3] = (nullBitmap[index >> 3] ?? 0) & ~(1 << (index & 7))
    nullCount += 1
  }
  return nullCount === 0 ? { length, nullCount } : { length, nullCount, nullBitmap }
}

function arrowColumn(column: Column, { data, offsets, nulls }: ColumnValues, length: number): Data {
  const { arrow } = engine()
  const { kind } = column
  const frame = frameOf(length, nulls)
  switch (kind) {
    case "utf8":
      assert(offsets !== undefined, "a column of texts says where each begins")
      return arrow.makeData({ type: new arrow.Utf8(), ...frame, valueOffsets: offsets, data: data as Uint8Array })
    case "bytes":
      assert(offsets !== undefined, "a column of bytes says where each begins")
      return arrow.makeData({ type: new arrow.Binary(), ...frame, valueOffsets: offsets, data: data as Uint8Array })
    case "vector":
      return vectorData(column, data as Uint16Array, frame)
    case "blob":
      assert(offsets !== undefined, "a column of blobs says where each begins")
      return blobData(column, data as Uint8Array, offsets, frame)
    case "int32":
      return arrow.makeData({ type: new arrow.Int32(), ...frame, data: data as Int32Array })
    case "float64":
      return arrow.makeData({ type: new arrow.Float64(), ...frame, data: data as Float64Array })
    case "int64":
      return arrow.makeData({ type: new arrow.Int64(), ...frame, data: data as BigInt64Array })
    case "timestamp_us":
      return arrow.makeData({ type: new arrow.TimestampMicrosecond(), ...frame, data: data as BigInt64Array })
    default:
      // Arrow's writer gives a bool column of nulls alone no values, and the engine refuses a column without values. The
      // same bits under a byte type are always written; the type that is read is the one of the schema.
      assert(kind === "bool", `a column of ${kind} is not a plain column`)
      return arrow.makeData({ type: new arrow.Uint8(), ...frame, data: packBits(data as Uint8Array) })
  }
}

function packBits(truths: Uint8Array): Uint8Array {
  const into = new Uint8Array((truths.length + 7) >> 3)
  for (let index = 0; index < truths.length; index++) {
    if (truths[index] === 1) into[index >> 3] = (into[index >> 3] ?? 0) | (1 << (index & 7))
  }
  return into
}

function vectorData(column: Column, data: Uint16Array, frame: Frame): Data {
  const { arrow } = engine()
  const child = arrow.makeData({ type: new arrow.Float16(), length: data.length, nullCount: 0, data })
  return arrow.makeData({ type: arrowType(column) as InstanceType<typeof arrow.FixedSizeList>, ...frame, child })
}

function blobData(column: Column, data: Uint8Array, offsets: Int32Array, frame: Frame): Data {
  const { arrow } = engine()
  const { length } = frame
  const valueOffsets = BigInt64Array.from(offsets, BigInt)
  const bytes = arrow.makeData({ type: new arrow.LargeBinary(), ...frame, valueOffsets, data })
  const uri = arrow.makeData({
    type: new arrow.Utf8(),
    length,
    nullCount: length,
    nullBitmap: new Uint8Array((length + 7) >> 3),
    valueOffsets: new Int32Array(length + 1),
    data: new Uint8Array(0),
  })
  return arrow.makeData({
    type: arrowType(column) as InstanceType<typeof arrow.Struct>,
    ...frame,
    children: [bytes, uri],
  })
}

// --- Arrow -> rows ---------------------------------------------------------------------------------------------------

/** Rows of a batch that the engine answered with. A column that the table does not declare keeps the engine's value. */
export function rowsOf(table: TableDefinition, { numRows, names, columns }: Answer): AnyRow[] {
  const readers = names.map((name, index) => cellReader(table.columns[name], columns[index]))
  const rows: AnyRow[] = []
  for (let index = 0; index < numRows; index++) {
    const row: Record<string, unknown> = {}
    for (let at = 0; at < names.length; at++) row[names[at] as string] = readers[at]?.(index)
    rows.push(row)
  }
  return rows
}

/** The named columns, without rows being made of them: a separate copy, of which nothing keeps the batch. */
export function columnsOfAnswer(table: TableDefinition, answer: Answer, names: readonly string[]): ColumnBatch {
  const columns = names.map((name) => {
    const column = columnNamed(answer, name)
    return [name, table.columns[name]?.kind === "bool" ? truthsOf(column) : columnOfAnswer(column)] as const
  })
  return { length: answer.numRows, columns: Object.fromEntries(columns) }
}

function truthsOf(data: AnswerColumn): ColumnValues {
  const bits = data.values as Uint8Array
  const truths = new Uint8Array(data.length)
  for (let row = 0; row < data.length; row++) truths[row] = ((bits[row >> 3] as number) >> (row & 7)) & 1
  return { data: truths, ...(data.nullCount === 0 ? {} : { nulls: nullsOfBits(data.nullBitmap, data.length) }) }
}

function columnOfAnswer(data: AnswerColumn): ColumnValues {
  const { values, length, valueOffsets: offsets } = data
  const missing = data.nullCount === 0 ? {} : { nulls: nullsOfBits(data.nullBitmap, length) }
  if (offsets === undefined) return { data: values.slice(0, length), ...missing }
  const own = new Int32Array(length + 1)
  own.set(offsets.subarray(0, length + 1))
  return { data: values.slice(0, own[length]), offsets: own, ...missing }
}

function nullsOfBits(valid: Uint8Array, length: number): Uint8Array {
  const nulls = new Uint8Array(length)
  for (let row = 0; row < length; row++) nulls[row] = (((valid[row >> 3] as number) >> (row & 7)) & 1) ^ 1
  return nulls
}

type CellReader = (index: number) => unknown

function cellReader(column: Column | undefined, data: AnswerColumn | undefined): CellReader {
  assert(data !== undefined, "a batch holds the columns of its schema")
  const read = valueReader(column, data)
  return data.nullCount === 0 ? read : (index) => (hasValue(data, index) ? read(index) : null)
}

function valueReader(column: Column | undefined, data: AnswerColumn): CellReader {
  const { values } = data
  switch (column?.kind) {
    case "utf8":
      return utf8Reader(data)
    case "bool":
      return (index) => ((values[index >> 3] >> (index & 7)) & 1) === 1
    case "bytes":
      return bytesReader(data)
    case "vector":
      return vectorReader(column.dimension ?? 0, data)
    case "blob":
      return () => undefined
    default:
      return (index) => values[index]
  }
}

function utf8Reader(data: AnswerColumn): CellReader {
  const bytes = data.values as Uint8Array
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const offsets = data.valueOffsets as Int32Array
  return (index) => originalText(text.toString("utf8", offsets[index], offsets[index + 1]))
}

/** Each is copied, so that keeping one does not keep its batch in memory. */
function bytesReader(data: AnswerColumn): CellReader {
  const offsets = data.valueOffsets as Int32Array
  return (index) => (data.values as Uint8Array).slice(offsets[index], offsets[index + 1])
}

function vectorReader(dimension: number, data: AnswerColumn): CellReader {
  const halves = data.children[0]?.values as Uint16Array
  return (index) => {
    const own = halves.slice(index * dimension, (index + 1) * dimension)
    return Float32Array.from(new Float16Array(own.buffer))
  }
}
