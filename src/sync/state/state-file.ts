/**
 * The SQLite file of the sync state. Several processes open it at once. A damaged file is set aside and a new one
 * begun. This file knows nothing of what the tables mean; `FORMAT.md` describes them.
 */
import { Database } from "bun:sqlite"
import { renameSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { PondError } from "../../model/errors.ts"
import type { Log } from "../../platform/host/log.ts"
import { ensureWritable, notWritable } from "../../platform/host/paths.ts"
import { errorCode, isSystemError } from "../../platform/system-error.ts"

/** For a reader, if there is no file. */
export const IN_MEMORY = ":memory:"

export interface StateFile {
  readonly path: string
  /** Inode of the file; undefined if there is none. */
  readonly inode: bigint | undefined
}

interface OpenedFile {
  readonly database: Database
  readonly file: StateFile
}

/** The file is not what was written. */
export class DamagedState extends Error {
  override readonly name = "DamagedState"
  readonly file: StateFile

  constructor(file: StateFile, cause: unknown) {
    super(`${file.path} is damaged`, { cause })
    this.file = file
  }
}

/** Opens the file. One that cannot be read is set aside, and a new one begun. */
export function openStateFile(path: string, schema: string, log: Log): OpenedFile {
  if (path !== IN_MEMORY) ensureWritable(dirname(path))
  try {
    return openDatabase(path, schema)
  } catch (error) {
    if (!(error instanceof DamagedState)) throw error
    putAside(error, log)
    return openDatabase(path, schema)
  }
}

/** Sets the damaged file aside, unless another process did so already and began a new one. */
export function putAside({ file: { path, inode } }: DamagedState, log: Log): void {
  if (inode === undefined || inodeOf(path) !== inode) return
  log.warn(
    `The sync state ${path} is damaged. It was moved away and is rebuilt from the sources; the store is not affected.`,
  )
  try {
    renameSync(path, `${path}.damaged`)
  } catch (error) {
    if (!isSystemError(error, "ENOENT")) throw notWritable(dirname(path), error)
  }
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino
}

function openDatabase(path: string, schema: string): OpenedFile {
  let database: Database | undefined
  try {
    database = new Database(path, { create: true })
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    switchToWal(database)
    // After a crash the state may be behind the store, and never ahead of it. What it lacks is read again.
    database.run("PRAGMA synchronous = NORMAL")
    database.run(schema)
    return { database, file: { path, inode: inodeOf(path) } }
  } catch (error) {
    database?.close()
    throw translateError(error, { path, inode: inodeOf(path) })
  }
}

const BUSY_TIMEOUT_MS = 5_000
const SWITCH_POLL_MS = 5

/**
 * Switches to WAL. If several processes open a new file, SQLite lets one switch and fails the others at once, ignoring
 * the timeout, because they hold a read lock. `pond status` beside the first `pond sync` failed in one of 200 starts.
 * Failing releases the lock, so the switch is tried again.
 */
function switchToWal(database: Database): void {
  for (let waitedMs = 0; ; waitedMs += SWITCH_POLL_MS)
    try {
      database.run("PRAGMA journal_mode = WAL")
      return
    } catch (error) {
      if (!isSystemError(error, "SQLITE_BUSY") || waitedMs >= BUSY_TIMEOUT_MS) throw error
      Bun.sleepSync(SWITCH_POLL_MS)
    }
}

export function translateError(error: unknown, file: StateFile): unknown {
  const code = errorCode(error) ?? ""
  if (isDamage(code, error)) return new DamagedState(file, error)
  if (code === "SQLITE_BUSY") {
    const said = "Another pond process is using the sync state. Try again when it is done."
    return new PondError("conflict", said, { details: { path: file.path }, cause: error })
  }
  return code.startsWith("SQLITE_") ? notWritable(file.path, error) : error
}

/** Text that is not JSON, or that does not match its checksum, is damage. */
function isDamage(code: string, error: unknown): boolean {
  if (error instanceof SyntaxError) return true
  const isGarbled = code === "SQLITE_ERROR" && /malformed JSON/.test(String(error))
  return isGarbled || code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT")
}
