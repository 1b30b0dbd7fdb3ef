/**
 * The copy of the newest durable manifest, which lies outside the table: a table whose manifests are lost costs no row,
 * and one that is older than its copy is not taken for the whole.
 */
import type { DiskFiles } from "./disk-files.ts"
import { bufferOver } from "./manifest-file.ts"

export interface RecordedManifest {
  readonly version: bigint
  readonly bytes: Uint8Array
}

/** The version and a checksum of all before it come after the manifest, with eight bytes each. */
const SEAL_BYTES = 16

/** Nothing where there is none, or where it is not as it was written. */
export async function readRecord(files: DiskFiles, path: string): Promise<RecordedManifest | undefined> {
  const found = await files.find(path)
  if (found === undefined) return undefined
  const bytes = bufferOver(found)
  const end = bytes.length - SEAL_BYTES / 2
  if (bytes.length < SEAL_BYTES || bytes.readBigUInt64LE(end) !== Bun.hash.xxHash3(bytes.subarray(0, end))) {
    return undefined
  }
  const content = bytes.length - SEAL_BYTES
  return { version: bytes.readBigUInt64LE(content), bytes: bytes.subarray(0, content) }
}

export async function writeRecord(files: DiskFiles, path: string, { version, bytes }: RecordedManifest): Promise<void> {
  const seal = Buffer.alloc(SEAL_BYTES)
  seal.writeBigUInt64LE(version)
  const sealed = Buffer.concat([bytes, seal])
  const end = sealed.length - SEAL_BYTES / 2
  sealed.writeBigUInt64LE(Bun.hash.xxHash3(sealed.subarray(0, end)), end)
  await files.write(path, sealed)
}
