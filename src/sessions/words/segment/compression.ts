/**
 * Zstandard compression of the byte columns of a segment. Halves the index: postings of stems repeat those of their
 * words, and most attributes are equal in consecutive messages. Level 1, because higher levels save only one percent.
 * Segments of earlier versions are uncompressed, so the prefix of a segment's name says which form it has.
 */

const COMPRESSED_PREFIX = "z"
const LEVEL = 1

/** The name of a segment with compressed columns. */
export function compressedName(name: string): string {
  return `${COMPRESSED_PREFIX}${name}`
}

export function compress(bytes: Uint8Array): Uint8Array {
  return Bun.zstdCompressSync(bytes as Uint8Array<ArrayBuffer>, { level: LEVEL })
}

/** The original bytes of a column of that segment. */
export function decompress(segment: string, bytes: Uint8Array): Uint8Array {
  if (!segment.startsWith(COMPRESSED_PREFIX)) return bytes
  const unpacked = Bun.zstdDecompressSync(bytes as Uint8Array<ArrayBuffer>)
  // A plain `Uint8Array`, because `slice` of a `Buffer` does not copy.
  return new Uint8Array(unpacked.buffer, unpacked.byteOffset, unpacked.byteLength)
}
