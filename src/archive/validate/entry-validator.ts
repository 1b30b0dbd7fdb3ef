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
import { contentSizeOf } from "../file/zstd-frame.ts"
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
