/**
 * The files of a table on a local disk: durability, write lock and versions. The engine does not make a commit durable,
 * cannot heal after a power cut, and its safe merge reads every key of the table, so that writers of one machine exclude
 * each other by a lock instead (see `write.ts`). Never used on an object store.
 */
import { dirname, join } from "node:path"
import { PondError } from "../../model/errors.ts"
import { type FileLock, type LockWait, openFileLock, whileLocked } from "../../platform/files/file-lock.ts"
import { ensureWritable } from "../../platform/host/paths.ts"
import { Semaphore } from "../../platform/semaphore.ts"
import type { StoreContext } from "../store-context.ts"
import type { StoredRows } from "./checksum-lines.ts"
import { type ChecksumLog, type Covered, openChecksumLog } from "./checksums.ts"
import type { DiskFiles } from "./disk-files.ts"
import { rowsOfManifest } from "./manifest-edit.ts"
import { manifestName, manifestVersion, type ReferencedFile, referencedFiles } from "./manifest-file.ts"
import { type RecordedManifest, readRecord, writeRecord } from "./manifest-record.ts"
import { openReaders, type Readers } from "./readers.ts"

/** Rows of a commit, as they were given. */
export interface WrittenRows extends Pick<StoredRows, "groups" | "hash"> {
  readonly count: number
}

/** What a check and a repair need of a table, on a disk or in a bucket. */
export type StoredTable = Pick<
  LocalTable,
  | "name"
  | "files"
  | "folder"
  | "quarantine"
  | "checksums"
  | "recorded"
  | "durableVersion"
  | "notePaths"
  | "damagedNotes"
  | "createManifest"
  | "exclusively"
  | "doubt"
  | "record"
> & {
  /** In a bucket, where each look is a request, and no commit is in doubt: each is told to its writer when it is done. */
  readonly isRemote?: true
}

export interface LocalTable {
  /** False where somebody else has created it. */
  createManifest(path: string, content: Uint8Array): Promise<boolean>
  readonly name: string
  readonly files: DiskFiles
  /** The folder of the table. */
  readonly folder: string
  /** Where what is not whole is moved to. */
  readonly quarantine: string
  readonly readers: Readers
  /** Does the work unless another process of this machine maintains the table already: then says so. */
  maintaining<Result>(work: () => Promise<Result>): Promise<Result | "busy">
  /** Does the work while no other process of this machine writes to the table, and makes what it committed durable. */
  exclusively<Result>(work: () => Promise<Result>): Promise<Result>
  /** Under the lock: makes durable what was committed so far, because the next step cannot be undone. */
  makeDurable(): Promise<void>
  /** What every file of the table must hold. */
  readonly checksums: ChecksumLog
  /** The manifest of the last durable version, kept outside the table: the newest in the table must not be older. */
  recorded(): Promise<RecordedManifest | undefined>
  /** Under the lock: rows that were just committed, to be noted with their checksums. */
  noteRows(rows: WrittenRows): void
  /** Under the lock: what a repair has left is the table from now on, however old. */
  record(): Promise<void>
  /** The files in pond's own folder that say what the table must be. */
  readonly notes: readonly string[]
  notePaths(): Promise<readonly string[]>
  /** Of these the ones that are not as they were written, below that folder. */
  damagedNotes(): Promise<readonly string[]>
  /** Takes nothing for durable, so that all files are synced when the lock is given back. */
  doubt(): void
  /** The durable mark: the newest version that would survive a power cut, if one was noted. */
  durableVersion(): Promise<bigint | undefined>
  /** Removes the notes and locks of a table that is gone. */
  discard(): Promise<void>
}

/** Beside the tables, in the store's own folder: locks, notes of what is durable, quarantine. */
export const OWN_FOLDER = ".pond"
const NOTES = ["durable", "manifest", "checksums"]
const KINDS = [...NOTES, "lock", "readers", "maintenance"]
/** No table is called so. */
const STORE_LOCK = "store.writing"
const LOCK_TIMEOUT_MS = 120_000
const MANIFESTS = "_versions/"

export function openLocalTable(root: string, name: string, context: StoreContext, files: DiskFiles): LocalTable {
  const folder = join(root, `${name}.lance`)
  const own = join(root, OWN_FOLDER)
  const mark = join(own, `${name}.durable`)
  const wait = waitOf(context)
  let lock: FileLock | undefined
  const inProcess = new Semaphore(1)
  const checksums = openChecksumLog(join(own, `${name}.checksums`), files)
  const copy = join(own, `${name}.manifest`)
  const notes = NOTES.map((kind) => join(own, `${name}.${kind}`))
  let known: Set<string> | undefined
  let written: WrittenRows | undefined

  async function makeDurable(isAnew = false): Promise<void> {
    const present = await files.list(folder)
    const fresh = present.filter((path) => known?.has(path) !== true)
    await syncInOrder(files, root, folder, fresh)
    known = new Set(present)
    const newest = newestVersion(present)
    if (newest === undefined || (fresh.length === 0 && !isAnew)) return
    // A version that is gone must stay noticed.
    if (!isAnew && ((await recorded())?.version ?? 0n) > newest) return
    await note(newest, { present, fresh })
  }

  /** Checksums first: what they do not cover is covered by the next commit, while a version that is marked must stay. */
  async function note(newest: bigint, covered: Covered): Promise<void> {
    const manifest = await files.read(join(folder, manifestPath(newest)))
    const rows = written === undefined ? [] : [storedRows(manifest, written)]
    written = undefined
    await checksums.cover(folder, covered, rows)
    await writeRecord(files, copy, { version: newest, bytes: manifest })
    await files.write(mark, String(newest))
  }

  const recorded = () => readRecord(files, copy)

  async function durableVersion(): Promise<bigint | undefined> {
    if ((await files.size(mark)) === undefined) return undefined
    const text = Buffer.from(await files.read(mark)).toString("utf8")
    return /^\d+$/.test(text) ? BigInt(text) : undefined
  }

  /** A killed process may have committed a version that is not durable yet. */
  async function isDurable(): Promise<boolean> {
    return (await durableVersion()) === newestVersion(await files.list(folder))
  }

  async function locked<Result>(work: () => Promise<Result>): Promise<Result> {
    if (lock === undefined) {
      ensureWritable(own)
      lock = openFileLock(join(own, `${name}.lock`))
    }
    return await whileLocked(lock, wait, async () => {
      known ??= new Set((await isDurable()) ? await files.list(folder) : [])
      try {
        return await work()
      } finally {
        await makeDurable()
      }
    })
  }

  return {
    name,
    files,
    folder,
    readers: openReaders(() => openReadersLock(own, name), wait.sleep),
    maintaining: (work) => whileMaintaining(join(own, `${name}.maintenance`), work),
    makeDurable: () => makeDurable(),
    checksums,
    recorded,
    noteRows: (rows) => {
      written = rows
    },
    record: () => makeDurable(true),
    notes,
    notePaths: () => Promise.resolve(notes),
    damagedNotes: () => findDamagedNotes({ name, files, checksums, recorded, durableVersion }, own),
    quarantine: join(own, "quarantine", name),
    doubt: () => {
      known = new Set()
    },
    exclusively: (work) => inProcess.run(() => locked(work)),
    createManifest: async (path, content) => {
      await files.write(path, content)
      return true
    },
    durableVersion,
    discard: async () => {
      lock?.close()
      lock = undefined
      for (const kind of KINDS) await files.remove(join(own, `${name}.${kind}`))
    },
  }
}

async function findDamagedNotes(
  table: Pick<LocalTable, "name" | "files" | "checksums" | "recorded" | "durableVersion">,
  own: string,
): Promise<readonly string[]> {
  const { name, files } = table
  const copied = await table.recorded()
  const isThere = async (kind: string) => (await files.size(join(own, `${name}.${kind}`))) !== undefined
  const isMarkRight = copied === undefined || (await table.durableVersion()) === copied.version
  const damaged = {
    checksums: (await table.checksums.read()).damagedLines > 0,
    manifest: copied === undefined && (await isThere("manifest")),
    durable: !isMarkRight && (await isThere("durable")),
  }
  return Object.entries(damaged).flatMap(([kind, isDamaged]) => (isDamaged ? [`${name}.${kind}`] : []))
}

/** Of each row that was written the group, once: rows get the numbers before the one that the next row gets. */
export function storedRows(manifest: Uint8Array, { count, ...rows }: WrittenRows): StoredRows {
  const { next } = rowsOfManifest(manifest)
  return { from: next - count, to: next, ...rows }
}

/** Undefined where nothing can be locked, as on a read-only disk, where nothing can be cleaned up either. */
function openReadersLock(own: string, name: string): FileLock | undefined {
  const readersLock = openFileLock(join(own, `${name}.readers`))
  try {
    ensureWritable(own)
    if (readersLock.take("shared")) readersLock.giveBack()
    return readersLock
  } catch (error) {
    if (error instanceof PondError && error.code === "storage_unavailable") return undefined
    throw error
  }
}

async function whileMaintaining<Result>(path: string, work: () => Promise<Result>): Promise<Result | "busy"> {
  ensureWritable(dirname(path))
  const mine = openFileLock(path)
  if (!mine.take()) return "busy"
  try {
    return await work()
  } finally {
    mine.close()
  }
}

export type WriteLock = <Result>(work: () => Promise<Result>) => Promise<Result>

/** One lock for all tables of the store in that folder, on this machine: for writers that ask several tables before they write. */
export function openStoreWriteLock(root: string, context: StoreContext): WriteLock {
  const wait = waitOf(context)
  const inProcess = new Semaphore(1)
  let lock: FileLock | undefined
  return (work) =>
    inProcess.run(async () => {
      if (lock === undefined) {
        const own = join(root, OWN_FOLDER)
        ensureWritable(own)
        lock = openFileLock(join(own, STORE_LOCK))
      }
      return await whileLocked(lock, wait, work)
    })
}

function waitOf({ clock, random, sleep }: StoreContext): LockWait {
  return { clock, random, sleep: sleep ?? Bun.sleep, timeoutMs: LOCK_TIMEOUT_MS }
}

/** New content first, then the manifests that name it, then the folders that name both. */
async function syncInOrder(files: DiskFiles, root: string, folder: string, fresh: readonly string[]): Promise<void> {
  if (fresh.length === 0) return
  const isManifest = (path: string) => path.startsWith(MANIFESTS)
  await Promise.all(fresh.filter((path) => !isManifest(path)).map((path) => files.sync(join(folder, path))))
  await Promise.all(fresh.filter(isManifest).map((path) => files.sync(join(folder, path))))
  const folders = new Set([root, folder])
  for (const path of fresh) {
    for (let above = dirname(path); above !== "."; above = dirname(above)) folders.add(join(folder, above))
  }
  await Promise.all([...folders].map((path) => files.sync(path)))
}

/** The newest that is there, durable and whole or not: names alone say it. */
export async function newestVersionOf({
  files,
  folder,
}: Pick<LocalTable, "files" | "folder">): Promise<bigint | undefined> {
  return versionsOf(await files.list(join(folder, MANIFESTS.slice(0, -1))))[0]
}

/** Below the folder of its table. */
export function manifestPath(version: bigint): string {
  return `${MANIFESTS}${manifestName(version)}`
}

/** What that version needs; nothing where it is gone, or does not say. */
export async function filesOfVersion(
  { files, folder }: StoredTable,
  version: bigint,
): Promise<readonly ReferencedFile[] | undefined> {
  const path = join(folder, manifestPath(version))
  return (await files.size(path)) === undefined ? undefined : referencedFiles(await files.read(path))
}

/** Changes with every commit, as far as the time of the folder of manifests tells two of them apart. */
export function commitSignature({ files, folder }: LocalTable): string | undefined {
  return files.statSignature(join(folder, MANIFESTS))
}

function newestVersion(paths: readonly string[]): bigint | undefined {
  return versionsNewestFirst(paths)[0]
}

export function versionsNewestFirst(paths: readonly string[]): bigint[] {
  return versionsOf(paths.filter((path) => path.startsWith(MANIFESTS)).map((path) => path.slice(MANIFESTS.length)))
}

function versionsOf(manifests: readonly string[]): bigint[] {
  return manifests
    .map(manifestVersion)
    .filter((version) => version !== undefined)
    .toSorted((one, other) => Number(other - one))
}
