/**
 * Rows by the batch, as columns: what an archive keeps and a copy moves, without a value being made for every cell.
 * Packed, batches are an Arrow IPC stream, which any Arrow reads. Bytes that come from elsewhere are judged here before
 * the engine sees them: types, lengths, offsets and text of every column.
 */
import { isUtf8 } from "node:buffer"
import type { Table as ArrowTable, Data, DataType, RecordBatch, Schema } from "apache-arrow"
import { engine } from "../lance/engine.ts"
import type { AnyRow, Column, TableDefinition } from "../table-definition.ts"
import { answerOfRecord } from "./answer.ts"
import { arrowSchema, arrowTable, arrowType, rowsOf } from "./arrow-rows.ts"
import { columnsOf } from "./column-batch.ts"

export interface RowBatch {
  readonly definition: TableDefinition
  readonly length: number
  readonly record: RecordBatch
  /** Those of `keyHashesOf`, where another thread has made them. */
  readonly keyHashes?: Uint32Array
  /** Call it after the last read, in the order of the batches: the last call frees the memory that they share. */
  readonly letGo?: () => unknown
}

export type Unpacked =
  | { readonly ok: true; readonly batches: readonly RowBatch[] }
  | { readonly ok: false; readonly reason: string }

export function batchOfRows(definition: TableDefinition, rows: readonly AnyRow[]): RowBatch {
  const [record] = arrowTable(definition, columnsOf(definition, rows)).batches
  return batchOfRecord(definition, record as RecordBatch)
}

export function batchOfRecord(definition: TableDefinition, record: RecordBatch): RowBatch {
  return { definition, length: record.numRows, record }
}

/**
 * Where few rows of a column have a text, the engine hands out one of them with every row that has none: of a text of 200 KB
 * among 4096 rows, 800 MB. Here such a row has no bytes.
 */
export function withoutAbsentTexts(definition: TableDefinition, record: RecordBatch): RecordBatch {
  const { arrow } = engine()
  const children = record.schema.fields.map(({ name }, index) => {
    const data = record.data.children[index] as Data
    return definition.columns[name]?.kind === "utf8" && data.nullCount > 0 ? presentTexts(data) : data
  })
  const type = new arrow.Struct(record.schema.fields)
  const struct = arrow.makeData({ type, length: record.numRows, nullCount: 0, children })
  return new arrow.RecordBatch(record.schema, struct)
}

function presentTexts(data: Data): Data {
  const { arrow } = engine()
  const from = data.valueOffsets as Int32Array
  const values = data.values as Uint8Array
  const valueOffsets = new Int32Array(data.length + 1)
  for (let row = 0; row < data.length; row++) {
    const length = data.getValid(row) ? (from[row + 1] as number) - (from[row] as number) : 0
    valueOffsets[row + 1] = (valueOffsets[row] as number) + length
  }
  const bytes = valueOffsets[data.length] as number
  if (bytes === (from[data.length] as number) - (from[0] as number)) return data
  const present = new Uint8Array(bytes)
  for (let row = 0; row < data.length; row++) {
    if (data.getValid(row)) present.set(values.subarray(from[row], from[row + 1]), valueOffsets[row])
  }
  const { length, nullCount, nullBitmap } = data
  return arrow.makeData({ type: new arrow.Utf8(), length, nullCount, nullBitmap, valueOffsets, data: present })
}

/** The rows of a batch, bytes of blobs among them; of the named columns, or of all. */
export function rowsOfBatch({ definition, record }: RowBatch, columns?: readonly string[]): AnyRow[] {
  const names = columns ?? record.schema.fields.map(({ name }) => name)
  // Not by name: the package's own `select` leaves the columns where they were.
  const places = names.map((name) => record.schema.fields.findIndex((field) => field.name === name))
  const rows = rowsOf(definition, answerOfRecord(record.selectAt(places))) as Record<string, unknown>[]
  for (const name of names.filter((each) => definition.columns[each]?.kind === "blob")) {
    const read = blobReader(record.getChild(name)?.data[0] as Data)
    for (const [index, row] of rows.entries()) row[name] = read(index)
  }
  return rows
}

/** The texts of a column that begin so, without reading those that do not. */
export function textsBeginning({ record }: RowBatch, column: string, beginning: string): string[] {
  const data = record.getChild(column)?.data[0] as Data
  const offsets = data.valueOffsets as Int32Array
  const values = data.values as Uint8Array
  const wanted = Buffer.from(beginning)
  const found: string[] = []
  // Of nearly every batch this is all.
  if (!Buffer.from(values.buffer, values.byteOffset, values.byteLength).includes(wanted)) return found
  for (let index = 0; index < data.length; index++) {
    const [from, to] = [offsets[index] as number, offsets[index + 1] as number]
    if (to - from < wanted.length || values[from] !== wanted[0] || values[from + 1] !== wanted[1]) continue
    const text = Buffer.from(values.buffer, values.byteOffset + from, to - from)
    if (text.subarray(0, wanted.length).equals(wanted)) found.push(text.toString("utf8"))
  }
  return found
}

/** Batches of one table as the engine takes them, in one commit. */
export function tableOfBatches(definition: TableDefinition, batches: readonly RowBatch[]): ArrowTable {
  const { arrow } = engine()
  const schema = arrowSchema(definition)
  return new arrow.Table(
    schema,
    batches.map(({ record }) => writable(schema, record)),
  )
}

export function packBatches(definition: TableDefinition, batches: readonly RowBatch[]): Uint8Array {
  const { arrow } = engine()
  return arrow.RecordBatchStreamWriter.writeAll(tableOfBatches(definition, batches)).toUint8Array(true)
}

/** About how many bytes a batch takes when it is packed. */
export function batchBytes({ record }: RowBatch): number {
  return record.data.byteLength
}

/** In the order of the declaration, and with truth values as the writer can write them (see `arrow-rows.ts`). */
function writable(schema: Schema, record: RecordBatch): RecordBatch {
  const { arrow } = engine()
  const children = schema.fields.map(({ name }) => {
    const data = record.getChild(name)?.data[0] as Data
    return arrow.DataType.isBool(data.type) ? truthBytes(data) : data
  })
  const struct = arrow.makeData({
    type: new arrow.Struct(schema.fields),
    length: record.numRows,
    nullCount: 0,
    children,
  })
  return new arrow.RecordBatch(schema, struct)
}

function truthBytes(data: Data): Data {
  const { arrow } = engine()
  const bytes = new Uint8Array((data.length + 7) >> 3)
  bytes.set((data.values as Uint8Array).subarray(0, bytes.length))
  const { length, nullCount, nullBitmap } = data
  const frame = nullCount === 0 ? { length, nullCount } : { length, nullCount, nullBitmap }
  return arrow.makeData({ type: new arrow.Uint8(), ...frame, data: bytes })
}

// --- Judging ---------------------------------------------------------------------------------------------------------

/** The batches of bytes that `unpackBatches` has judged, in whatever thread. */
export function readValidatedBatches(
  definition: TableDefinition,
  bytes: Uint8Array,
  keyHashes: readonly Uint32Array[],
): readonly RowBatch[] {
  const batches = readStream(bytes).records.map((record, at) => {
    const hashes = keyHashes[at]
    return { ...batchOfRecord(definition, record), ...(hashes === undefined ? {} : { keyHashes: hashes }) }
  })
  return owningBatches(bytes, batches)
}

/** The bytes are those of these batches alone. */
export function owningBatches(bytes: Uint8Array, batches: readonly RowBatch[]): readonly RowBatch[] {
  const last = batches.length - 1
  return batches.map((batch, at) => ({ ...batch, letGo: () => at === last && freeBytes(bytes) }))
}

/** Now, and not once a collector comes by: it sees a small object, and not how much hangs on it. */
export function freeBytes({ buffer }: Uint8Array): void {
  ;(buffer as ArrayBuffer).transfer(0)
}

function readStream(bytes: Uint8Array): { readonly schema: Schema; readonly records: readonly RecordBatch[] } {
  const reader = engine().arrow.RecordBatchReader.from(bytes).open()
  // Of bytes that end at once, whatever its type says.
  const schema = reader.schema as Schema | undefined
  if (schema === undefined) throw new Error("it is empty")
  return { schema, records: [...reader] }
}

/** The batches of the table that these bytes are, or why they are none. */
export function unpackBatches(definition: TableDefinition, bytes: Uint8Array): Unpacked {
  let stream: ReturnType<typeof readStream>
  try {
    stream = readStream(bytes)
  } catch (error) {
    return {
      ok: false,
      reason: `it is not an Arrow stream (${error instanceof Error ? error.message : String(error)})`,
    }
  }
  const { schema, records } = stream
  const schemaReason = schemaFault(definition, schema)
  if (schemaReason !== undefined) return { ok: false, reason: schemaReason }
  for (const record of records) {
    const reason = columnsFault(definition, record)
    if (reason !== undefined) return { ok: false, reason }
  }
  return { ok: true, batches: records.map((record) => batchOfRecord(definition, record)) }
}

function schemaFault(definition: TableDefinition, schema: Schema): string | undefined {
  const spell = (name: string, type: DataType, nullable: boolean) => `${name} ${type} ${nullable}`
  const found = schema.fields.map(({ name, type, nullable }) => spell(name, type, nullable))
  const wanted = Object.entries(definition.columns).map(([name, column]) =>
    spell(name, arrowType(column), column.nullable),
  )
  if (found.length === wanted.length && found.every((field, index) => field === wanted[index])) return undefined
  return `its columns are not those of ${definition.name}`
}

function columnsFault(definition: TableDefinition, record: RecordBatch): string | undefined {
  for (const [name, column] of Object.entries(definition.columns)) {
    const data = record.getChild(name)?.data[0]
    const fault = data === undefined ? "is missing" : columnFault(column, data, record.numRows)
    if (fault !== undefined) return `its column ${name} ${fault}`
  }
  return undefined
}

function columnFault(column: Column, data: Data, rows: number): string | undefined {
  if (data.length !== rows || data.offset !== 0) return "is shorter than its batch"
  if (data.nullCount > 0 && !column.nullable) return "has rows without a value"
  if (data.nullCount > 0 && data.nullBitmap.length < (rows + 7) >> 3) return "is cut off"
  switch (column.kind) {
    case "utf8":
      return textFault(data)
    case "bytes":
      return offsetsFault(data.valueOffsets as Int32Array, data.values.length, rows)
    case "bool":
      return data.nullCount < rows && data.values.length < (rows + 7) >> 3 ? "is cut off" : undefined
    case "vector":
      return (data.children[0]?.values?.length ?? 0) < rows * (column.dimension ?? 0) ? "is cut off" : undefined
    case "blob":
      return blobFault(data, rows)
    default:
      return data.values.length < rows ? "is cut off" : undefined
  }
}

function textFault(data: Data): string | undefined {
  const offsets = data.valueOffsets as Int32Array
  const values = data.values as Uint8Array
  const fault = offsetsFault(offsets, values.length, data.length)
  if (fault !== undefined) return fault
  if (!isUtf8(values)) return "is not text"
  // A text that begins inside a character is none, even where all of them together are.
  for (let index = 0; index < data.length; index++) {
    if (((values[offsets[index] as number] ?? 0) & 0xc0) === 0x80) return "is not text"
  }
  return undefined
}

function blobFault(data: Data, rows: number): string | undefined {
  const [bytes, links] = data.children
  if (bytes === undefined || links === undefined || bytes.length !== rows) return "is cut off"
  if (links.nullCount !== links.length) return "points elsewhere"
  return offsetsFault(bytes.valueOffsets as unknown as BigInt64Array, bytes.values.length, rows)
}

function offsetsFault(offsets: Int32Array | BigInt64Array, bytes: number, rows: number): string | undefined {
  if (offsets.length < rows + 1) return "is cut off"
  let before = Number(offsets[0])
  if (before < 0) return "points outside of itself"
  for (let index = 1; index <= rows; index++) {
    const at = Number(offsets[index])
    if (at < before) return "points outside of itself"
    before = at
  }
  return before > bytes ? "points outside of itself" : undefined
}

function blobReader(data: Data): (index: number) => Uint8Array | null {
  const bytes = data.children[0] as Data
  const offsets = bytes.valueOffsets as unknown as BigInt64Array
  return (index) =>
    data.getValid(index) && bytes.getValid(index)
      ? (bytes.values as Uint8Array).slice(Number(offsets[index]), Number(offsets[index + 1]))
      : null
}
