/**
 * Reads the header of a zstd frame (RFC 8878) without decompressing it: the content size it states, and that nothing
 * follows the frame. The decompressor holds a frame to its content size but accepts any number of frames, so a few bytes
 * could become terabytes.
 */
const MAGIC = 0xfd2fb528
const RLE_BLOCK = 1
const RESERVED_BLOCK = 3
const DICTIONARY_BYTES = [0, 1, 2, 4] as const
/** Bytes of the content size by its flag. Flag 0 means one byte in a single-segment frame, and no size in others. */
const SIZE_BYTES = [0, 2, 4, 8] as const

/** The content size of the only frame; undefined where the bytes are not exactly one frame that states it. */
export function contentSizeOf(content: Uint8Array): number | undefined {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  if (bytes.length < 6 || bytes.readUInt32LE(0) !== MAGIC) return undefined
  const head = bytes.readUInt8(4)
  const isOneSegment = (head & 0x20) !== 0
  const sizeFlag = head >> 6
  const sizeBytes = sizeFlag === 0 && isOneSegment ? 1 : (SIZE_BYTES[sizeFlag] ?? 0)
  const sizeAt = 5 + (isOneSegment ? 0 : 1) + (DICTIONARY_BYTES[head & 3] ?? 0)
  const blocksAt = sizeAt + sizeBytes
  if (sizeBytes === 0 || blocksAt > bytes.length) return undefined
  const end = endOfBlocks(bytes, blocksAt)
  const hasChecksum = (head & 4) !== 0
  if (end === undefined || end + (hasChecksum ? 4 : 0) !== bytes.length) return undefined
  return announced(bytes, sizeAt, sizeBytes)
}

function endOfBlocks(bytes: Buffer, from: number): number | undefined {
  for (let at = from; at + 3 <= bytes.length; ) {
    const block = bytes.readUIntLE(at, 3)
    const kind = (block >> 1) & 3
    if (kind === RESERVED_BLOCK) return undefined
    at += 3 + (kind === RLE_BLOCK ? 1 : block >> 3)
    if ((block & 1) === 1) return at
  }
  return undefined
}

function announced(bytes: Buffer, at: number, length: number): number {
  if (length === 8) return Number(bytes.readBigUInt64LE(at))
  const value = bytes.readUIntLE(at, length)
  return length === 2 ? value + 256 : value
}
