/** The note of a commit to a table in a bucket, as bytes: its manifest and its lines of checksums, sealed by a checksum. */
import { bufferOver } from "../local/manifest-file.ts"

export interface CommitNote {
  readonly manifest: Uint8Array
  readonly lines: string
}

/** The length of the manifest, the version and a checksum of all before it, with eight bytes each. */
const SEAL_BYTES = 24

export function packCommitNote({ manifest, lines }: CommitNote, version: bigint): Uint8Array {
  const seal = Buffer.alloc(SEAL_BYTES)
  seal.writeBigUInt64LE(BigInt(manifest.length))
  seal.writeBigUInt64LE(version, 8)
  const sealed = Buffer.concat([manifest, Buffer.from(lines), seal])
  const end = sealed.length - 8
  sealed.writeBigUInt64LE(Bun.hash.xxHash3(sealed.subarray(0, end)), end)
  return sealed
}

/** Nothing where it is not as it was written, or is called by another version. */
export function readCommitNote(content: Uint8Array, version: bigint): CommitNote | undefined {
  const bytes = bufferOver(content)
  const end = bytes.length - 8
  const seal = bytes.length - SEAL_BYTES
  if (seal < 0 || bytes.readBigUInt64LE(end) !== Bun.hash.xxHash3(bytes.subarray(0, end))) return undefined
  if (bytes.readBigUInt64LE(seal + 8) !== version) return undefined
  const length = Number(bytes.readBigUInt64LE(seal))
  return { manifest: bytes.subarray(0, length), lines: bytes.toString("utf8", length, seal) }
}
