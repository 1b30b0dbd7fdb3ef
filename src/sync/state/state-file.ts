/**
 * The file that holds what a sync remembers: opened by several processes at once, and put aside where SQLite finds that it
 * is no longer what was written. Knows nothing of what stands in it.
 */
import { Database } from "bun:sqlite"
import { renameSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { PondError } from "../../model/errors.ts"
import type { Log } from "../../platform/host/log.ts"
import { ensureWritable, notWritable } from "../../platform/host/paths.ts"
import { errorCode, isSystemError } from "../../platform/system-error.ts"

/** For who only looks, where there is none. */
export const IN_MEMORY = ":memory:"

export interface StateFile {
  readonly path: string
  /** Which file lies there; nothing where none does. */
  readonly inode: bigint | undefined
}

interface OpenedFile {
  readonly database: Database
  readonly file: StateFile
}

/** What SQLite finds of a file that is no longer what was written. */
export class DamagedState extends Error {
  override readonly name = "DamagedState"
  readonly file: StateFile

  constructor(file: StateFile, cause: unknown) {
    super(`${file.path} is damaged`, { cause })
    this.file = file
  }
}

/** A state that cannot be read is put aside, and begun anew. */
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

/** Another process may have found the same and put it aside: the one that it began since stays where it lies. */
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
    // The state may lag behind the store after a crash, never the other way round: what it lacks is read again.
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
 * Of several that begin one state, SQLite lets one change the mode, and refuses the others at once whatever time they
 * were given: they read already, and it takes two that read and want to write for a deadlock. `pond status` beside the
 * first `pond sync` of a home met it in one of 200 starts. Who is refused lets go of its read by failing, and asks again.
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

/** A text that is not JSON was one when it was written, and one that breaks its seal was another. */
function isDamage(code: string, error: unknown): boolean {
  if (error instanceof SyntaxError) return true
  const isGarbled = code === "SQLITE_ERROR" && /malformed JSON/.test(String(error))
  return isGarbled || code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT")
}
