/**
 * Reading members of a zip file: a list of names, and the bytes of one member as a stream. Nothing is unpacked to a disk, and
 * no name is used as a path. What a member says of its size is a limit: a member that inflates to more is refused. Zip64 is
 * read; encryption and methods other than deflate are not. Format: APPNOTE 6.3.10, sections 4.3 and 4.5.3.
 */
import { closeSync, createReadStream, openSync, readSync, statSync } from "node:fs"
import { zlib } from "../zlib.ts"

/** Plain data, so that a plan can name a member to another thread. */
export interface ZipMember {
  readonly name: string
  /** 0: stored, 8: deflated. */
  readonly method: number
  readonly packedBytes: number
  readonly bytes: number
  /** Where its local header begins. */
  readonly at: number
}

/** The file is no zip, or a member cannot be read. A fact about the file, and no error of pond. */
export class ZipFault extends Error {}

const END_BYTES = 22
const COMMENT_BYTES_MAX = 65_535
const DIRECTORY_BYTES_MAX = 256 << 20
/** Deflate cannot make more of a byte: a member that says so lies. */
const GROWTH_MAX = 1_032

export function isZip(path: string): boolean {
  return readAt(path, 0, 4).toString("latin1") === "PK\u0003\u0004"
}

/** In the order of the directory. Folders and encrypted members are left out. */
export function zipMembers(path: string): ZipMember[] {
  const size = statSync(path).size
  const { count, bytes, at } = findDirectory(path, size)
  if (bytes > DIRECTORY_BYTES_MAX || at + bytes > size)
    throw new ZipFault("the directory of the zip lies outside of it")
  const directory = readAt(path, at, bytes)
  const members: ZipMember[] = []
  let from = 0
  for (let index = 0; index < count; index++) {
    if (from + 46 > directory.length || directory.readUInt32LE(from) !== 0x02014b50)
      throw new ZipFault("the directory of the zip is damaged")
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) => directory.readUInt16LE(from + field)) as [
      number,
      number,
      number,
    ]
    const name = directory.toString("utf8", from + 46, from + 46 + nameBytes)
    const isEncrypted = (directory.readUInt16LE(from + 8) & 1) === 1
    const extra = directory.subarray(from + 46 + nameBytes, from + 46 + nameBytes + extraBytes)
    const wide = wideSizes(
      extra,
      [24, 20, 42].map((field) => directory.readUInt32LE(from + field)),
    )
    const [inflated = 0, packedBytes = 0, header = 0] = wide
    const method = directory.readUInt16LE(from + 10)
    if (!name.endsWith("/") && !isEncrypted) members.push({ name, method, packedBytes, bytes: inflated, at: header })
    from += 46 + nameBytes + extraBytes + commentBytes
  }
  return members
}

/** The bytes of a member, a piece at a time. */
export async function* memberBytes(path: string, member: ZipMember): AsyncGenerator<Uint8Array> {
  const { name, method, packedBytes, bytes, at } = member
  if (method !== 0 && method !== 8)
    throw new ZipFault(`${name} is packed by a method that pond cannot read (${method})`)
  if (bytes > packedBytes * GROWTH_MAX + GROWTH_MAX) throw new ZipFault(`${name} says that it is larger than it can be`)
  const header = readAt(path, at, 30)
  if (header.length < 30 || header.readUInt32LE(0) !== 0x04034b50)
    throw new ZipFault(`${name} is not where the zip says`)
  if (packedBytes === 0) return
  const start = at + 30 + header.readUInt16LE(26) + header.readUInt16LE(28)
  const packed = createReadStream(path, { start, end: start + packedBytes - 1 })
  const unpacked = method === 0 ? packed : packed.pipe(zlib().createInflateRaw())
  packed.on("error", (error) => unpacked.destroy(error))
  let read = 0
  try {
    for await (const piece of unpacked as AsyncIterable<Uint8Array>) {
      read += piece.length
      if (read > bytes) throw new ZipFault(`${name} is larger than the zip says`)
      yield piece
    }
  } catch (error) {
    throw isInflateError(error) ? new ZipFault(`${name} is damaged`) : error
  } finally {
    packed.destroy()
  }
  if (read < bytes) throw new ZipFault(`${name} ends too early`)
}

function isInflateError(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : ""
  return code.startsWith("Z_") || code === "ERR_STREAM_PREMATURE_CLOSE"
}

// --- The directory ------------------------------------------------------------------------------------------------------

interface Directory {
  readonly count: number
  readonly bytes: number
  readonly at: number
}

function findDirectory(path: string, size: number): Directory {
  const from = Math.max(0, size - END_BYTES - COMMENT_BYTES_MAX)
  const end = readAt(path, from, size - from)
  const found = end.lastIndexOf("PK\u0005\u0006", undefined, "latin1")
  if (found < 0 || found + END_BYTES > end.length) throw new ZipFault("no directory of a zip")
  const narrow = {
    count: end.readUInt16LE(found + 10),
    bytes: end.readUInt32LE(found + 12),
    at: end.readUInt32LE(found + 16),
  }
  const isWide = narrow.count === 0xffff || narrow.bytes === 0xffffffff || narrow.at === 0xffffffff
  const locator = found - 20
  if (!isWide || locator < 0 || end.readUInt32LE(locator) !== 0x07064b50) return narrow
  const wide = readAt(path, Number(end.readBigUInt64LE(locator + 8)), 56)
  if (wide.length < 56 || wide.readUInt32LE(0) !== 0x06064b50) throw new ZipFault("the directory of the zip is damaged")
  return {
    count: Number(wide.readBigUInt64LE(32)),
    bytes: Number(wide.readBigUInt64LE(40)),
    at: Number(wide.readBigUInt64LE(48)),
  }
}

/** Values that do not fit into 32 bits stand in an extra field, in this order, each only where it does not fit. */
function wideSizes(extra: Buffer, narrow: readonly number[]): number[] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue
    let next = at + 4
    return narrow.map((value) => {
      if (value !== 0xffffffff || next + 8 > extra.length) return value
      next += 8
      return Number(extra.readBigUInt64LE(next - 8))
    })
  }
  return [...narrow]
}

function readAt(path: string, at: number, bytes: number): Buffer {
  if (!Number.isSafeInteger(at) || at < 0) throw new ZipFault("the directory of the zip is damaged")
  const file = openSync(path, "r")
  try {
    const buffer = Buffer.alloc(bytes)
    return buffer.subarray(0, readSync(file, buffer, 0, bytes, at))
  } finally {
    closeSync(file)
  }
}
