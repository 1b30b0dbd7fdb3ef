/**
 * A batch of rows as the engine sends it (an Arrow IPC file of one batch), read in place: the offsets of Arrow's
 * flatbuffers, without Arrow's library. In a new process that library took 3 ms of processor time a batch, as long as the
 * engine took to read it, and a search reads seventeen. It reads what pond's columns are made of, and nothing else.
 * Format: https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format
 */
import type { Data, RecordBatch } from "apache-arrow"
import { assert } from "../../model/errors.ts"

/** One column, or a child of one: where its values lie. Columns of Arrow's library have the same members. */
export interface AnswerColumn {
  readonly length: number
  readonly nullCount: number
  /** A bit for each value that is there. */
  readonly nullBitmap: Uint8Array
  /** As they are stored: numbers, bytes of texts, bits of truths. */
  // biome-ignore lint/suspicious/noExplicitAny: which array it is depends on the column, as in Arrow's own type
  readonly values: any
  /** Where each text begins in the values. */
  readonly valueOffsets?: Int32Array
  readonly children: readonly AnswerColumn[]
}

export interface Answer {
  readonly numRows: number
  readonly names: readonly string[]
  readonly columns: readonly AnswerColumn[]
}

/** The same of a batch that Arrow's library has read. */
export function answerOfRecord(record: RecordBatch): Answer {
  const columns: readonly Data[] = record.data.children
  for (const { offset } of columns) assert(offset === 0, "a batch holds its columns from their beginning")
  return { numRows: record.numRows, names: record.schema.fields.map(({ name }) => name), columns }
}

/** The named column of an answer. */
export function columnNamed({ names, columns }: Answer, name: string): AnswerColumn {
  const column = columns[names.indexOf(name)]
  assert(column !== undefined, `a batch holds the column ${name}`)
  return column
}

export function hasValue({ nullCount, nullBitmap }: AnswerColumn, row: number): boolean {
  return nullCount === 0 || (((nullBitmap[row >> 3] as number) >> (row & 7)) & 1) === 1
}

// --- Messages of the file --------------------------------------------------------------------------------------------

/** The file ends with the length of its footer and this. */
const MAGIC = "ARROW1"
/** Before the length of each message. */
const CONTINUATION = 0xffffffff

/** Places of fields in the tables of `File.fbs`, `Message.fbs` and `Schema.fbs`. */
const FOOTER = { schema: 1, batches: 3 }
const MESSAGE = { header: 2 }
const SCHEMA = { fields: 1, metadata: 2 }
const FIELD = { name: 0, typeKind: 2, type: 3, dictionary: 4, children: 5 }
const KEY_VALUE = { key: 0, value: 1 }
const BATCH = { length: 0, nodes: 1, buffers: 2, compression: 3 }
/** A node is a length and a count of nulls, a buffer an offset and a length: two 64-bit numbers each. */
const PAIR_BYTES = 16

const TYPE = {
  int: 2,
  float: 3,
  binary: 4,
  utf8: 5,
  bool: 6,
  timestamp: 10,
  struct: 13,
  fixedSizeList: 16,
  largeBinary: 19,
} as const

/** The metadata of the schema with which the engine describes a table. */
export function schemaMetadata(bytes: Uint8Array): ReadonlyMap<string, string> {
  const reader = new Reader(bytes)
  const schema = reader.table(reader.footer(), FOOTER.schema)
  return new Map(
    reader
      .vector(schema, SCHEMA.metadata)
      .map((pair) => [reader.text(pair, KEY_VALUE.key), reader.text(pair, KEY_VALUE.value)]),
  )
}

export function readAnswer(bytes: Uint8Array): Answer {
  const reader = new Reader(bytes)
  const footer = reader.footer()
  const blocks = reader.structs(footer, FOOTER.batches)
  assert(reader.count(footer, FOOTER.batches) === 1, "the engine sends one batch at a time")
  const batch = reader.messageAt(reader.long(blocks))
  assert(reader.field(batch.header, BATCH.compression) === 0, "the engine sends its batches as they are")
  const fields = reader.vector(reader.table(footer, FOOTER.schema), SCHEMA.fields)
  const walk = {
    node: reader.structs(batch.header, BATCH.nodes),
    buffer: reader.structs(batch.header, BATCH.buffers),
    body: batch.body,
  }
  return {
    numRows: reader.long(reader.field(batch.header, BATCH.length)),
    names: fields.map((field) => reader.text(field, FIELD.name)),
    columns: fields.map((field) => readColumn(reader, field, walk)),
  }
}

/** Columns and their children come in order, and so do their nodes and buffers. */
interface Walk {
  node: number
  buffer: number
  readonly body: number
}

function readColumn(reader: Reader, field: number, walk: Walk): AnswerColumn {
  const kind = reader.byte(reader.field(field, FIELD.typeKind))
  const type = reader.table(field, FIELD.type)
  assert(reader.field(field, FIELD.dictionary) === 0, "the engine sends values, not numbers of them")
  const [length, nullCount] = [reader.long(walk.node), reader.long(walk.node + 8)]
  walk.node += PAIR_BYTES
  const nullBitmap = take(reader, walk)
  const isText = kind === TYPE.utf8 || kind === TYPE.binary
  const offsets = isText ? { valueOffsets: numbers(Int32Array, take(reader, walk)) } : {}
  // Blobs alone have long offsets, and nobody reads those.
  if (kind === TYPE.largeBinary) take(reader, walk)
  const isNested = kind === TYPE.struct || kind === TYPE.fixedSizeList
  const values = isNested ? NO_BYTES : valuesOf(take(reader, walk), kind, reader, type)
  const children = reader.vector(field, FIELD.children).map((child) => readColumn(reader, child, walk))
  return { length, nullCount, nullBitmap, values, ...offsets, children }
}

const NO_BYTES = new Uint8Array()

function take(reader: Reader, walk: Walk): Uint8Array {
  const [offset, length] = [reader.long(walk.buffer), reader.long(walk.buffer + 8)]
  walk.buffer += PAIR_BYTES
  return reader.bytes.subarray(walk.body + offset, walk.body + offset + length)
}

function valuesOf(bytes: Uint8Array, kind: number, reader: Reader, type: number): AnswerColumn["values"] {
  switch (kind) {
    case TYPE.utf8:
    case TYPE.binary:
    case TYPE.largeBinary:
    case TYPE.bool:
      return bytes
    case TYPE.timestamp:
      return numbers(BigInt64Array, bytes)
    case TYPE.float: {
      const precision = reader.field(type, 0)
      return numbers(FLOATS[precision === 0 ? 0 : reader.short(precision)] ?? Uint16Array, bytes)
    }
    default: {
      assert(kind === TYPE.int, `a column of pond is not of the type ${kind} of Arrow`)
      const [width, signed] = [reader.field(type, 0), reader.field(type, 1)]
      return numbers(integersOf(reader.int(width), signed !== 0 && reader.byte(signed) === 1), bytes)
    }
  }
}

/** By Arrow's numbers for half, single and double precision. Halves are kept as their bits. */
const FLOATS: readonly NumbersOf<AnswerColumn["values"]>[] = [Uint16Array, Float32Array, Float64Array]

function integersOf(width: number, isSigned: boolean): NumbersOf<AnswerColumn["values"]> {
  if (width === 64) return isSigned ? BigInt64Array : BigUint64Array
  if (width === 32) return isSigned ? Int32Array : Uint32Array
  assert(width === 8, `integers of a column have 8, 32 or 64 bits, not ${width}`)
  return isSigned ? Int8Array : Uint8Array
}

/** A view where the bytes are aligned, as the engine sends them; a copy otherwise. */
function numbers<T>(array: NumbersOf<T>, bytes: Uint8Array): T {
  const width = array.BYTES_PER_ELEMENT
  const { buffer, byteOffset } = bytes.byteOffset % width === 0 ? bytes : bytes.slice()
  return new array(buffer, byteOffset, Math.floor(bytes.length / width))
}

interface NumbersOf<T> {
  readonly BYTES_PER_ELEMENT: number
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): T
}

// --- Flatbuffers -----------------------------------------------------------------------------------------------------

/** A position is that of a table, of a value in it, or of an element of a vector. A field that is left out is at 0. */
class Reader {
  readonly bytes: Uint8Array
  readonly #view: DataView

  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    // Not the engine's `Buffer`, of which a slice is no copy.
    this.bytes = new Uint8Array(buffer, byteOffset, byteLength)
    this.#view = new DataView(buffer, byteOffset, byteLength)
  }

  footer(): number {
    const end = this.bytes.length - MAGIC.length
    assert(Buffer.from(this.bytes.subarray(end)).toString("latin1") === MAGIC, "the engine sends Arrow IPC files")
    const root = end - 4 - this.int(end - 4)
    return root + this.int(root)
  }

  messageAt(at: number): { readonly header: number; readonly body: number } {
    assert(this.#view.getUint32(at, true) === CONTINUATION, "a message of the engine begins where its footer says")
    const root = at + 8
    const message = root + this.int(root)
    return { header: this.table(message, MESSAGE.header), body: root + this.int(at + 4) }
  }

  byte(at: number): number {
    return this.#view.getUint8(at)
  }

  short(at: number): number {
    return this.#view.getInt16(at, true)
  }

  int(at: number): number {
    return this.#view.getInt32(at, true)
  }

  long(at: number): number {
    return at === 0 ? 0 : Number(this.#view.getBigInt64(at, true))
  }

  field(table: number, index: number): number {
    const places = table - this.int(table)
    const at = 4 + 2 * index
    if (at >= this.#view.getUint16(places, true)) return 0
    const offset = this.#view.getUint16(places + at, true)
    return offset === 0 ? 0 : table + offset
  }

  table(table: number, index: number): number {
    const at = this.field(table, index)
    assert(at !== 0, "a message of the engine holds what it describes")
    return at + this.int(at)
  }

  text(table: number, index: number): string {
    const at = this.field(table, index)
    if (at === 0) return ""
    const start = at + this.int(at)
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset + start + 4, this.int(start)).toString("utf8")
  }

  /** The tables that a vector names. */
  vector(table: number, index: number): number[] {
    const at = this.field(table, index)
    if (at === 0) return []
    const start = at + this.int(at)
    return Array.from({ length: this.int(start) }, (_, item) => {
      const place = start + 4 + 4 * item
      return place + this.int(place)
    })
  }

  /** How many elements a vector has. */
  count(table: number, index: number): number {
    const at = this.field(table, index)
    return at === 0 ? 0 : this.int(at + this.int(at))
  }

  /** Where the first element of a vector of numbers lies. */
  structs(table: number, index: number): number {
    const at = this.field(table, index)
    return at === 0 ? 0 : at + this.int(at) + 4
  }
}
