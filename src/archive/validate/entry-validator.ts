/**
 * Validates the content of an entry: checksum, size, columns and every row. Needs no file and no store, so it runs in any
 * thread.
 */
import { sha256Of } from "../../platform/sha256.ts"
import { createRowChecker, type RowChecker } from "../../sessions/rows/check-rows.ts"
import { keyHashesOf } from "../../substrate/columns/batch-cells.ts"
import { freeBytes, owningBatches, type RowBatch, unpackBatches } from "../../substrate/columns/row-batch.ts"
import type { ManifestEntry } from "../file/manifest.ts"
import { ENTRY_BYTES_MAX, InvalidArchive } from "../file/tar.ts"
import type { ArchivedTable } from "../rows/archived-tables.ts"

export interface EntryValidator {
  /** The hashes of the keys for each batch. Throws `InvalidArchive`. */
  validate(listed: ManifestEntry, table: ArchivedTable, content: Uint8Array): readonly Uint32Array[]
  /** To be asked after the last entry. */
  findings(): Findings
}

export interface Findings {
  readonly owners: RowChecker["known"]
  /** A blob that a row refers to and no entry has. */
  readonly missingBlob: string | undefined
}

export function createEntryValidator(): EntryValidator {
  const checker = createRowChecker()
  return {
    validate: (listed, table, content) => {
      checkContent(listed, content)
      const raw = checkRaw(listed, decompress(content))
      const batches = readBatches(listed, table, raw)
      for (const batch of batches) {
        const fault = checker[table.role](batch)
        if (fault !== undefined) throw new InvalidArchive(`${listed.name}: ${fault}`)
      }
      const keyHashes = batches.map(keyHashesOf)
      freeBytes(raw)
      return keyHashes
    },
    findings: () => ({ owners: checker.known, missingBlob: checker.missingBlob() }),
  }
}

/** Reads an entry whose rows were validated before. Checksum and columns are checked again: the file may have changed. */
export async function unpackEntry(
  listed: ManifestEntry,
  table: ArchivedTable,
  content: Uint8Array,
): Promise<readonly RowBatch[]> {
  checkContent(listed, content)
  const raw = await decompressEntry(listed, content)
  return owningBatches(raw, readBatches(listed, table, raw))
}

/** For content that was checked: only then is its size known to be bounded. */
export async function decompressEntry(listed: ManifestEntry, content: Uint8Array): Promise<Uint8Array> {
  return checkRaw(listed, await Bun.zstdDecompress(content).catch(() => undefined))
}

/** Before decompressing: a few bytes can claim to be a terabyte. */
function checkContent({ name, sha256: sum, raw_bytes: rawBytes }: ManifestEntry, content: Uint8Array): void {
  if (sha256Of(content) !== sum) throw new InvalidArchive(`${name} is damaged: its checksum differs`)
  if (rawBytes > ENTRY_BYTES_MAX) throw new InvalidArchive(`${name} claims an impossible size`)
  if (contentSizeOf(content) !== rawBytes) throw wrongSize(name)
}

/** Undefined where it is damaged. */
function decompress(content: Uint8Array): Uint8Array | undefined {
  try {
    return Bun.zstdDecompressSync(content)
  } catch {
    return undefined
  }
}

function checkRaw({ name, raw_bytes: rawBytes }: ManifestEntry, raw: Uint8Array | undefined): Uint8Array {
  if (raw?.length !== rawBytes) throw wrongSize(name)
  return raw
}

function wrongSize(name: string): InvalidArchive {
  return new InvalidArchive(`${name} does not decompress to its declared size`)
}

function readBatches({ name, rows }: ManifestEntry, { definition }: ArchivedTable, raw: Uint8Array) {
  const read = unpackBatches(definition, raw)
  if (!read.ok) throw new InvalidArchive(`${name}: ${read.reason}`)
  const counted = read.batches.reduce((sum, batch) => sum + batch.length, 0)
  if (counted !== rows) throw new InvalidArchive(`${name} has ${counted} rows, not ${rows}`)
  return read.batches
}

// --- The end of a zstd frame -----------------------------------------------------------------------------------------

// Reads the header of a zstd frame (RFC 8878) without decompressing it: the content size it states, and that nothing
// follows the frame. The decompressor holds a frame to its content size but accepts any number of frames, so a few bytes
// could become terabytes.

const MAGIC = 0xfd2fb528
const RLE_BLOCK = 1
const RESERVED_BLOCK = 3
const DICTIONARY_BYTES = [0, 1, 2, 4] as const
/** Bytes of the content size by its flag. Flag 0 means one byte in a single-segment frame, and no size in others. */
const SIZE_BYTES = [0, 2, 4, 8] as const

/** The content size of the only frame; undefined where the bytes are not exactly one frame that states it. */
function contentSizeOf(content: Uint8Array): number | undefined {
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
