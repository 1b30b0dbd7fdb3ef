/**
 * Whether a file is a whole archive of pond's, decided before anything of it is stored: container, manifest, checksum,
 * columns and rows of every entry. Whoever made it: a checksum says that nothing was damaged, not that it was well meant.
 */
import { constants, type FileHandle, open } from "node:fs/promises"
import { PondError } from "../../model/errors.ts"
import { errorCode } from "../../platform/system-error.ts"
import type { RowBatch } from "../../substrate/columns/row-batch.ts"
import { entryName } from "../export.ts"
import { type ArchivedTable, added, archivedTable, NOTHING, ROLES, type Tally } from "../rows/archived-tables.ts"
import { unpacked, type Verdict } from "../validate/entry-validator.ts"
import { judgedEntries } from "../validate/validate-entries.ts"
import { stopIfAsked, type Work } from "../work.ts"
import {
  type ArchiveEntry,
  MANIFEST_NAME,
  MANIFEST_SUM_NAME,
  type Manifest,
  manifestSum,
  readManifest,
} from "./manifest.ts"
import { type Entry, NotAnArchive, readContent, readEntries } from "./tar.ts"

export interface OpenArchive {
  readonly path: string
  readonly manifest: Manifest
  /** In the order of the archive. */
  readonly entries: readonly ArchiveEntry[]
  readonly tally: Tally
  close(): Promise<void>
  /** As it lies there. */
  content(entry: ArchiveEntry): Promise<Uint8Array>
  /** The rows of an entry, its checksum compared again: the file may have changed since. */
  read(entry: ArchiveEntry): Promise<readonly RowBatch[]>
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
        return await unpacked(entry, entry.table, await readContent(file, entry))
      } catch (error) {
        throw refused(path, error)
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
 * Every row of every entry, or `validation_failed`. Says which sessions there are, and whose. What was judged is handed
 * on, to be kept where nobody sees it until all of it was.
 */
export async function checkArchive(
  archive: OpenArchive,
  work: Work,
  take: (table: ArchivedTable, batch: RowBatch) => Promise<void> | undefined = letGoUnread,
): Promise<Verdict["owners"]> {
  try {
    const { owners, missingBlob } = await judged(archive, work, take)
    if (missingBlob !== undefined) throw new NotAnArchive(`it lacks the bytes ${missingBlob}`)
    return owners
  } catch (error) {
    throw refused(archive.path, error)
  }
}

function letGoUnread(_: ArchivedTable, batch: RowBatch): undefined {
  batch.letGo?.()
}

async function judged(
  archive: OpenArchive,
  work: Work,
  take: (table: ArchivedTable, batch: RowBatch) => Promise<void> | undefined,
): Promise<Verdict> {
  let done = 0
  work.onStage(
    "check",
    archive.entries.reduce((sum, { rows }) => sum + rows, 0),
  )
  const entries = judgedEntries(besideEachOther(archive.entries), archive.content)
  try {
    for (;;) {
      const next = await entries.next()
      if (next.done) return next.value
      const { entry, batches } = next.value
      stopIfAsked(work, "Stopped while the archive was checked: nothing was imported.")
      for (const batch of batches) await take(entry.table, batch)
      done += entry.rows
      work.onRows(done)
    }
  } finally {
    await entries.return({ owners: new Map(), missingBlob: undefined })
  }
}

/** Sessions first; then of every table the same share, so that two of them are stored at once. */
function besideEachOther(entries: readonly ArchiveEntry[]): ArchiveEntry[] {
  const tables = [...Map.groupBy(entries, ({ table }) => table).values()]
  const placed = tables.flatMap((own) =>
    own.map((entry, at) => ({ entry, share: entry.table.role === "sessions" ? -1 : at / own.length })),
  )
  return placed.toSorted((one, other) => one.share - other.share).map(({ entry }) => entry)
}

/** The entries with their rows, in this order: while one is in use the next is decompressed. */
export async function* readAhead(
  archive: OpenArchive,
  entries: readonly ArchiveEntry[],
): AsyncGenerator<{ readonly entry: ArchiveEntry; readonly batches: readonly RowBatch[] }> {
  const begin = (entry: ArchiveEntry) => {
    const batches = archive.read(entry)
    batches.catch(() => undefined) // whoever asks for them is told
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
    // Not to wait for whoever writes into a pipe of that name.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch (cause) {
    const code = errorCode(cause) ?? "unreadable"
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
