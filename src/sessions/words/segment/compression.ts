/**
 * How the bytes of a segment lie in its rows: compressed, which halves the index of words (lists of stems repeat those of
 * their words, and most facets are the same for many messages in a row). The name of a segment says whether its rows are,
 * because those of earlier builds are not. Level 1: more takes longer and saves a hundredth.
 */

const COMPRESSED_PREFIX = "z"
const LEVEL = 1

/** The name of a segment whose rows are packed. */
export function compressedName(name: string): string {
  return `${COMPRESSED_PREFIX}${name}`
}

export function compress(bytes: Uint8Array): Uint8Array {
  return Bun.zstdCompressSync(bytes as Uint8Array<ArrayBuffer>, { level: LEVEL })
}

/** The bytes of a row of that segment, as they were given. */
export function decompress(segment: string, bytes: Uint8Array): Uint8Array {
  if (!segment.startsWith(COMPRESSED_PREFIX)) return bytes
  const unpacked = Bun.zstdDecompressSync(bytes as Uint8Array<ArrayBuffer>)
  // No `Buffer`, whose `slice` is no copy.
  return new Uint8Array(unpacked.buffer, unpacked.byteOffset, unpacked.byteLength)
}
