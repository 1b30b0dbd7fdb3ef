/**
 * What a manifest of a table says about files: which ones belong to a version, and how long each is. Reads just that
 * much of Lance's published manifest format, for checks and repairs of local stores; everything else asks the engine.
 * `manifest-edit.ts` makes a manifest without some of its files.
 */

export interface ReferencedFile {
  /** Relative to the folder of the table. */
  readonly path: string
  /** Unknown where the format does not record it. */
  readonly bytes: number | undefined
  /** The index that it belongs to: that can be built again from the rest. */
  readonly index?: string
}

const MAGIC = "LANC"
/** The end of a manifest: where its content lies (8 bytes), the version of the format (4), the magic (4). */
export const TAIL_BYTES = 16
/** Manifest names count down from here, so that the newest comes first in a listing. */
const NAME_BASE = 2n ** 64n - 1n
const MANIFEST_NAME = /^(\d{20})\.manifest$/

export function manifestVersion(name: string): bigint | undefined {
  const digits = MANIFEST_NAME.exec(name)?.[1]
  return digits === undefined ? undefined : NAME_BASE - BigInt(digits)
}

export function manifestName(version: bigint): string {
  return `${String(NAME_BASE - version).padStart(20, "0")}.manifest`
}

/** The blobs of a data file lie in a folder of its name. No manifest lists them. */
export function blobOwner(path: string): string {
  return path.replace(/^(data\/[^/]+)\/.*$/, "$1.lance")
}

/** The files of that version, or nothing where the bytes are no whole manifest. */
export function referencedFiles(manifest: Uint8Array): readonly ReferencedFile[] | undefined {
  const bytes = bufferOver(manifest)
  try {
    const fields = manifestFields(bytes)
    if (fields === undefined) return undefined
    const fragments = fields
      .filter(([number]) => number === 2)
      .flatMap(([, fragment]) => fragmentFiles(bufferOf(fragment)))
    const indexAt = fields.find(([number]) => number === 6)?.[1]
    return [...fragments, ...(indexAt === undefined ? [] : indexFiles(sectionAt(bytes, Number(indexAt))))]
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

export function bufferOver({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** Nothing where the end is not that of a manifest; a `RangeError` where the rest is not. */
export function manifestFields(bytes: Buffer): readonly ProtoField[] | undefined {
  if (bytes.length < TAIL_BYTES || bytes.toString("latin1", bytes.length - 4) !== MAGIC) return undefined
  return [...protoFields(sectionAt(bytes, Number(bytes.readBigInt64LE(bytes.length - TAIL_BYTES))))]
}

/** A section says its length before its content. */
export function sectionAt(bytes: Buffer, at: number): Buffer {
  const length = bytes.readUInt32LE(at)
  if (at + 4 + length > bytes.length) throw new RangeError("a section ends after the file")
  return bytes.subarray(at + 4, at + 4 + length)
}

export function fragmentFiles(fragment: Buffer): ReferencedFile[] {
  const files: ReferencedFile[] = []
  let id = 0n
  for (const [number, value] of protoFields(fragment)) {
    if (number === 1) id = numberOf(value)
    if (number === 2) files.push(dataFile(bufferOf(value)))
    if (number === 3) files.push(deletionFile(id, bufferOf(value)))
  }
  return files
}

function dataFile(content: Buffer): ReferencedFile {
  const fields = fieldsOf(content)
  const bytes = Number(numberOf(fields.get(6)))
  return { path: `data/${bufferOf(fields.get(1)).toString("utf8")}`, bytes: bytes === 0 ? undefined : bytes }
}

function deletionFile(fragmentId: bigint, content: Buffer): ReferencedFile {
  const fields = fieldsOf(content)
  const extension = numberOf(fields.get(1)) === 0n ? "arrow" : "bin"
  const name = `${fragmentId}-${numberOf(fields.get(2))}-${numberOf(fields.get(3))}.${extension}`
  return { path: `_deletions/${name}`, bytes: undefined }
}

function indexFiles(section: Buffer): ReferencedFile[] {
  const indexes = [...protoFields(section)].filter(([number]) => number === 1)
  return indexes.flatMap(([, index]) => {
    const fields = [...protoFields(bufferOf(index))]
    const uuid = fieldsOf(bufferOf(fields.find(([number]) => number === 1)?.[1])).get(1)
    const folder = `_indices/${uuidText(bufferOf(uuid))}`
    const name = bufferOf(fields.find(([number]) => number === 3)?.[1]).toString("utf8")
    return fields
      .filter(([number]) => number === 10)
      .map(([, file]) => {
        const named = fieldsOf(bufferOf(file))
        const path = `${folder}/${bufferOf(named.get(1)).toString("utf8")}`
        return { path, bytes: Number(numberOf(named.get(2))), index: name }
      })
  })
}

export function uuidText(bytes: Buffer): string {
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}

// --- Protocol buffers: numbered fields, of which those that pond does not know are passed over -----------------------

type ProtoValue = bigint | Buffer
export type ProtoField = readonly [number: number, value: ProtoValue, raw: Buffer]

export function bufferOf(value: ProtoValue | undefined): Buffer {
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0)
}

export function numberOf(value: ProtoValue | undefined): bigint {
  return typeof value === "bigint" ? value : 0n
}

/**
 * With the bytes that each field is made of. A loop over plain numbers: as a generator over large ones this was the
 * hottest code of a command that opens five tables.
 */
export function protoFields(content: Buffer): readonly ProtoField[] {
  const fields: ProtoField[] = []
  const end = content.length
  for (let at = 0; at < end; ) {
    const from = at
    const tag = varintAt(content, at)
    at = tag.end
    const number = Number(tag.value) >> 3
    const wire = Number(tag.value) & 7
    if (wire === 0) {
      const read = varintAt(content, at)
      at = read.end
      fields.push([number, BigInt(read.value), content.subarray(from, at)])
      continue
    }
    const sized = wire === 2 ? varintAt(content, at) : undefined
    const length = sized === undefined ? FIXED_BYTES[wire] : Number(sized.value)
    at = sized?.end ?? at
    if (length === undefined || at + length > end) throw new RangeError("a field ends after its message")
    at += length
    fields.push([number, content.subarray(at - length, at), content.subarray(from, at)])
  }
  return fields
}

const VARINT_BYTES_MAX = 10

interface Varint {
  readonly value: number | bigint
  /** The first byte behind it. */
  readonly end: number
}

function varintAt(content: Buffer, from: number): Varint {
  const first = content[from]
  if (first !== undefined && first < 0x80) return { value: first, end: from + 1 }
  let value = 0n
  for (let at = 0; at < VARINT_BYTES_MAX; at++) {
    const byte = content.readUInt8(from + at)
    value |= BigInt(byte & 0x7f) << BigInt(7 * at)
    if (byte < 0x80) return { value: BigInt.asUintN(64, value), end: from + at + 1 }
  }
  throw new RangeError("a number has too many bytes")
}

export function fieldsOf(content: Buffer): ReadonlyMap<number, ProtoValue> {
  return new Map([...protoFields(content)].map(([number, value]) => [number, value]))
}

const FIXED_BYTES: Readonly<Record<number, number>> = { 1: 8, 5: 4 }
