/**
 * Rows to Arrow and back: the one file that knows how a value lies in a column. Values come back as they went in: exact
 * strings, exact microseconds, null apart from the empty string.
 */
import type { Table as ArrowTable, Data, DataType, Field, RecordBatch, Schema } from "apache-arrow"
import { assert } from "../model/errors.ts"
import { engine } from "./engine.ts"
import type { Column, TableDefinition } from "./table-definition.ts"
import { isStoredAsItIs, originalText, storedText } from "./text.ts"

export const SCHEMA_VERSION_KEY = "pond:schema_version"

/**
 * Over 113 MB of real sessions, the JSON beside the messages took 33 MB as the engine lays it out by itself, 22 MB in
 * chunks of 16 KiB, 17 MB so; higher levels of zstd cost five times as long for 4 % more.
 */
const PACKED = {
  "lance-encoding:structural-encoding": "miniblock",
  "lance-encoding:compression": "zstd",
  "lance-encoding:compression-level": "3",
  "lance-encoding:minichunk-size": "131072",
}

/** A row of any table. */
export type AnyRow = Readonly<Record<string, unknown>>

// --- Schema ----------------------------------------------------------------------------------------------------------

export function arrowSchema(table: TableDefinition): Schema {
  const { arrow } = engine()
  const fields = Object.entries(table.columns).map(([name, column]) =>
    arrowField(name, column, table.key.indexOf(name)),
  )
  return new arrow.Schema(fields, new Map([[SCHEMA_VERSION_KEY, String(table.schemaVersion)]]))
}

/** The key is declared on its fields: it is what makes two writers of one key conflict instead of doubling the row. */
function arrowField(name: string, column: Column, keyPosition: number): Field {
  const { arrow, lance } = engine()
  if (column.kind === "blob") return lance.blob(name, { nullable: column.nullable }) as unknown as Field
  const metadata = new Map<string, string>()
  if (keyPosition >= 0) {
    metadata.set("lance-schema:unenforced-primary-key", "true")
    metadata.set("lance-schema:unenforced-primary-key:position", String(keyPosition + 1))
  }
  if (column.isPacked === true) for (const [option, value] of Object.entries(PACKED)) metadata.set(option, value)
  return new arrow.Field(name, arrowType(column), column.nullable, metadata)
}

function arrowType(column: Column): DataType {
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

/** One table of as many record batches as slices are given: written by one commit. */
export function arrowTable(table: TableDefinition, schema: Schema, rows: readonly AnyRow[]): ArrowTable {
  const { arrow } = engine()
  const children = Object.entries(table.columns).map(([name, column]) => arrowColumn(table.name, name, column, rows))
  const data = arrow.makeData({
    type: new arrow.Struct(schema.fields),
    length: rows.length,
    nullCount: 0,
    children,
  })
  return new arrow.Table(schema, [new arrow.RecordBatch(schema, data)])
}

interface Cells {
  readonly length: number
  readonly nullCount: number
  readonly nullBitmap: Uint8Array | undefined
  /** The value of a row, null where there is none. */
  readonly at: (index: number) => unknown
}

function cellsOf(where: string, name: string, column: Column, rows: readonly AnyRow[]): Cells {
  const length = rows.length
  const values = rows.map((row) => row[name] ?? null)
  let nullBitmap: Uint8Array | undefined
  let nullCount = 0
  for (let index = 0; index < length; index++) {
    if (values[index] !== null) continue
    assert(column.nullable, `every row has a value for ${where}.${name}`)
    nullBitmap ??= new Uint8Array((length + 7) >> 3).fill(0xff)
    nullBitmap[index >> 3] = (nullBitmap[index >> 3] ?? 0) & ~(1 << (index & 7))
    nullCount += 1
  }
  return { length, nullCount, nullBitmap, at: (index) => values[index] }
}

function arrowColumn(where: string, name: string, column: Column, rows: readonly AnyRow[]): Data {
  const { arrow } = engine()
  const cells = cellsOf(where, name, column, rows)
  const { length, nullCount } = cells
  const frame = { length, nullCount, ...(cells.nullBitmap === undefined ? {} : { nullBitmap: cells.nullBitmap }) }
  switch (column.kind) {
    case "utf8":
      return arrow.makeData({ type: new arrow.Utf8(), ...frame, ...utf8Buffers(cells) })
    case "int32":
      return arrow.makeData({ type: new arrow.Int32(), ...frame, data: numbers(cells, new Int32Array(length)) })
    case "float64":
      return arrow.makeData({ type: new arrow.Float64(), ...frame, data: numbers(cells, new Float64Array(length)) })
    case "int64":
      return arrow.makeData({ type: new arrow.Int64(), ...frame, data: bigints(cells) })
    case "timestamp_us":
      return arrow.makeData({ type: new arrow.TimestampMicrosecond(), ...frame, data: bigints(cells) })
    case "bool":
      // Arrow's writer gives a bool column of nulls alone no values, and the engine refuses a column without values. The
      // same bits under a byte type are always written; the type that is read is the one of the schema.
      return arrow.makeData({ type: new arrow.Uint8(), ...frame, data: bits(cells) })
    case "bytes":
      return arrow.makeData({ type: new arrow.Binary(), ...frame, ...binaryBuffers(cells) })
    case "vector":
      return vectors(column, cells, frame)
    case "blob":
      return blobs(column, cells, frame)
  }
}

/** All texts of a column are encoded as one: a call per text would cost more than the encoding. */
function utf8Buffers(cells: Cells): { readonly valueOffsets: Int32Array; readonly data: Uint8Array } {
  const given = Array.from({ length: cells.length }, (_, index) => (cells.at(index) ?? "") as string)
  const joined = given.join("")
  if (isStoredAsItIs(joined) && !given.some(endsInHalf)) return joinedBuffers(given, joined)
  const texts = given.map(storedText)
  return joinedBuffers(texts, texts.join(""))
}

function binaryBuffers(cells: Cells): { readonly valueOffsets: Int32Array; readonly data: Uint8Array } {
  const given = Array.from({ length: cells.length }, (_, index) => (cells.at(index) ?? new Uint8Array()) as Uint8Array)
  const valueOffsets = new Int32Array(cells.length + 1)
  for (const [index, value] of given.entries()) valueOffsets[index + 1] = (valueOffsets[index] ?? 0) + value.length
  return { valueOffsets, data: Buffer.concat(given) }
}

/** Two halves that meet where texts are joined look like a whole. */
function endsInHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff
}

function joinedBuffers(texts: readonly string[], joined: string) {
  const data = new TextEncoder().encode(joined)
  const isAscii = data.length === joined.length
  const valueOffsets = new Int32Array(texts.length + 1)
  let used = 0
  for (let index = 0; index < texts.length; index++) {
    const text = texts[index] as string
    used += isAscii ? text.length : Buffer.byteLength(text)
    valueOffsets[index + 1] = used
  }
  return { valueOffsets, data }
}

function numbers<Into extends Int32Array | Float64Array>(cells: Cells, into: Into): Into {
  for (let index = 0; index < cells.length; index++) into[index] = (cells.at(index) ?? 0) as number
  return into
}

function bigints(cells: Cells): BigInt64Array {
  const into = new BigInt64Array(cells.length)
  for (let index = 0; index < cells.length; index++) into[index] = (cells.at(index) ?? 0n) as bigint
  return into
}

function bits(cells: Cells): Uint8Array {
  const into = new Uint8Array(cells.length)
  for (let index = 0; index < cells.length; index++) {
    if (cells.at(index) === true) into[index >> 3] = (into[index >> 3] ?? 0) | (1 << (index & 7))
  }
  return into
}

type Frame = Pick<Cells, "length" | "nullCount"> & { readonly nullBitmap?: Uint8Array }

function vectors(column: Column, cells: Cells, frame: Frame): Data {
  const { arrow } = engine()
  const dimension = column.dimension ?? 0
  const halves = new Float16Array(cells.length * dimension)
  for (let index = 0; index < cells.length; index++) {
    const value = cells.at(index) as Float32Array | null
    if (value === null) continue
    assert(value.length === dimension, `a vector has ${dimension} numbers`)
    halves.set(value, index * dimension)
  }
  const child = arrow.makeData({
    type: new arrow.Float16(),
    length: halves.length,
    nullCount: 0,
    data: new Uint16Array(halves.buffer),
  })
  return arrow.makeData({ type: arrowType(column) as InstanceType<typeof arrow.FixedSizeList>, ...frame, child })
}

function blobs(column: Column, cells: Cells, frame: Frame): Data {
  const { arrow } = engine()
  const valueOffsets = new BigInt64Array(cells.length + 1)
  const chunks: Uint8Array[] = []
  let used = 0
  for (let index = 0; index < cells.length; index++) {
    const value = cells.at(index) as Uint8Array | null
    if (value !== null) {
      chunks.push(value)
      used += value.byteLength
    }
    valueOffsets[index + 1] = BigInt(used)
  }
  const [first] = chunks
  // One that is large comes alone, and is not copied.
  const data = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, used)
  const bytes = arrow.makeData({ type: new arrow.LargeBinary(), ...frame, valueOffsets, data })
  const uri = arrow.makeData({
    type: new arrow.Utf8(),
    length: cells.length,
    nullCount: cells.length,
    nullBitmap: new Uint8Array((cells.length + 7) >> 3),
    valueOffsets: new Int32Array(cells.length + 1),
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
export function rowsOf(table: TableDefinition, batch: RecordBatch): AnyRow[] {
  const names = batch.schema.fields.map((field) => field.name)
  const readers = names.map((name, index) => cellReader(table.columns[name], batch.data.children[index]))
  const rows: AnyRow[] = []
  for (let index = 0; index < batch.numRows; index++) {
    const row: Record<string, unknown> = {}
    for (let at = 0; at < names.length; at++) row[names[at] as string] = readers[at]?.(index)
    rows.push(row)
  }
  return rows
}

type CellReader = (index: number) => unknown

function cellReader(column: Column | undefined, data: Data | undefined): CellReader {
  assert(data !== undefined && data.offset === 0, "a batch holds the columns of its schema, from their beginning")
  const read = valueReader(column, data)
  return data.nullCount === 0 ? read : (index) => (data.getValid(index) ? read(index) : null)
}

function valueReader(column: Column | undefined, data: Data): CellReader {
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

function utf8Reader(data: Data): CellReader {
  const bytes = data.values as Uint8Array
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const offsets = data.valueOffsets as Int32Array
  return (index) => originalText(text.toString("utf8", offsets[index], offsets[index + 1]))
}

/** Each a copy of its own: what is kept of one keeps nothing of its batch. */
function bytesReader(data: Data): CellReader {
  const offsets = data.valueOffsets as Int32Array
  return (index) => (data.values as Uint8Array).slice(offsets[index], offsets[index + 1])
}

function vectorReader(dimension: number, data: Data): CellReader {
  const halves = data.children[0]?.values as Uint16Array
  return (index) => {
    const own = halves.slice(index * dimension, (index + 1) * dimension)
    return Float32Array.from(new Float16Array(own.buffer))
  }
}
