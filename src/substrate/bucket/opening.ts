/**
 * The opening of a store: one object with what any process asks of the tables' files before it comes to rows - manifests,
 * ends of data files, the places of pages, the upper levels of indexes. A machine that has never read the bucket gets it in
 * one request, where it would ask for these ranges one by one (91 of the 115 requests of a message among 10,000 sessions).
 * It is made by reading as a new process does and keeping what the engine asked for. It names files that never change, so
 * it may be old: what it lacks is read from the files, and nothing is newer or older for it.
 */
import { zlib } from "../../platform/zlib.ts"

export interface OpeningPiece {
  readonly from: number
  readonly bytes: Uint8Array
}

export interface OpeningObject {
  /** As the caches call it. */
  readonly name: string
  /** Of the whole object. */
  readonly size: number
  /** In order, and apart from each other. */
  readonly pieces: readonly OpeningPiece[]
}

/** Below the folder of notes. */
export const OPENING = "opening"

/** What is read in longer ranges is rows. */
const PIECE_BYTES_MAX = 256 * 1024
/** An object of up to so many bytes is taken whole. */
export const SMALL_BYTES = 512 * 1024
const TOTAL_BYTES_MAX = 12_000_000
const MAGIC = 0x4f4e4f50
/** The magic, the length of what follows once it is plain, and its hash. */
const HEAD_BYTES = 16
const LEVEL = 6

export interface Recording {
  note(name: string, size: number, from: number, bytes: Uint8Array): void
  /** What was noted, up to a limit. */
  objects(): readonly OpeningObject[]
}

export function createRecording(): Recording {
  const noted = new Map<string, { readonly size: number; readonly pieces: OpeningPiece[] }>()
  let total = 0
  return {
    note: (name, size, from, bytes) => {
      const isWhole = bytes.length === size && size <= SMALL_BYTES
      if ((bytes.length > PIECE_BYTES_MAX && !isWhole) || total + bytes.length > TOTAL_BYTES_MAX) return
      const known = noted.get(name) ?? { size, pieces: [] }
      if (known.pieces.some((each) => each.from <= from && each.from + each.bytes.length >= from + bytes.length)) return
      total += bytes.length
      known.pieces.push({ from, bytes })
      noted.set(name, known)
    },
    objects: () => [...noted].map(([name, { size, pieces }]) => ({ name, size, pieces: joinPieces(pieces) })),
  }
}

/** Pieces that overlap or touch become one. */
export function joinPieces(pieces: readonly OpeningPiece[]): readonly OpeningPiece[] {
  const joined: { from: number; parts: Uint8Array[]; to: number }[] = []
  for (const { from, bytes } of pieces.toSorted((one, other) => one.from - other.from)) {
    const last = joined.at(-1)
    if (last === undefined || from > last.to) joined.push({ from, parts: [bytes], to: from + bytes.length })
    else if (from + bytes.length > last.to) {
      last.parts.push(bytes.subarray(last.to - from))
      last.to = from + bytes.length
    }
  }
  return joined.map(({ from, parts }) => ({ from, bytes: new Uint8Array(Buffer.concat(parts)) }))
}

/** Of the bytes of the objects that are in it, unless it is little anyway. */
const SHARE_MAX = 1 / 6
const LITTLE_BYTES = 1_000_000

/** Those of which the least is kept save the most requests for their bytes: the others only where there is room. */
export function fitting(objects: readonly OpeningObject[]): readonly OpeningObject[] {
  const keptOf = ({ pieces }: OpeningObject) => pieces.reduce((sum, { bytes }) => sum + bytes.length, 0)
  const room = Math.max(LITTLE_BYTES, SHARE_MAX * objects.reduce((sum, { size }) => sum + size, 0))
  const byKept = objects.toSorted((one, other) => keptOf(one) - keptOf(other))
  let taken = 0
  const inside = new Set<OpeningObject>()
  for (const object of byKept) {
    taken += keptOf(object)
    if (taken <= room) inside.add(object)
  }
  return objects.filter((object) => inside.has(object))
}

export function packOpening(objects: readonly OpeningObject[]): Uint8Array {
  const names = objects.map(({ name, size, pieces }) => ({
    name,
    size,
    pieces: pieces.map(({ from, bytes }) => [from, bytes.length]),
  }))
  const listed = Buffer.from(JSON.stringify(names))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(listed.length)
  const plain = Buffer.concat([length, listed, ...objects.flatMap(({ pieces }) => pieces.map(({ bytes }) => bytes))])
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUInt32LE(MAGIC, 0)
  head.writeUInt32LE(plain.length, 4)
  head.writeBigUInt64LE(Bun.hash.xxHash3(plain), 8)
  return Buffer.concat([head, Bun.zstdCompressSync(plain, { level: LEVEL })])
}

interface Listed {
  readonly name: string
  readonly size: number
  readonly pieces: readonly (readonly [from: number, length: number])[]
}

/** Nothing where it is not as it was written, or another pond wrote it in another form: then the files are read. */
export function readOpening(content: Uint8Array): readonly OpeningObject[] | undefined {
  const packed = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  if (packed.length < HEAD_BYTES || packed.readUInt32LE(0) !== MAGIC) return undefined
  const plainLength = packed.readUInt32LE(4)
  if (plainLength > 2 * TOTAL_BYTES_MAX) return undefined
  try {
    const frames = packed.subarray(HEAD_BYTES)
    const unpacked = zlib().zstdDecompressSync(frames, { maxOutputLength: Math.max(1, plainLength) })
    const plain = Buffer.from(unpacked.buffer, unpacked.byteOffset, unpacked.byteLength)
    if (plain.length !== plainLength || Bun.hash.xxHash3(plain) !== packed.readBigUInt64LE(8)) return undefined
    const listedEnd = 4 + plain.readUInt32LE(0)
    let at = listedEnd
    return (JSON.parse(plain.toString("utf8", 4, listedEnd)) as readonly Listed[]).map(({ name, size, pieces }) => ({
      name,
      size,
      pieces: pieces.map(([from, length]) => {
        at += length
        return { from, bytes: plain.subarray(at - length, at) }
      }),
    }))
  } catch {
    return undefined
  }
}
