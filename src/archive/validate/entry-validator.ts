/**
 * The content of an entry, judged: checksum, size, columns and every row. Needs no file and no store, so that it can be
 * done in any thread. Whoever made it: a checksum says that nothing was damaged, not that it was well meant.
 */

import { sha256Of } from "../../platform/sha256.ts"
import { createRowChecker, type RowChecker } from "../../sessions/rows/check-rows.ts"
import { keyHashesOf } from "../../substrate/columns/batch-cells.ts"
import { owningBatches, type RowBatch, unpackBatches } from "../../substrate/columns/row-batch.ts"
import type { ManifestEntry } from "../file/manifest.ts"
import { ENTRY_BYTES_MAX, NotAnArchive } from "../file/tar.ts"
import { announcedBytes } from "../file/zstd-frame.ts"
import type { ArchivedTable } from "../rows/archived-tables.ts"

export interface Judge {
  /** The rows of the entry, decompressed, with the hashes of their keys batch by batch; or throws `NotAnArchive`. */
  entry(listed: ManifestEntry, table: ArchivedTable, content: Uint8Array): Judged
  /** After the last of them. */
  verdict(): Verdict
}

export interface Judged {
  readonly raw: Uint8Array
  readonly keyHashes: readonly Uint32Array[]
}

export interface Verdict {
  readonly owners: RowChecker["known"]
  /** Bytes that a row points at, and that no entry had. */
  readonly missingBlob: string | undefined
}

export function createJudge(): Judge {
  const checker = createRowChecker()
  return {
    entry: (listed, table, content) => {
      proveContent(listed, content)
      const raw = provenRaw(listed, decompressed(content))
      const batches = provenBatches(listed, table, raw)
      for (const batch of batches) {
        const fault = checker[table.role](batch)
        if (fault !== undefined) throw new NotAnArchive(`${listed.name}: ${fault}`)
      }
      return { raw, keyHashes: batches.map(keyHashesOf) }
    },
    verdict: () => ({ owners: checker.known, missingBlob: checker.missingBlob() }),
  }
}

/** The columns of an entry whose rows were judged before: the file may have changed since. */
export async function unpacked(
  listed: ManifestEntry,
  table: ArchivedTable,
  content: Uint8Array,
): Promise<readonly RowBatch[]> {
  proveContent(listed, content)
  const raw = provenRaw(listed, await Bun.zstdDecompress(content).catch(() => undefined))
  return owningBatches(raw, provenBatches(listed, table, raw))
}

/** Never more than was announced, and never more than an entry may have: a few bytes can claim to be a terabyte. */
function proveContent({ name, sha256: sum, raw_bytes: rawBytes }: ManifestEntry, content: Uint8Array): void {
  if (sha256Of(content) !== sum) throw new NotAnArchive(`${name} is damaged: its checksum differs`)
  if (rawBytes > ENTRY_BYTES_MAX) throw new NotAnArchive(`${name} claims to be larger than any entry`)
  if (announcedBytes(content) !== rawBytes) throw otherThanClaimed(name)
}

/** Nothing where it is damaged. */
function decompressed(content: Uint8Array): Uint8Array | undefined {
  try {
    return Bun.zstdDecompressSync(content)
  } catch {
    return undefined
  }
}

function provenRaw({ name, raw_bytes: rawBytes }: ManifestEntry, raw: Uint8Array | undefined): Uint8Array {
  if (raw?.length !== rawBytes) throw otherThanClaimed(name)
  return raw
}

function otherThanClaimed(name: string): NotAnArchive {
  return new NotAnArchive(`${name} does not decompress to what it claims to be`)
}

function provenBatches({ name, rows }: ManifestEntry, { definition }: ArchivedTable, raw: Uint8Array) {
  const read = unpackBatches(definition, raw)
  if (!read.ok) throw new NotAnArchive(`${name}: ${read.reason}`)
  const counted = read.batches.reduce((sum, batch) => sum + batch.length, 0)
  if (counted !== rows) throw new NotAnArchive(`${name} has ${counted} rows, not ${rows}`)
  return read.batches
}
