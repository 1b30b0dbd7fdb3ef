/**
 * Opens an export file and validates it: tar, manifest, checksums, columns and rows of every entry. A checksum shows that
 * nothing was damaged and not who made the file, so every row is checked as if it came from a stranger.
 */
import { constants, type FileHandle, open } from "node:fs/promises"
import { PondError } from "../../model/errors.ts"
import { errorCode } from "../../platform/system-error.ts"
import type { RowBatch } from "../../substrate/columns/row-batch.ts"
import { entryName } from "../export.ts"
import {
  type ArchivedTable,
  addRows,
  archivedTable,
  NO_ROWS,
  type RowCounts,
  TABLE_ORDER,
} from "../rows/archived-tables.ts"
import { type Findings, unpackEntry } from "../validate/entry-validator.ts"
import { validateEntries } from "../validate/validate-entries.ts"
import { stopIfAsked, type Work } from "../work.ts"
import {
  type ArchiveEntry,
  MANIFEST_NAME,
  MANIFEST_SUM_NAME,
  type Manifest,
  manifestSum,
  readManifest,
} from "./manifest.ts"
import { type Entry, InvalidArchive, readContent, readEntries } from "./tar.ts"

export interface OpenArchive {
  readonly path: string
  readonly manifest: Manifest
  /** In the order of the file. */
  readonly entries: readonly ArchiveEntry[]
  readonly tally: RowCounts
  close(): Promise<void>
  /** Compressed, as it lies in the file. */
  content(entry: ArchiveEntry): Promise<Uint8Array>
  /** The rows of an entry. The checksum is compared again, because the file may have changed since. */
  read(entry: ArchiveEntry): Promise<readonly RowBatch[]>
}

/** More entries than an export file of a hundred terabytes has. */
const ENTRIES_MAX = 4_000_000

/** Opens a file whose manifest fits its entries. The content of the entries is not read yet. */
export async function openArchive(path: string): Promise<OpenArchive> {
  const file = await openFile(path)
  try {
    const { manifest, entries } = await readContents(file).catch((error: unknown) => {
      throw toRefusal(path, error)
    })
    const tally = entries.reduce((sum, { table, rows }) => addRows(sum, table.role, rows), NO_ROWS)
    const read = async (entry: ArchiveEntry) => {
      try {
        return await unpackEntry(entry, entry.table, await readContent(file, entry))
      } catch (error) {
        throw toRefusal(path, error)
      }
    }
    return {
      path,
      manifest,
      entries,
      tally,
      read,
      content: (entry) => readContent(file, entry),
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

/**
 * Validates every row of every entry, or throws `validation_failed`. Returns which sessions there are, with their client and
 * project. `take` gets the rows as soon as they are valid; it must not make them visible before all of them are.
 */
export async function checkArchive(
  archive: OpenArchive,
  work: Work,
  take: (table: ArchivedTable, batch: RowBatch) => Promise<void> | undefined = releaseUnread,
): Promise<Findings["owners"]> {
  try {
    const { owners, missingBlob } = await validateAll(archive, work, take)
    if (missingBlob !== undefined) throw new InvalidArchive(`it lacks the bytes ${missingBlob}`)
    if (archive.manifest.labels?.some(({ session_id }) => !owners.has(session_id)))
      throw new InvalidArchive("it has labels of a session that is not in it")
    return owners
  } catch (error) {
    throw toRefusal(archive.path, error)
  }
}

function releaseUnread(_: ArchivedTable, batch: RowBatch): undefined {
  batch.letGo?.()
}

async function validateAll(
  archive: OpenArchive,
  work: Work,
  take: (table: ArchivedTable, batch: RowBatch) => Promise<void> | undefined,
): Promise<Findings> {
  let done = 0
  work.onStage(
    "check",
    archive.entries.reduce((sum, { rows }) => sum + rows, 0),
  )
  const entries = validateEntries(interleaveTables(archive.entries), archive.content)
  try {
    for (;;) {
      const next = await entries.next()
      if (next.done) return next.value
      const { entry, batches } = next.value
      stopIfAsked(work, "Stopped while checking the file: nothing was imported.")
      for (const batch of batches) await take(entry.table, batch)
      done += entry.rows
      work.onRows(done)
    }
  } finally {
    await entries.return({ owners: new Map(), missingBlob: undefined })
  }
}

/** Sessions first, then all tables in proportion, so that two tables are stored at the same time. */
function interleaveTables(entries: readonly ArchiveEntry[]): ArchiveEntry[] {
  const tables = [...Map.groupBy(entries, ({ table }) => table).values()]
  const placed = tables.flatMap((own) =>
    own.map((entry, at) => ({ entry, share: entry.table.role === "sessions" ? -1 : at / own.length })),
  )
  return placed.toSorted((one, other) => one.share - other.share).map(({ entry }) => entry)
}

/** The rows of the entries, in order. The next entry is decompressed while one is in use. */
export async function* readAhead(
  archive: OpenArchive,
  entries: readonly ArchiveEntry[],
): AsyncGenerator<{ readonly entry: ArchiveEntry; readonly batches: readonly RowBatch[] }> {
  const begin = (entry: ArchiveEntry) => {
    const batches = archive.read(entry)
    batches.catch(() => undefined) // thrown where it is awaited
    return { entry, batches }
  }
  let ahead: ReturnType<typeof begin> | undefined
  for (const [index, entry] of entries.entries()) {
    const batches = await (ahead?.batches ?? archive.read(entry))
    const next = entries[index + 1]
    ahead = next === undefined ? undefined : begin(next)
    yield { entry, batches }
  }
}

// --- Container and manifest ------------------------------------------------------------------------------------------

async function openFile(path: string): Promise<FileHandle> {
  try {
    // Opening a named pipe would otherwise wait for its writer.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch (cause) {
    const code = errorCode(cause) ?? "unreadable"
    throw new PondError(
      code === "ENOENT" ? "not_found" : "validation_failed",
      `Cannot open the export file ${path} (${code}). Choose a file written by \`pond export\`.`,
      { details: { path }, cause },
    )
  }
  throw new PondError("validation_failed", `${path} is not a file. Name a file that \`pond export\` has written.`, {
    details: { path },
  })
}

async function readContents(file: FileHandle): Promise<Pick<OpenArchive, "manifest" | "entries">> {
  const found: Entry[] = []
  for await (const entry of readEntries(file, (await file.stat()).size)) {
    found.push(entry)
    if (found.length > ENTRIES_MAX) throw new InvalidArchive("it has too many entries")
  }
  const [sum, last] = [found.pop(), found.pop()]
  if (last?.name !== MANIFEST_NAME || sum?.name !== MANIFEST_SUM_NAME) throw new InvalidArchive("it has no manifest")
  const bytes = await readContent(file, last)
  if (!Buffer.from(manifestSum(bytes)).equals(await readContent(file, sum))) {
    throw new InvalidArchive("its manifest was changed")
  }
  const read = readManifest(bytes)
  if (read.kind === "newer") throw newerVersion(`format ${read.version}`)
  return { manifest: read.manifest, entries: matchEntries(read.manifest, found) }
}

/** The entries of the manifest beside those of the tar: all of them, in the same order, under the required names. */
function matchEntries(manifest: Manifest, found: readonly Entry[]): ArchiveEntry[] {
  if (manifest.entries.length !== found.length) throw new InvalidArchive("its manifest lists other entries")
  const tables = manifest.tables.map((listed) => {
    const table = archivedTable(listed.name)
    if (table === undefined) throw new InvalidArchive("it has an unknown table")
    if (listed.schema_version > table.definition.schemaVersion)
      throw newerVersion(`version ${listed.schema_version} of ${listed.name}`)
    return { table, rows: listed.rows }
  })
  const places = tables.map(({ table }) => TABLE_ORDER.indexOf(table.role))
  const isOrdered = places.every((place, index) => place >= (places[index - 1] ?? 0))
  if (!isOrdered || new Set(manifest.tables.map(({ name }) => name)).size !== tables.length) {
    throw new InvalidArchive("its tables are in the wrong order")
  }
  const entries: ArchiveEntry[] = []
  for (const { table, rows } of tables) {
    let counted = 0
    for (let index = 0; counted < rows; index++) {
      const at = entries.length
      const [listed, entry] = [manifest.entries[at], found[at]]
      const name = entryName(table.definition.name, index)
      if (listed?.name !== name || entry?.name !== name || listed.bytes !== entry.bytes || listed.rows === 0) {
        throw new InvalidArchive(`${name} is in the wrong position`)
      }
      counted += listed.rows
      entries.push({ ...listed, table, offset: entry.offset })
    }
    if (counted !== rows)
      throw new InvalidArchive(`the number of rows in ${table.definition.name} does not match its manifest`)
  }
  if (entries.length !== found.length) throw new InvalidArchive("it has unexpected entries")
  return entries
}

function newerVersion(what: string): PondError {
  return new PondError("version_unsupported", `This export file was written by a newer pond (${what}). Update pond.`)
}

function toRefusal(path: string, error: unknown): unknown {
  if (!(error instanceof InvalidArchive)) return error
  return new PondError(
    "validation_failed",
    `${path} is not a complete export file: ${error.message}. Nothing was imported. Export it again, or fetch it again and compare its checksum.`,
    { details: { path, reason: error.message }, cause: error },
  )
}
