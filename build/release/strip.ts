/**
 * Drops what a loader does not read from an ELF library: everything behind the last segment, which is the symbol table
 * and other sections for debuggers (34 of the engine's 202 MB). Any build machine can do it for any target, and the same
 * library always gives the same bytes.
 */
import { BuildFailure } from "./targets.ts"

const MAGIC = Buffer.from([0x7f, 0x45, 0x4c, 0x46])
const CLASS_64 = 2
const LITTLE_ENDIAN = 1
const HEADER = { programOffset: 32, sectionOffset: 40, programSize: 54, programCount: 56, sectionCount: 60, names: 62 }
const SEGMENT = { offset: 8, fileSize: 32 }

/** The library without its sections. Files of other kinds (macOS signs its libraries) come back as they are. */
export function stripLibrary(library: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> {
  if (!library.subarray(0, MAGIC.length).equals(MAGIC)) return library
  if (library[4] !== CLASS_64 || library[5] !== LITTLE_ENDIAN)
    throw new BuildFailure("A native library is not a 64-bit little-endian ELF file.")
  const stripped = Buffer.from(library.subarray(0, endOfSegments(library)))
  stripped.writeBigUInt64LE(0n, HEADER.sectionOffset)
  stripped.writeUInt16LE(0, HEADER.sectionCount)
  stripped.writeUInt16LE(0, HEADER.names)
  return stripped
}

function endOfSegments(library: Buffer): number {
  const table = Number(library.readBigUInt64LE(HEADER.programOffset))
  const size = library.readUInt16LE(HEADER.programSize)
  const count = library.readUInt16LE(HEADER.programCount)
  const ends = Array.from({ length: count }, (_, index) => {
    const segment = table + index * size
    const start = library.readBigUInt64LE(segment + SEGMENT.offset)
    return Number(start + library.readBigUInt64LE(segment + SEGMENT.fileSize))
  })
  const end = Math.max(table + size * count, ...ends)
  if (count === 0 || end > library.length) throw new BuildFailure("A native library is cut short.")
  return end
}
