/**
 * Whether a file is a whole archive of pond's, decided before anything of it is stored: container, manifest, checksum,
 * columns and rows of every entry. Whoever made it: a checksum says that nothing was damaged, not that it was well meant.
 */
import { constants, type FileHandle, open } from "node:fs/promises"
import * as zlib from "node:zlib"
import { PondError } from "../model/errors.ts"
import {
  CHECKED_MESSAGE,
  CHECKED_PART,
  createRowChecker,
  REFERENCE_BEGINNING,
  type RowChecker,
  TEXT_COLUMNS,
} from "../sessions/row-check.ts"
import type { BlobRow, MessageRow, PartRow, SessionRow } from "../sessions/tables.ts"
import { type RowBatch, rowsOfBatch, textsBeginning, unpackBatches } from "../substrate/packed.ts"
import { ENTRY_BYTES_MAX, type Entry, NotAnArchive, readContent, readEntries } from "./container.ts"
import { entryName } from "./export.ts"
import {
  MANIFEST_NAME,
  MANIFEST_SUM_NAME,
  type Manifest,
  type ManifestEntry,
  manifestSum,
  readManifest,
  sha256,
} from "./manifest.ts"
import { type ArchivedTable, added, archivedTable, NOTHING, ROLES, type Tally } from "./tables.ts"
import { createBreather, stopIfAsked, type Work } from "./work.ts"

export interface OpenArchive {
  readonly path: string
  readonly manifest: Manifest
  /** In the order of the archive. */
  readonly entries: readonly ArchiveEntry[]
  readonly tally: Tally
  close(): Promise<void>
  /** The rows of an entry, its checksum compared again: the file may have changed since. */
  read(entry: ArchiveEntry): Promise<readonly RowBatch[]>
}

export interface ArchiveEntry extends ManifestEntry {
  readonly table: ArchivedTable
  readonly offset: number
}

/** More entries than an archive of a hundred terabytes has. */
const ENTRIES_MAX = 4_000_000

/** The archive at that path, with a manifest that fits it. Its entries are not looked into yet. */
export async function openArchive(path: string): Promise<OpenArchive> {
  const file = await openFile(path)
  try {
    const { manifest, entries } = await contents(file).catch((error: unknown) => {
      throw refused(path, error)
    })
    const tally = entries.reduce((sum, { table, rows }) => added(sum, table.role, rows), NOTHING)
    const read = async (entry: ArchiveEntry) => {
      try {
        return unpacked(entry, await readContent(file, entry))
      } catch (error) {
        throw refused(path, error)
      }
    }
    return { path, manifest, entries, tally, read, close: () => file.close() }
  } catch (error) {
    await file.close()
    throw error
  }
}

/** Every row of every entry, or `validation_failed`. Says which sessions there are, and whose. */
export async function checkArchive(archive: OpenArchive, work: Work): Promise<RowChecker["known"]> {
  const checker = createRowChecker()
  const total = archive.entries.reduce((sum, { rows }) => sum + rows, 0)
  const breathe = createBreather()
  let done = 0
  work.onStage("check", total)
  for (const entry of archive.entries) {
    stopIfAsked(work, "Stopped while the archive was checked: nothing was imported.")
    for (const batch of await archive.read(entry)) {
      const fault = rowsFault(checker, entry.table, batch)
      if (fault !== undefined) throw refused(archive.path, new NotAnArchive(`${entry.name}: ${fault}`))
      done += batch.length
    }
    work.onRows(done)
    breathe(entry.raw_bytes)
  }
  const missing = checker.missingBlob()
  if (missing !== undefined) throw refused(archive.path, new NotAnArchive(`it lacks the bytes ${missing}`))
  return checker.known
}

function rowsFault(checker: RowChecker, { role }: ArchivedTable, batch: RowBatch): string | undefined {
  if (role === "embeddings") {
    const owners = rowsOfBatch(batch, ["session_id"]).map((row) => checker.ofSession(String(row["session_id"])))
    return owners.find((fault) => fault !== undefined)
  }
  if (role === "sessions") return checker.sessions(rowsOfBatch(batch) as unknown as readonly SessionRow[])
  if (role === "blobs") return checker.blobs(rowsOfBatch(batch) as unknown as readonly BlobRow[])
  for (const column of TEXT_COLUMNS[role]) {
    checker.references(textsBeginning(batch, column, REFERENCE_BEGINNING))
  }
  return role === "messages"
    ? checker.messages(rowsOfBatch(batch, CHECKED_MESSAGE) as unknown as readonly MessageRow[])
    : checker.parts(rowsOfBatch(batch, CHECKED_PART) as unknown as readonly PartRow[])
}

// --- Container and manifest ------------------------------------------------------------------------------------------

async function openFile(path: string): Promise<FileHandle> {
  try {
    // Not to wait for whoever writes into a pipe of that name.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unreadable"
    throw new PondError(
      code === "ENOENT" ? "not_found" : "validation_failed",
      `The archive ${path} cannot be opened (${code}). Name a file that \`pond export\` has written.`,
      { details: { path }, cause },
    )
  }
  throw new PondError("validation_failed", `${path} is no file. Name a file that \`pond export\` has written.`, {
    details: { path },
  })
}

async function contents(file: FileHandle): Promise<Pick<OpenArchive, "manifest" | "entries">> {
  const found: Entry[] = []
  for await (const entry of readEntries(file, (await file.stat()).size)) {
    found.push(entry)
    if (found.length > ENTRIES_MAX) throw new NotAnArchive("it has more entries than any archive")
  }
  const [sum, last] = [found.pop(), found.pop()]
  if (last?.name !== MANIFEST_NAME || sum?.name !== MANIFEST_SUM_NAME) throw new NotAnArchive("it has no manifest")
  const bytes = await readContent(file, last)
  if (!Buffer.from(manifestSum(bytes)).equals(await readContent(file, sum))) {
    throw new NotAnArchive("its manifest is not the one that was written")
  }
  const read = readManifest(bytes)
  if (read.kind === "newer") throw newer(`format ${read.version}`)
  return { manifest: read.manifest, entries: matched(read.manifest, found) }
}

/** The entries are those of the manifest, all of them, in their order, under the names that they must have. */
function matched(manifest: Manifest, found: readonly Entry[]): ArchiveEntry[] {
  if (manifest.entries.length !== found.length) throw new NotAnArchive("its manifest lists other entries")
  const tables = manifest.tables.map((listed) => {
    const table = archivedTable(listed.name)
    if (table === undefined) throw new NotAnArchive("it has a table that pond does not know")
    if (listed.schema_version > table.definition.schemaVersion)
      throw newer(`version ${listed.schema_version} of ${listed.name}`)
    return { table, rows: listed.rows }
  })
  const places = tables.map(({ table }) => ROLES.indexOf(table.role))
  const isOrdered = places.every((place, index) => place >= (places[index - 1] ?? 0))
  if (!isOrdered || new Set(manifest.tables.map(({ name }) => name)).size !== tables.length) {
    throw new NotAnArchive("its tables stand in another order")
  }
  const entries: ArchiveEntry[] = []
  for (const { table, rows } of tables) {
    let counted = 0
    for (let index = 0; counted < rows; index++) {
      const at = entries.length
      const [listed, entry] = [manifest.entries[at], found[at]]
      const name = entryName(table.definition.name, index)
      if (listed?.name !== name || entry?.name !== name || listed.bytes !== entry.bytes || listed.rows === 0) {
        throw new NotAnArchive(`${name} is not where it should be`)
      }
      counted += listed.rows
      entries.push({ ...listed, table, offset: entry.offset })
    }
    if (counted !== rows)
      throw new NotAnArchive(`the rows of ${table.definition.name} are not as many as its manifest says`)
  }
  if (entries.length !== found.length) throw new NotAnArchive("it has entries that belong to nothing")
  return entries
}

function unpacked(entry: ArchiveEntry, content: Uint8Array): readonly RowBatch[] {
  const { name, table, raw_bytes: rawBytes, rows } = entry
  if (sha256(content) !== entry.sha256) throw new NotAnArchive(`${name} is damaged: its checksum differs`)
  const read = unpackBatches(table.definition, decompressed(name, content, rawBytes))
  if (!read.ok) throw new NotAnArchive(`${name}: ${read.reason}`)
  const counted = read.batches.reduce((sum, batch) => sum + batch.length, 0)
  if (counted !== rows) throw new NotAnArchive(`${name} has ${counted} rows, not ${rows}`)
  return read.batches
}

/** Bun has it, its types do not yet. Its own `Bun.zstdDecompress` knows no limit. */
const { zstdDecompressSync } = zlib as unknown as {
  readonly zstdDecompressSync: (content: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array
}

/** Never more than was announced, and never more than an entry may have: a few bytes can claim to be a terabyte. */
function decompressed(name: string, content: Uint8Array, rawBytes: number): Uint8Array {
  if (rawBytes > ENTRY_BYTES_MAX) throw new NotAnArchive(`${name} claims to be larger than any entry`)
  let raw: Uint8Array
  try {
    raw = zstdDecompressSync(content, { maxOutputLength: rawBytes })
  } catch (cause) {
    throw new NotAnArchive(`${name} does not decompress to what it claims to be`, { cause })
  }
  if (raw.length !== rawBytes) throw new NotAnArchive(`${name} does not decompress to what it claims to be`)
  return raw
}

function newer(what: string): PondError {
  return new PondError("version_unsupported", `This archive was written by a newer pond (${what}). Update pond.`)
}

function refused(path: string, error: unknown): unknown {
  if (!(error instanceof NotAnArchive)) return error
  return new PondError(
    "validation_failed",
    `${path} is no whole archive of pond's: ${error.message}. Nothing was imported. Export it again, or fetch it again and compare its checksum.`,
    { details: { path, reason: error.message }, cause: error },
  )
}
