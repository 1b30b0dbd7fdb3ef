/**
 * The hash of rows as they were given to the engine: it finds faults that come before a file does, which the checksum of
 * the file would take for right. Made of the values alone, so that rows have the same hash however they lie in batches
 * and files. Each column adds its name, a bit for each row that has a value where one has none, where each value ends, and
 * the values; of a row without one, zeros or nothing. Blobs are left out: their rows are called by the SHA-256 of the bytes.
 */
import type { Data, DataType, RecordBatch, Schema } from "apache-arrow"
import { engine } from "../lance/engine.ts"

/** Rows of a batch, from one place to before another. */
export interface RowSpan {
  readonly record: RecordBatch
  readonly from: number
  readonly to: number
}

export function hashedColumns({ fields }: Schema): readonly string[] {
  return fields.filter(({ type }) => !engine().arrow.DataType.isStruct(type)).map(({ name }) => name)
}

export function contentHash(spans: readonly RowSpan[], columns: readonly string[]): string {
  let hash = 0n
  for (const name of columns) {
    const pieces = spans.map(({ record, from, to }) => ({ data: record.getChild(name)?.data[0] as Data, from, to }))
    for (const bytes of [Buffer.from(name), ...bytesOfColumn(pieces)]) hash = Bun.hash.xxHash3(bytes, hash)
  }
  return hash.toString(16).padStart(16, "0")
}

interface Piece {
  readonly data: Data
  readonly from: number
  readonly to: number
}

/** What a write hands over is one piece from its beginning, of which nothing is copied. */
function* bytesOfColumn(pieces: readonly Piece[]): Generator<Uint8Array> {
  const { arrow } = engine()
  const type = pieces[0]?.data.type as DataType
  const rows = pieces.reduce((sum, { from, to }) => sum + to - from, 0)
  // Of these rows alone: after a compaction others of the same batch may lack a value.
  if (pieces.some((piece) => someAbsent(piece, () => true))) yield joinBits(pieces, rows, validityOf)
  if (isTruth(type)) yield joinBits(pieces, rows, truthsOf)
  else if (arrow.DataType.isUtf8(type) || arrow.DataType.isBinary(type)) {
    const texts = pieces.map(textsOf)
    yield bytesOf(joinEnds(texts, rows))
    yield joinBytes(texts.map(({ values }) => values))
  } else yield joinBytes(pieces.map(valuesOf))
}

/** Written under a type of bytes, see `arrow-rows.ts`. */
function isTruth(type: DataType): boolean {
  const { arrow } = engine()
  return arrow.DataType.isBool(type) || (arrow.DataType.isInt(type) && type.bitWidth === 8)
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength)
}

function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const [first] = pieces
  return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces)
}

// --- Bits -------------------------------------------------------------------------------------------------------------

/** Nothing where all are set. Of a slice they begin at its offset: only bytes and offsets of values are sliced with it. */
type Bits = Uint8Array | undefined

function validityOf({ data }: Piece): Bits {
  return data.nullCount === 0 ? undefined : data.nullBitmap
}

function truthsOf(piece: Piece): Bits {
  const bits = piece.data.values as Uint8Array
  const valid = validityOf(piece)
  return valid === undefined ? bits : bits.subarray(0, valid.length).map((byte, at) => byte & (valid[at] as number))
}

function isSet(bits: Bits, at: number): boolean {
  return bits === undefined || (((bits[at >> 3] as number) >> (at & 7)) & 1) === 1
}

function joinBits(pieces: readonly Piece[], rows: number, bitsOf: (piece: Piece) => Bits): Uint8Array {
  const joined = new Uint8Array((rows + 7) >> 3)
  const [first] = pieces
  if (first !== undefined && pieces.length === 1 && first.from === 0 && first.data.offset === 0) {
    const own = bitsOf(first)
    if (own === undefined) joined.fill(0xff)
    else joined.set(own.subarray(0, joined.length))
    // The rest of the last byte says nothing.
    if (rows % 8 > 0) joined[joined.length - 1] = (joined.at(-1) as number) & ((1 << (rows % 8)) - 1)
    return joined
  }
  let row = 0
  for (const piece of pieces) {
    const own = bitsOf(piece)
    for (let at = piece.from; at < piece.to; at++, row++) {
      if (isSet(own, at + piece.data.offset)) joined[row >> 3] = (joined[row >> 3] as number) | (1 << (row & 7))
    }
  }
  return joined
}

/** Whether something stands where there is no value. */
function someAbsent(piece: Piece, isFilled: (row: number) => boolean): boolean {
  const valid = validityOf(piece)
  if (valid === undefined) return false
  for (let row = piece.from; row < piece.to; row++)
    if (!isSet(valid, row + piece.data.offset) && isFilled(row)) return true
  return false
}

// --- Texts and bytes --------------------------------------------------------------------------------------------------

interface Texts {
  /** Of the values and one more, whose first is not always 0. */
  readonly ends: Int32Array
  readonly values: Uint8Array
}

function textsOf(piece: Piece): Texts {
  const { data, from, to } = piece
  // An empty column has no offsets at all.
  const offsets = (data.valueOffsets as Int32Array | undefined)?.subarray(from, to + 1) ?? new Int32Array(to - from + 1)
  const values = (data.values as Uint8Array).subarray(offsets[0], offsets[to - from])
  const lengthAt = (row: number) => (offsets[row - from + 1] as number) - (offsets[row - from] as number)
  if (!someAbsent(piece, (row) => lengthAt(row) > 0)) return { ends: offsets, values }
  const valid = validityOf(piece)
  const ends = new Int32Array(to - from + 1)
  for (let row = from; row < to; row++)
    ends[row - from + 1] = (ends[row - from] as number) + (isSet(valid, row + data.offset) ? lengthAt(row) : 0)
  const present = new Uint8Array(ends.at(-1) as number)
  for (let at = 0; at < to - from; at++) {
    const begin = (offsets[at] as number) - (offsets[0] as number)
    present.set(values.subarray(begin, begin + (ends[at + 1] as number) - (ends[at] as number)), ends[at])
  }
  return { ends, values: present }
}

/** Counted from 0. */
function joinEnds(pieces: readonly Texts[], rows: number): Int32Array {
  const [first] = pieces
  if (first !== undefined && pieces.length === 1 && first.ends[0] === 0) return first.ends
  const joined = new Int32Array(rows + 1)
  let row = 0
  for (const { ends } of pieces) {
    const base = (joined[row] as number) - (ends[0] as number)
    for (let at = 1; at < ends.length; at++) joined[++row] = base + (ends[at] as number)
  }
  return joined
}

// --- Values of one length ---------------------------------------------------------------------------------------------

function valuesOf(piece: Piece): Uint8Array {
  const { data, from, to } = piece
  const width = engine().arrow.DataType.isFixedSizeList(data.type) ? data.type.listSize : 1
  const items = width === 1 ? data.values : (data.children[0] as Data).values
  const values = bytesOf(items.subarray(from * width, to * width))
  const each = values.length / Math.max(1, to - from)
  const isFilled = (row: number) => {
    for (let at = (row - from) * each; at < (row - from + 1) * each; at++) if (values[at] !== 0) return true
    return false
  }
  if (!someAbsent(piece, isFilled)) return values
  const valid = validityOf(piece)
  const kept = values.slice()
  for (let row = from; row < to; row++)
    if (!isSet(valid, row + data.offset)) kept.fill(0, (row - from) * each, (row - from + 1) * each)
  return kept
}
