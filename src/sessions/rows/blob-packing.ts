/**
 * Compresses the bytes of a blob if that makes them shorter: the engine copies them several times, and 100 MB would
 * cost five times as much memory. `size` and `sha256` are of the original bytes, so a row with fewer bytes than its
 * size is compressed. The bytes are zstd frames, one per piece, so that a long text is never encoded whole.
 */
import { zlib } from "../../platform/zlib.ts"
import type { BlobRow } from "../tables.ts"

type StoredBlob = Omit<BlobRow, "bytes"> & { readonly bytes: Uint8Array | null }

const LEVEL = 3
/** Images are compressed already: what gains less than an eighth is left as it is, and not tried to its end. */
const PACKED_SHARE_MAX = 7 / 8

/** `whole` is asked for where the pieces do not shrink: all of them, in a separate buffer. */
export function packBlob(pieces: Iterable<Uint8Array>, whole: () => Uint8Array): BlobRow {
  const hasher = new Bun.CryptoHasher("sha256")
  const frames: Uint8Array[] = []
  let [size, packedSize] = [0, 0]
  for (const piece of pieces) {
    hasher.update(piece)
    size += piece.byteLength
    if (packedSize > size * PACKED_SHARE_MAX) continue
    const frame = Bun.zstdCompressSync(piece as Uint8Array<ArrayBuffer>, { level: LEVEL })
    packedSize += frame.byteLength
    frames.push(frame)
  }
  const bytes = packedSize > size * PACKED_SHARE_MAX ? whole() : concat(frames, packedSize)
  return { sha256: hasher.digest("hex"), size: BigInt(size), bytes }
}

function concat(frames: readonly Uint8Array[], size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  let used = 0
  for (const frame of frames) {
    bytes.set(frame, used)
    used += frame.byteLength
  }
  return bytes
}

/** The bytes as they were given; nothing where those of the row are no such bytes. */
export function unpackBlob({ size, bytes }: StoredBlob): Uint8Array | undefined {
  const length = Number(size)
  if (bytes === null) return undefined
  if (bytes.byteLength === length) return bytes
  try {
    // What would be longer than it says is not made at all.
    const plain = zlib().zstdDecompressSync(bytes, { maxOutputLength: Math.max(1, length) })
    return plain.byteLength === length ? plain : undefined
  } catch {
    return undefined
  }
}

/** By their digest. A row without its bytes is left out, and reported missing when it is read. */
export function unpackBlobs(rows: readonly StoredBlob[]): Map<string, Uint8Array> {
  return new Map(
    rows.flatMap((row) => {
      const bytes = unpackBlob(row)
      return bytes === undefined ? [] : [[row.sha256, bytes] as const]
    }),
  )
}
