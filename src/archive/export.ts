/**
 * Writes an export file of a store, or of chosen sessions: columns in batches, compressed, then a manifest with the checksum
 * of each (`FORMAT.md`). The file is written under another name and renamed when it is complete, so that half of one is
 * never taken for a whole.
 */
import { open } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import { PondError } from "../model/errors.ts"
import { createFile, refuseToReplace } from "../platform/files/new-file.ts"
import type { Clock } from "../platform/host/clock.ts"
import { VERSION } from "../platform/host/version.ts"
import { openLedger } from "../platform/memory.ts"
import { sha256Of } from "../platform/sha256.ts"
import { errorCode } from "../platform/system-error.ts"
import { type LabelRow, readLabelRows } from "../sessions/write/labels.ts"
import { batchBytes, packBatches, type RowBatch } from "../substrate/columns/row-batch.ts"
import type { Store } from "../substrate/table.ts"
import {
  MANIFEST_NAME,
  MANIFEST_SUM_NAME,
  type Manifest,
  type ManifestEntry,
  manifestBytes,
  manifestSum,
  toManifestLabels,
} from "./file/manifest.ts"
import { createEntryWriter, type EntryWriter } from "./file/tar.ts"
import { addRows, NO_ROWS, type RowCounts } from "./rows/archived-tables.ts"
import { refuseDamaged } from "./rows/refuse-damaged.ts"
import { type SelectedTable, type Selection, type SessionFilter, selectFrom } from "./rows/selection.ts"
import { stopIfAsked, type Work } from "./work.ts"

export interface ExportRequest {
  readonly path: string
  /** Absent: the whole store. */
  readonly filter?: SessionFilter | undefined
  /** Whether an existing file is replaced. */
  readonly isForced: boolean
}

export interface ExportReport extends RowCounts {
  readonly path: string
  /** Names, stars, tags and notes, with their history. */
  readonly labels: number
  readonly bytes: number
  /** Before compression. */
  readonly raw_bytes: number
  /** Of the whole file. */
  readonly sha256: string
}

/** Batches are gathered to about this size before they are compressed: small enough for memory, large enough to compress well. */
const ENTRY_BYTES = 4 * 1024 * 1024
const LEVEL = 1

export async function exportArchive(
  store: Store,
  request: ExportRequest,
  { clock, ...work }: Work & { readonly clock: Clock },
): Promise<ExportReport> {
  const path = resolve(request.path)
  refuseToReplace(path, request.isForced)
  const selection = await selectFrom(store, request.filter)
  try {
    if (selection.sessionIds.size === 0) throw nothingToExport(request, store)
    await refuseDamaged(store, work, selection.isWhole ? undefined : selection.sessionIds)
    const labels = await readLabelRows(store, selection.sessionIds)
    try {
      const report = await createFile({ path, isForced: request.isForced }, (write) =>
        writeEntries(write, selection, { clock, work, labels }),
      )
      await syncDirectory(dirname(path))
      return { path, ...report }
    } catch (error) {
      throw toWriteFailure(path, error)
    }
  } finally {
    selection.end()
  }
}

async function writeEntries(
  write: (block: Uint8Array) => Promise<void>,
  selection: Selection,
  { clock, work, labels }: { readonly clock: Clock; readonly work: Work; readonly labels: readonly LabelRow[] },
): Promise<Omit<ExportReport, "path">> {
  const hasher = new Bun.CryptoHasher("sha256")
  const createdMs = clock.nowMs()
  const entries = createEntryWriter(
    async (block) => {
      hasher.update(block)
      await write(block)
    },
    Math.floor(createdMs / 1000),
  )
  const listed: ManifestEntry[] = []
  const tables: Manifest["tables"] = []
  let tally = NO_ROWS
  for (const selected of selection.tables) {
    const own = await writeTable(entries, selected, work)
    const rows = own.reduce((sum, entry) => sum + entry.rows, 0)
    const { definition, role } = selected.table
    tables.push({ name: definition.name, schema_version: definition.schemaVersion, rows })
    listed.push(...own)
    tally = addRows(tally, role, rows)
  }
  const manifest = manifestBytes({
    pond_version: VERSION,
    created_at: new Date(createdMs).toISOString(),
    whole: selection.isWhole,
    tables,
    entries: listed,
    ...toManifestLabels(labels),
  })
  await entries.add(MANIFEST_NAME, manifest)
  await entries.add(MANIFEST_SUM_NAME, manifestSum(manifest))
  const bytes = await entries.end()
  const rawBytes = listed.reduce((sum, entry) => sum + entry.raw_bytes, 0)
  return { ...tally, labels: labels.length, bytes, raw_bytes: rawBytes, sha256: hasher.digest("hex") }
}

/** Compresses one entry while the rows of the next are read. */
async function writeTable(entries: EntryWriter, { table, rows, batches }: SelectedTable, work: Work) {
  const { definition } = table
  const listed: ManifestEntry[] = []
  const memory = openLedger("archivedRows")
  let gathered: RowBatch[] = []
  let gatheredBytes = 0
  let done = 0
  let compressing: Promise<Compressed> | undefined
  const writeCompressed = async () => {
    const made = await compressing
    compressing = undefined
    if (made === undefined) return
    const name = entryName(definition.name, listed.length)
    await entries.add(name, made.content)
    const { content, rows: count, rawBytes } = made
    listed.push({ name, rows: count, bytes: content.length, raw_bytes: rawBytes, sha256: sha256Of(content) })
    done += count
    work.onRows(done)
    memory.made(rawBytes)
  }
  const flush = async () => {
    if (gathered.length === 0) return
    const raw = packBatches(definition, gathered)
    const count = gathered.reduce((sum, batch) => sum + batch.length, 0)
    gathered = []
    gatheredBytes = 0
    await writeCompressed()
    compressing = compress(raw, count)
  }
  work.onStage(definition.name, rows)
  for await (const batch of batches()) {
    stopIfAsked(work, "Stopped: nothing was exported.")
    gathered.push(batch)
    gatheredBytes += batchBytes(batch)
    if (gatheredBytes >= ENTRY_BYTES) await flush()
  }
  await flush()
  await writeCompressed()
  return listed
}

interface Compressed {
  readonly content: Uint8Array
  readonly rows: number
  readonly rawBytes: number
}

async function compress(raw: Uint8Array, rows: number): Promise<Compressed> {
  return { content: await Bun.zstdCompress(raw, { level: LEVEL }), rows, rawBytes: raw.length }
}

export function entryName(table: string, index: number): string {
  return `${table}/${String(index).padStart(6, "0")}.arrow.zst`
}

// --- The file --------------------------------------------------------------------------------------------------------

async function syncDirectory(folder: string): Promise<void> {
  const handle = await open(folder, "r")
  await handle.sync()
  await handle.close()
}

function toWriteFailure(path: string, error: unknown): unknown {
  const code = errorCode(error)
  if (code === undefined) return error
  return new PondError(
    "storage_unavailable",
    `Cannot write the export file ${path} (${code}). Choose a writable directory with enough space.`,
    { details: { path }, cause: error },
  )
}

function nothingToExport({ filter }: ExportRequest, store: Store): PondError {
  const message =
    filter === undefined
      ? `The store ${store.location.shown} is empty. Run \`pond sync\`.`
      : "No session matches. Loosen the filter, or remove it to export all sessions."
  return new PondError("not_found", message, { details: { store: store.location.shown } })
}
