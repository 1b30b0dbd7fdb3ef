/**
 * Rows as columns without the engine: flat arrays that go from one thread to another without being copied, are put
 * together a flush at a time, and become Arrow as they are. This is the only form in which rows are written.
 */
import { assert } from "../../model/errors.ts"
import type { AnyRow, AnyTable, Column } from "../table-definition.ts"
import { isStoredAsItIs, originalText, storedText } from "./surrogate-escape.ts"

type Values = Uint8Array | Uint16Array | Int32Array | Float64Array | BigInt64Array

export interface ColumnValues {
  /** One value for each row, a truth value as a byte; of text the UTF-8 of all rows, one behind the other, and so of bytes. */
  readonly data: Values
  /** Of text and bytes: where each row begins, and the end. */
  readonly offsets?: Int32Array
  /** A byte for each row, not 0 where it has no value. Absent where every row has one. */
  readonly nulls?: Uint8Array
  /** How many items of `data` a row has, where that is not one: the dimension of a vector. */
  readonly width?: number
}

export interface ColumnBatch {
  readonly length: number
  readonly columns: Readonly<Record<string, ColumnValues>>
}

/** Of all columns of the table, or of the named ones. */
export function columnsOf(
  table: AnyTable,
  rows: readonly AnyRow[],
  names: readonly string[] = Object.keys(table.columns),
): ColumnBatch {
  const columns: Record<string, ColumnValues> = {}
  for (const name of names) {
    const column = table.columns[name]
    assert(column !== undefined, `${table.name} has a column ${name}`)
    columns[name] = columnOf(
      column,
      rows.map((row) => row[name] ?? null),
      `${table.name}.${name}`,
    )
  }
  return { length: rows.length, columns }
}

function columnOf(column: Column, values: readonly unknown[], where: string): ColumnValues {
  const nulls = nullsOf(column, values, where)
  const content = contentOf(column, values)
  return nulls === undefined ? content : { ...content, nulls }
}

function contentOf(column: Column, values: readonly unknown[]): ColumnValues {
  if (column.kind === "utf8") return texts(values)
  if (column.kind === "bytes" || column.kind === "blob") return concatBytes(values)
  if (column.kind === "vector") return halves(column, values)
  return { data: encodeNumbers(column, values) }
}

function concatBytes(values: readonly unknown[]): Pick<ColumnValues, "data" | "offsets"> {
  const given = values.map((value) => (value ?? new Uint8Array()) as Uint8Array)
  const offsets = new Int32Array(given.length + 1)
  for (const [index, value] of given.entries()) offsets[index + 1] = (offsets[index] ?? 0) + value.length
  const [first] = given
  // A large one comes alone, and is not copied.
  if (first !== undefined && given.length === 1) return { data: first, offsets }
  const data = new Uint8Array(offsets.at(-1) ?? 0)
  for (const [index, value] of given.entries()) data.set(value, offsets[index])
  return { data, offsets }
}

/** Vectors are stored in half precision, as the bits of it. */
function halves({ dimension: width = 0 }: Column, values: readonly unknown[]): ColumnValues {
  const data = new Float16Array(values.length * width)
  for (const [index, value] of (values as readonly (Float32Array | null)[]).entries()) {
    if (value === null) continue
    assert(value.length === width, `a vector has ${width} numbers`)
    data.set(value, index * width)
  }
  return { data: new Uint16Array(data.buffer), width }
}

function nullsOf(column: Column, values: readonly unknown[], where: string): Uint8Array | undefined {
  let nulls: Uint8Array | undefined
  for (let index = 0; index < values.length; index++) {
    if (values[index] !== null) continue
    assert(column.nullable, `every row has a value for ${where}`)
    nulls ??= new Uint8Array(values.length)
    nulls[index] = 1
  }
  return nulls
}

function encodeNumbers({ kind }: Column, values: readonly unknown[]): Values {
  switch (kind) {
    case "int32":
      return Int32Array.from(values, (value) => (value ?? 0) as number)
    case "float64":
      return Float64Array.from(values, (value) => (value ?? 0) as number)
    case "int64":
    case "timestamp_us":
      return BigInt64Array.from(values, (value) => (value ?? 0n) as bigint)
    default:
      assert(kind === "bool", `a column of ${kind} is not a plain column`)
      return Uint8Array.from(values, (value) => (value === true ? 1 : 0))
  }
}

/** All texts of a column are encoded as one: a call per text would cost more than the encoding. */
function texts(values: readonly unknown[]): Pick<ColumnValues, "data" | "offsets"> {
  const given = values.map((value) => (value ?? "") as string)
  const joined = given.join("")
  if (isStoredAsItIs(joined) && !given.some(endsInHalf)) return encodeJoined(given, joined)
  const stored = given.map(storedText)
  return encodeJoined(stored, stored.join(""))
}

/** Two halves that meet where texts are joined look like a whole. */
function endsInHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff
}

function encodeJoined(given: readonly string[], joined: string): Pick<ColumnValues, "data" | "offsets"> {
  const data = new TextEncoder().encode(joined)
  const isAscii = data.length === joined.length
  const offsets = new Int32Array(given.length + 1)
  let used = 0
  for (let index = 0; index < given.length; index++) {
    const text = given[index] as string
    used += isAscii ? text.length : Buffer.byteLength(text)
    offsets[index + 1] = used
  }
  return { data, offsets }
}

/** A column of texts as they were given. */
export function textsOf(column: ColumnValues): (string | null)[] {
  const textAt = textReader(column)
  return Array.from({ length: (column.offsets?.length ?? 1) - 1 }, (_, row) => textAt(row))
}

/** Of such a column the text of one row. */
export function textReader({ data, offsets, nulls }: ColumnValues): (row: number) => string | null {
  assert(offsets !== undefined, "a column of texts says where each begins")
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  return (row) => (nulls?.[row] ? null : originalText(bytes.toString("utf8", offsets[row], offsets[row + 1])))
}

/** So many rows are compared with those before them at once. */
const REPEATED_ROWS = 64

/**
 * Of such a column whether a row has the same text as the one before it: told without reading either. Quick for who asks
 * row by row, where a text stands in many.
 */
export function repeatedTexts({ data, offsets }: Pick<ColumnValues, "data" | "offsets">): (row: number) => boolean {
  assert(offsets !== undefined, "a column of texts says where each begins")
  const words = new DataView(data.buffer, data.byteOffset, data.byteLength)
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  /** Rows between these are those that they follow; up to the third it was asked of many at once, in vain. */
  let [from, to, tried] = [0, 0, 1]
  return (row) => {
    if (row >= from && row < to) return true
    if (row === 0) return false
    if (row >= tried) {
      tried = row + REPEATED_ROWS
      if (areRepeated(bytes, offsets, row, tried)) {
        from = row
        to = tried
        return true
      }
    }
    const [before, begin, end] = [offsets[row - 1] as number, offsets[row] as number, offsets[row + 1] as number]
    return isSameBytes(words, begin, end, before, begin)
  }
}

/** Whether each of these rows has the text of the one before it. */
function areRepeated(bytes: Buffer, offsets: Int32Array, from: number, to: number): boolean {
  if (to >= offsets.length) return false
  const [first, begin, end] = [offsets[from - 1] as number, offsets[from] as number, offsets[to] as number]
  const length = begin - first
  for (let row = from; row < to; row++)
    if ((offsets[row + 1] as number) - (offsets[row] as number) !== length) return false
  return bytes.compare(bytes, begin, end, first, end - length) === 0
}

/** Four bytes at once: ids are long, and there are millions of them. */
export function isSameBytes(words: DataView, from: number, to: number, otherFrom: number, otherTo: number): boolean {
  if (to - from !== otherTo - otherFrom) return false
  let [at, other] = [from, otherFrom]
  for (; at + 4 <= to; at += 4, other += 4) if (words.getInt32(at, true) !== words.getInt32(other, true)) return false
  for (; at < to; at++, other++) if (words.getUint8(at) !== words.getUint8(other)) return false
  return true
}

/** No column of bytes is among them. */
export function rowsOfColumns(table: AnyTable, { length, columns }: ColumnBatch): AnyRow[] {
  const values = Object.entries(columns).map(
    ([name, column]) => [name, cellReader(table.columns[name] as Column, column)] as const,
  )
  return Array.from({ length }, (_, row) => Object.fromEntries(values.map(([name, at]) => [name, at(row)])))
}

function cellReader({ kind }: Column, column: ColumnValues): (row: number) => unknown {
  const { data, offsets, nulls } = column
  if (offsets !== undefined) return textReader(column)
  const read = kind === "bool" ? (row: number) => data[row] === 1 : (row: number) => data[row]
  return nulls === undefined ? read : (row) => (nulls[row] ? null : read(row))
}

/** The named columns alone. */
export function ofColumns({ length, columns }: ColumnBatch, names: readonly string[]): ColumnBatch {
  return { length, columns: Object.fromEntries(names.map((name) => [name, columns[name] as ColumnValues])) }
}

export function valuesOf({ columns }: ColumnBatch): ColumnValues[] {
  return Object.values(columns)
}

/** Other values in some columns; the rest as it is. */
export function replaceColumns(
  table: AnyTable,
  batch: ColumnBatch,
  given: Readonly<Record<string, readonly unknown[]>>,
): ColumnBatch {
  const columns: Record<string, ColumnValues> = { ...batch.columns }
  for (const [name, values] of Object.entries(given)) {
    columns[name] = columnOf(table.columns[name] as Column, values, `${table.name}.${name}`)
  }
  return { length: batch.length, columns }
}

/** The same value for every row in some columns: it is encoded once. */
export function fillColumns(table: AnyTable, batch: ColumnBatch, given: AnyRow): ColumnBatch {
  const { length } = batch
  const columns: Record<string, ColumnValues> = { ...batch.columns }
  for (const [name, value] of Object.entries(given)) {
    const { data, offsets } = columnOf(table.columns[name] as Column, [value], `${table.name}.${name}`)
    const width = data.length
    const repeated = emptyLike(data, width * length)
    for (let row = 0; row < length; row++) (repeated as Uint8Array).set(data as Uint8Array, row * width)
    columns[name] =
      offsets === undefined
        ? { data: repeated }
        : { data: repeated, offsets: Int32Array.from({ length: length + 1 }, (_, row) => row * width) }
  }
  return { length, columns }
}

/** About how much memory they take. */
export function columnBytes({ columns }: ColumnBatch): number {
  let bytes = 0
  for (const { data, offsets, nulls } of Object.values(columns)) {
    bytes += data.byteLength + (offsets?.byteLength ?? 0) + (nulls?.byteLength ?? 0)
  }
  return bytes
}

/** What another thread takes over instead of copying it. */
export function buffersOf(batches: readonly ColumnBatch[]): ArrayBufferLike[] {
  return batches.flatMap(({ columns }) =>
    Object.values(columns).flatMap(({ data, offsets, nulls }) =>
      [data, offsets, nulls].flatMap((values) => (values === undefined ? [] : [values.buffer])),
    ),
  )
}

export function emptyLike(values: Values, length: number): Values {
  return new (values.constructor as new (length: number) => Values)(length)
}

// --- Comparing ---------------------------------------------------------------------------------------------------------

/** Whether so many rows of two batches, each from a row on, have the same values; of columns that have one in every row. */
export function areSameRows(
  one: ColumnBatch,
  from: number,
  other: ColumnBatch,
  otherFrom: number,
  rows: number,
): boolean {
  return Object.entries(one.columns).every(([name, column]) => {
    const beside = other.columns[name] as ColumnValues
    if (column.nulls !== undefined || beside.nulls !== undefined)
      return areSameWithNulls(column, from, beside, otherFrom, rows)
    if (column.offsets === undefined || beside.offsets === undefined)
      return bytesAt(column.data, from, rows).equals(bytesAt(beside.data, otherFrom, rows))
    return (
      areSameTexts(column.offsets, from, beside.offsets, otherFrom, rows) &&
      textBytes(column, from, rows).equals(textBytes(beside, otherFrom, rows))
    )
  })
}

/** What lies where there is no value is not looked at. */
function areSameWithNulls(
  one: ColumnValues,
  from: number,
  other: ColumnValues,
  otherFrom: number,
  rows: number,
): boolean {
  for (let row = 0; row < rows; row++) {
    const isAbsent = (one.nulls?.[from + row] ?? 0) !== 0
    if (isAbsent !== ((other.nulls?.[otherFrom + row] ?? 0) !== 0)) return false
    if (!isAbsent && !cellBytes(one, from + row).equals(cellBytes(other, otherFrom + row))) return false
  }
  return true
}

function cellBytes(column: ColumnValues, row: number): Buffer {
  return column.offsets === undefined ? bytesAt(column.data, row, 1) : textBytes(column, row, 1)
}

function areSameTexts(one: Int32Array, from: number, other: Int32Array, otherFrom: number, rows: number): boolean {
  const apart = (other[otherFrom] as number) - (one[from] as number)
  for (let row = 1; row <= rows; row++)
    if ((other[otherFrom + row] as number) - (one[from + row] as number) !== apart) return false
  return true
}

function bytesAt({ buffer, byteOffset, BYTES_PER_ELEMENT: width }: Values, from: number, rows: number): Buffer {
  return Buffer.from(buffer, byteOffset + from * width, rows * width)
}

function textBytes({ data, offsets = new Int32Array(1) }: ColumnValues, from: number, rows: number): Buffer {
  const begin = offsets[from] as number
  return Buffer.from(data.buffer, data.byteOffset + begin, (offsets[from + rows] as number) - begin)
}

// --- Keys --------------------------------------------------------------------------------------------------------------

/** Two hashes of the key of each row, by its values alone: equal keys have equal hashes wherever they come from. */
export function keyHashes(key: readonly ColumnValues[], length: number): Uint32Array {
  const hashes = new Uint32Array(2 * length)
  for (let row = 0; row < length; row++) {
    hashes[2 * row] = 0x811c9dc5
    hashes[2 * row + 1] = 0x9e3779b9
  }
  for (const { data, offsets } of key) {
    if (offsets === undefined) addNumbers(hashes, data)
    else addTexts(hashes, data as Uint8Array, offsets)
  }
  for (let at = 0; at < hashes.length; at++) hashes[at] = mixBits(hashes[at] as number)
  return hashes
}

function addNumbers(hashes: Uint32Array, data: Values): void {
  for (let at = 0; at < hashes.length; at += 2) {
    const item = Number(data[at >> 1])
    hashes[at] = firstWith(hashes[at] as number, item)
    hashes[at + 1] = secondWith(hashes[at + 1] as number, item)
  }
}

/** Four bytes at once: keys are long, and there are millions of them. */
function addTexts(hashes: Uint32Array, data: Uint8Array, offsets: Int32Array): void {
  const words = new DataView(data.buffer, data.byteOffset, data.byteLength)
  for (let at = 0; at < hashes.length; at += 2) {
    const end = offsets[(at >> 1) + 1] as number
    let [first, second] = [hashes[at] as number, hashes[at + 1] as number]
    let from = offsets[at >> 1] as number
    // The end of a value: `ab` and `c` are not `a` and `bc`.
    const size = end - from
    first = firstWith(first, size)
    second = secondWith(second, size)
    for (; from + 4 <= end; from += 4) {
      const word = words.getInt32(from, true)
      first = firstWith(first, word)
      second = secondWith(second, word)
    }
    for (; from < end; from++) {
      first = firstWith(first, data[from] as number)
      second = secondWith(second, data[from] as number)
    }
    hashes[at] = first
    hashes[at + 1] = second
  }
}

function firstWith(hash: number, item: number): number {
  const next = Math.imul(hash ^ item, 0x01000193)
  return next ^ (next >>> 17)
}

function secondWith(hash: number, item: number): number {
  return Math.imul(hash ^ (hash >>> 15) ^ item, 0x85ebca6b)
}

/** Every bit counts in every other, so that any of them can choose a slot. */
function mixBits(hash: number): number {
  const half = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const whole = Math.imul(half ^ (half >>> 13), 0xc2b2ae35)
  return (whole ^ (whole >>> 16)) >>> 0
}
