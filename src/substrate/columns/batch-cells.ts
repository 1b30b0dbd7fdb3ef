/**
 * Reads cells of a batch by column and row without building row objects, for code that validates every row of an archive or
 * asks for the key of each. A text that stands in many rows is read once.
 */
import type { Data } from "apache-arrow"
import { assert } from "../../model/errors.ts"
import { type ColumnValues, isSameBytes, keyHashes, repeatedTexts } from "./column-batch.ts"
import type { RowBatch } from "./row-batch.ts"
import { originalText } from "./surrogate-escape.ts"

export interface TextColumn {
  /** Null if the cell has no value. */
  readonly at: (row: number) => string | null
  readonly bytesAt: (row: number) => number
  /** The same as bytes: all of the column, and where the text of a row begins and ends in it. */
  readonly bytes: Uint8Array
  readonly offsets: Int32Array
  readonly hasValue: (row: number) => boolean
  /** Whether it has the same text as the row before it: told without reading either. */
  readonly isRepeated: (row: number) => boolean
}

/** A text no longer than this is compared with the one that was met last in its place. */
const REPEATED_BYTES = 128
const PLACES = 1024

export function textColumn(batch: RowBatch, name: string): TextColumn {
  const data = columnData(batch, name)
  const values = data.values as Uint8Array
  const text = Buffer.from(values.buffer, values.byteOffset, values.byteLength)
  const offsets = data.valueOffsets as Int32Array
  const isWhole = data.nullCount === 0
  const hasValue = (row: number) => isWhole || data.getValid(row)
  const words = wordsOf(values)
  const cached = createTextCache(words)
  const isRepeated = repeatedTexts({ data: values, offsets })
  let [latest, latestText] = [-1, ""]
  const read = (row: number) => {
    if (row !== latest + 1 || row === 0 || !isRepeated(row)) latestText = readAnew(row)
    latest = row
    return latestText
  }
  const readAnew = (row: number) => {
    const [from, to] = [offsets[row] as number, offsets[row + 1] as number]
    if (to - from > REPEATED_BYTES) return originalText(text.toString("utf8", from, to))
    return cached(from, to, () => originalText(text.toString("utf8", from, to)))
  }
  return {
    hasValue,
    bytes: values,
    offsets,
    bytesAt: (row) => (offsets[row + 1] as number) - (offsets[row] as number),
    at: (row) => (hasValue(row) ? read(row) : null),
    isRepeated: (row) => row > 0 && hasValue(row) && hasValue(row - 1) && isRepeated(row),
  }
}

/** Roles, ids of sessions, names of clients: the same few texts over and over, and the same string for each. */
function createTextCache(words: DataView): (from: number, to: number, read: () => string) => string {
  const ends = new Int32Array(PLACES)
  const begins = new Int32Array(PLACES)
  const texts: string[] = new Array(PLACES).fill("")
  let latest = 0
  const isAt = (place: number, from: number, to: number) =>
    isSameBytes(words, from, to, begins[place] as number, ends[place] as number)
  return (from, to, read) => {
    // Most often it is that of the row before.
    if (isAt(latest, from, to)) return texts[latest] as string
    const place = slotOf(words, from, to)
    latest = place
    if (isAt(place, from, to)) return texts[place] as string
    begins[place] = from
    ends[place] = to
    const text = read()
    texts[place] = text
    return text
  }
}

function wordsOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}

function slotOf(words: DataView, from: number, to: number): number {
  let hash = to - from
  let at = from
  for (; at + 4 <= to; at += 4) hash = Math.imul(hash ^ (hash >>> 15) ^ words.getInt32(at, true), 0x01000193)
  for (; at < to; at++) hash = Math.imul(hash ^ words.getUint8(at), 0x01000193)
  return (hash ^ (hash >>> 15)) & (PLACES - 1)
}

/** Which of a few short texts a row has; nothing where it has none of them. No text is made for it. */
export function choiceColumn(
  batch: RowBatch,
  name: string,
  choices: readonly string[],
): (row: number) => string | undefined {
  const data = columnData(batch, name)
  const values = data.values as Uint8Array
  const offsets = data.valueOffsets as Int32Array
  const isWhole = data.nullCount === 0
  const spelled = choices.map((choice) => new TextEncoder().encode(choice))
  return (row) => {
    if (!isWhole && !data.getValid(row)) return undefined
    const from = offsets[row] as number
    const length = (offsets[row + 1] as number) - from
    for (let at = 0; at < spelled.length; at++) {
      const bytes = spelled[at] as Uint8Array
      if (bytes.length === length && standsAt(bytes, values, from)) return choices[at]
    }
    return undefined
  }
}

function standsAt(bytes: Uint8Array, values: Uint8Array, from: number): boolean {
  for (let at = 0; at < bytes.length; at++) if (bytes[at] !== values[from + at]) return false
  return true
}

export function int32Column(batch: RowBatch, name: string): Int32Array {
  return columnData(batch, name).values as Int32Array
}

export function int64Column(batch: RowBatch, name: string): BigInt64Array {
  return columnData(batch, name).values as BigInt64Array
}

/** The upper half of each number: told without a large integer being made of it. */
export function upperHalves(numbers: BigInt64Array): (row: number) => number {
  const halves = new Int32Array(numbers.buffer, numbers.byteOffset, 2 * numbers.length)
  return (row) => halves[2 * row + 1] as number
}

/** Two for the key of each row (see `keyHashes`), unless they came with it. */
export function keyHashesOf(batch: RowBatch): Uint32Array {
  return batch.keyHashes ?? keyHashes(keyColumns(batch), batch.length)
}

/** The columns of the key, without a copy. */
function keyColumns(batch: RowBatch): ColumnValues[] {
  return batch.definition.key.map((name) => {
    const { values, valueOffsets } = columnData(batch, name)
    return batch.definition.columns[name]?.kind === "utf8" ? { data: values, offsets: valueOffsets } : { data: values }
  })
}

export function hasValueIn(batch: RowBatch, name: string): (row: number) => boolean {
  const data = columnData(batch, name)
  return data.nullCount === 0 ? () => true : (row) => data.getValid(row)
}

function columnData({ record }: RowBatch, name: string): Data {
  const data = record.getChild(name)?.data[0]
  assert(data !== undefined && data.offset === 0, `a batch has the column ${name}, from its beginning`)
  return data
}
