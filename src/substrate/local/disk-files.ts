/**
 * What the durability of a local store asks of a disk: small enough that a test can record it, or die in the middle.
 * The one exception to `lance-chokepoints-storage`: the engine syncs no folder and heals nothing. Knows nothing of tables.
 */
import { chmodSync, closeSync, fstatSync, openSync, readSync, statSync } from "node:fs"
import { appendFile, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { PondError } from "../../model/errors.ts"
import { isSystemError } from "../../platform/system-error.ts"

export interface DiskFiles {
  /** Every file below the folder, relative to it. None where there is no such folder. */
  list(folder: string): Promise<string[]>
  /** Undefined where there is no such file. */
  size(path: string): Promise<number | undefined>
  /**
   * The same of many files, in one go: a stat that is waited for in a thread costs ten times the processor time. Undefined
   * too where it cannot be told.
   */
  sizesAtOnce(paths: readonly string[]): readonly (number | undefined)[]
  /** When its content was last touched. Undefined where there is no such file. */
  modifiedMs(path: string): Promise<number | undefined>
  /**
   * Another once an entry of the folder has come or gone, as far as its times tell them apart; the second of them cannot be
   * put back, as a copy that keeps times does with the first. Undefined where it cannot be told, as where no folder is.
   */
  statSignature(folder: string): string | undefined
  read(path: string): Promise<Uint8Array>
  /** The same; undefined where there is no such file. */
  find(path: string): Promise<Uint8Array | undefined>
  /** The last bytes of a file. */
  readEnd(path: string, bytes: number): Promise<Uint8Array>
  /**
   * XXH3 with 64 bits of the content, in pieces of 4 MiB: the hash of each piece is the seed of the next, so that a small
   * file has the plain hash. Undefined where there is no such file.
   */
  checksum(path: string): Promise<{ readonly bytes: number; readonly hash: string } | undefined>
  write(path: string, content: string | Uint8Array): Promise<void>
  /** Makes the file where it is missing. */
  append(path: string, text: string): Promise<void>
  /** Makes the folder of the target where it is missing. */
  rename(from: string, to: string): Promise<void>
  /** Removes a path that pond made itself; a missing path is no error. */
  remove(path: string): Promise<void>
  /** Returns when the content, or the entries of a folder, would survive a power cut. A path that is gone is well. */
  sync(path: string): Promise<void>
}

export const diskFiles: DiskFiles = {
  list: async (folder) => {
    const entries = await unlessAbsent(folder, readdir(folder, { recursive: true, withFileTypes: true }))
    return (entries ?? [])
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath}/${entry.name}`.slice(folder.length + 1))
  },
  size: async (path) =>
    (
      await unlessAbsent(
        path,
        atOnce(() => statSync(path)),
      )
    )?.size,
  sizesAtOnce: (paths) =>
    paths.map((path) => {
      try {
        return statSync(path, { throwIfNoEntry: false })?.size
      } catch {
        return undefined // whoever reads it says why it cannot
      }
    }),
  modifiedMs: async (path) => (await unlessAbsent(path, stat(path)))?.mtimeMs,
  statSignature: (folder) => {
    try {
      const found = statSync(folder, { bigint: true, throwIfNoEntry: false })
      return found && `${found.ino} ${found.mtimeNs} ${found.ctimeNs}`
    } catch {
      return undefined // the engine says why it cannot read there
    }
  },
  read: (path) => readFile(path),
  find: (path) => unlessAbsent(path, readFile(path)),
  readEnd: async (path, bytes) => {
    const file = await open(path, "r")
    try {
      const found = await file.stat()
      if (!found.isFile()) return new Uint8Array()
      const { size } = found
      const length = Math.min(bytes, size)
      const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length)
      return buffer
    } finally {
      await file.close()
    }
  },
  checksum: async (path) => {
    const file = await unlessAbsent(
      path,
      atOnce(() => openSync(path, "r")),
    )
    if (file === undefined) return undefined
    try {
      return await checksumOf(file)
    } finally {
      closeSync(file)
    }
  },
  write: async (path, content) => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFile(path, content)
  },
  append: (path, text) => appendFile(path, text),
  rename: async (from, to) => {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    await rename(from, to)
  },
  remove: (path) => rm(path, { force: true }),
  sync: async (path) => {
    const file = await unlessAbsent(path, open(path, "r"))
    try {
      await file?.sync()
    } finally {
      await file?.close()
    }
  },
}

/** When the folder changed, by a signature of it; nothing where that does not say. */
export function changedAtMs(statSignature: string): number | undefined {
  const times = /^\d+ (\d{13,})\d{6} (\d{13,})\d{6}$/.exec(statSignature)
  return times === null ? undefined : Math.max(Number(times[1]), Number(times[2]))
}

/**
 * Shuts a new table for others before anything is in it: the engine makes its folder as open as the umask says, and the
 * store may lie in a directory that was there before and that others can read.
 */
export function makePrivate(folder: string): void {
  try {
    chmodSync(folder, 0o700)
  } catch (error) {
    // Of another user who made it at the same moment, or on a disk without modes.
    if (!isSystemError(error)) throw error
  }
}

/** Without a thread: an import asks five times for each commit, and waiting for a thread was 3 % of its time. */
async function atOnce<T>(ask: () => T): Promise<T> {
  return await Promise.resolve(ask())
}

const PIECE_BYTES = 4 * 1024 * 1024

/** Reads what was just written, so it waits for no disk; between pieces others get their turn. */
async function checksumOf(file: number): Promise<{ readonly bytes: number; readonly hash: string }> {
  const found = fstatSync(file)
  if (!found.isFile()) return { bytes: 0, hash: "" }
  const { size } = found
  const piece = Buffer.allocUnsafe(Math.min(size, PIECE_BYTES))
  let [bytes, hash] = [0, 0n]
  do {
    let filled = 0
    while (filled < piece.length) {
      const bytesRead = readSync(file, piece, filled, piece.length - filled, bytes + filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    hash = Bun.hash.xxHash3(piece.subarray(0, filled), hash)
    bytes += filled
    if (filled < piece.length) break
    if (bytes < size) await Bun.sleep(0)
  } while (bytes < size)
  return { bytes, hash: hash.toString(16).padStart(16, "0") }
}

/** Whether the path, or something that it leads through, is a file: then no folder can ever be there. */
export async function leadsThroughFile(path: string): Promise<boolean> {
  try {
    return !(await stat(path)).isDirectory()
  } catch (error) {
    if (isSystemError(error, ...ABSENT)) return error.code === "ENOTDIR"
    throw deniedOr(error, path)
  }
}

/** Below a file there is nothing either. */
const ABSENT = ["ENOENT", "ENOTDIR"]

async function unlessAbsent<Value>(path: string, pending: Promise<Value>): Promise<Value | undefined> {
  try {
    return await pending
  } catch (error) {
    if (isSystemError(error, ...ABSENT)) return undefined
    throw deniedOr(error, path)
  }
}

const DENIED = ["EACCES", "EPERM"]

function deniedOr(error: unknown, path: string): unknown {
  if (!isSystemError(error, ...DENIED)) return error
  const named = "path" in error ? String(error.path) : path
  return new PondError(
    "storage_unavailable",
    `Permission denied: ${named}, part of the store. Fix it with chmod -R u+rwX or chown.`,
    { details: { path: named, failure: "denied" }, cause: error },
  )
}
