/**
 * A manifest without what is damaged: the same version of a table, less the fragments and indexes whose files are not
 * whole. What is left is read by the engine as before, because fragments need nothing of each other.
 */
import {
  bufferOf,
  bufferOver,
  fieldsOf,
  fragmentFiles,
  manifestFields,
  numberOf,
  type ProtoField,
  protoFields,
  sectionAt,
  TAIL_BYTES,
  uuidText,
} from "./manifest-file.ts"

/** Numbers of rows, from the first to the one before the second. */
export type RowRange = readonly [from: number, to: number]

export interface LostFragment {
  readonly files: readonly string[]
  /** Deleted ones are not counted. */
  readonly rows: number
  readonly ranges: readonly RowRange[]
}

export interface EditedManifest {
  readonly bytes: Uint8Array
  readonly lost: readonly LostFragment[]
}

const FRAGMENTS = 2
const VERSION = 3
const INDEX_SECTION = 6
const NEXT_ROW = 14
/** What the commit of a version did lies in a section too, which the new manifest does not have. */
const TRANSACTION_SECTION = 21

/** How many rows a version has, and the number that the next one gets. */
export function rowsOfManifest(manifest: Uint8Array): { readonly rows: number; readonly next: number } {
  const fields = manifestFields(bufferOver(manifest)) ?? []
  const fragments = fields.filter(([number]) => number === FRAGMENTS)
  const next = fields.find(([number]) => number === NEXT_ROW)?.[1]
  return {
    rows: fragments.reduce((sum, [, fragment]) => sum + rowsOfFragment(bufferOf(fragment)), 0),
    next: Number(numberOf(next)),
  }
}

/** The number of the first row that each fragment was written with. */
export function firstRowsOfFragments(manifest: Uint8Array): readonly number[] {
  const fields = manifestFields(bufferOver(manifest)) ?? []
  return fields.flatMap(([number, fragment]) => {
    if (number !== FRAGMENTS) return []
    const [range] = rowRanges(bufferOf(fieldsOf(bufferOf(fragment)).get(5)))
    return range === undefined ? [] : [range[0]]
  })
}

/** `isBad` is asked about paths below the folder of the table. */
export function withoutDamaged(
  manifest: Uint8Array,
  isBad: (path: string) => boolean,
  version?: bigint,
): EditedManifest {
  const bytes = bufferOver(manifest)
  const fields = manifestFields(bytes) ?? []
  const lost: LostFragment[] = []
  const kept: Buffer[] = []
  let indexes: Buffer = Buffer.alloc(0)
  for (const [number, value, raw] of fields) {
    if (number === INDEX_SECTION) indexes = wholeIndexes(sectionAt(bytes, Number(value)), isBad)
    else if (number === VERSION && version !== undefined) kept.push(numberField(VERSION, version))
    else if (number === FRAGMENTS && isLost(bufferOf(value), isBad)) lost.push(lostFragment(bufferOf(value)))
    else if (number !== TRANSACTION_SECTION) kept.push(raw)
  }
  if (indexes.length > 0) kept.push(numberField(INDEX_SECTION, 0n))
  return { bytes: assemble(indexes, Buffer.concat(kept), bytes.subarray(bytes.length - TAIL_BYTES / 2)), lost }
}

/** The indexes first, then the message, then where that begins. */
function assemble(indexes: Buffer, content: Buffer, end: Buffer): Buffer {
  const begin = indexes.length === 0 ? Buffer.alloc(0) : Buffer.concat([lengthOf(indexes), indexes])
  const at = Buffer.alloc(8)
  at.writeBigInt64LE(BigInt(begin.length))
  return Buffer.concat([begin, lengthOf(content), content, at, end])
}

function lengthOf(content: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(content.length)
  return length
}

function numberField(number: number, value: bigint): Buffer {
  return Buffer.from([...varint(BigInt(number << 3)), ...varint(value)])
}

function messageField(number: number, content: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from([...varint(BigInt((number << 3) | 2)), ...varint(BigInt(content.length))]),
    content,
  ])
}

function varint(value: bigint): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return [...bytes, Number(rest)]
}

function isLost(fragment: Buffer, isBad: (path: string) => boolean): boolean {
  return fragmentFiles(fragment).some(({ path }) => isBad(path))
}

function wholeIndexes(section: Buffer, isBad: (path: string) => boolean): Buffer {
  const whole = [...protoFields(section)].filter(
    ([number, index]) => number !== 1 || isWholeIndex(bufferOf(index), isBad),
  )
  return Buffer.concat(whole.map(([, , raw]) => raw))
}

function isWholeIndex(index: Buffer, isBad: (path: string) => boolean): boolean {
  const fields = [...protoFields(index)]
  const uuid = fieldsOf(bufferOf(firstOf(fields, 1))).get(1)
  const folder = `_indices/${uuidText(bufferOf(uuid))}`
  return fields
    .filter(([number]) => number === 10)
    .every(([, file]) => !isBad(`${folder}/${bufferOf(fieldsOf(bufferOf(file)).get(1)).toString("utf8")}`))
}

function firstOf(fields: readonly ProtoField[], wanted: number): ProtoField[1] | undefined {
  return fields.find(([number]) => number === wanted)?.[1]
}

/**
 * The same version, whose files lie in the folder of a table elsewhere. Without indexes: what they say can be read from
 * the rows too.
 */
export function withFilesAt(manifest: Uint8Array, uri: string): Uint8Array {
  const bytes = bufferOver(manifest)
  const kept: Buffer[] = []
  for (const [number, value, raw] of manifestFields(bytes) ?? []) {
    if (number === FRAGMENTS) kept.push(messageField(FRAGMENTS, fragmentElsewhere(bufferOf(value))))
    else if (number !== TRANSACTION_SECTION && number !== INDEX_SECTION) kept.push(raw)
  }
  const base = [numberField(1, BASE_ID), numberField(3, 1n), messageField(4, Buffer.from(uri))]
  kept.push(messageField(BASE_PATHS, Buffer.concat(base)))
  return assemble(Buffer.alloc(0), Buffer.concat(kept), bytes.subarray(bytes.length - TAIL_BYTES / 2))
}

const BASE_PATHS = 18
const BASE_ID = 1n
/** Of a data file, and of a deletion file. */
const BASE_OF_FILE = 7

function fragmentElsewhere(fragment: Buffer): Buffer {
  const isFile = (number: number) => number === 2 || number === 3
  const fields = [...protoFields(fragment)].map(([number, value, raw]) =>
    isFile(number) ? messageField(number, Buffer.concat([bufferOf(value), numberField(BASE_OF_FILE, BASE_ID)])) : raw,
  )
  return Buffer.concat(fields)
}

// --- The rows of a fragment ------------------------------------------------------------------------------------------

function lostFragment(fragment: Buffer): LostFragment {
  return {
    files: fragmentFiles(fragment).map(({ path }) => path),
    rows: rowsOfFragment(fragment),
    ranges: rowRanges(bufferOf(fieldsOf(fragment).get(5))),
  }
}

function rowsOfFragment(fragment: Buffer): number {
  const fields = fieldsOf(fragment)
  const deleted = fieldsOf(bufferOf(fields.get(3))).get(4)
  return Number(numberOf(fields.get(4)) - numberOf(deleted))
}

/** Segments of row numbers: mostly ranges. A list is given as its first and last number, which may cover a few rows too many. */
function rowRanges(sequence: Buffer): RowRange[] {
  return [...protoFields(sequence)]
    .filter(([number]) => number === 1)
    .flatMap(([, segment]) => [...protoFields(bufferOf(segment))])
    .map(([number, content]) => (number <= 3 ? plainRange(bufferOf(content)) : listRange(bufferOf(content))))
}

function plainRange(range: Buffer): RowRange {
  const fields = fieldsOf(range)
  return [Number(numberOf(fields.get(1))), Number(numberOf(fields.get(2)))]
}

/** A base and offsets of 2 or 4 bytes, or values of 8. */
function listRange(list: Buffer): RowRange {
  const [number, content] = [...protoFields(list)][0] ?? [1, Buffer.alloc(0)]
  const fields = fieldsOf(bufferOf(content))
  const base = number === 3 ? 0 : Number(numberOf(fields.get(1)))
  const values = bufferOf(fields.get(number === 3 ? 1 : 2))
  const width = [2, 4, 8][number - 1] ?? 8
  let [from, to] = [Number.POSITIVE_INFINITY, 0]
  for (let at = 0; at + width <= values.length; at += width) {
    const value = base + (width === 8 ? Number(values.readBigUInt64LE(at)) : values.readUIntLE(at, width))
    from = Math.min(from, value)
    to = Math.max(to, value + 1)
  }
  return [from, to]
}
