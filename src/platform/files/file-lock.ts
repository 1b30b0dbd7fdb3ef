/**
 * A lock between processes of one machine, that the system itself gives back when its holder dies.
 * It is the write lock of an empty SQLite database: the one such lock that the runtime offers on every system without a
 * native call of ours. Nothing is ever written into the file.
 */
import { Database } from "bun:sqlite"
import { accessSync, constants } from "node:fs"
import { PondError } from "../../model/errors.ts"
import type { Clock } from "../host/clock.ts"
import type { Random } from "../host/random.ts"
import { errorCode } from "../system-error.ts"

/** Shared and exclusive, as usual: any number of readers, or one writer. */
export type LockMode = "alone" | "shared"

export interface FileLock {
  /** Whether the lock is now held by this handle. Never waits. */
  take(mode?: LockMode): boolean
  giveBack(): void
  /** Gives back what is held, and lets go of the file. `take` opens it again. */
  close(): void
}

/** Opens the file, or makes it. Two handles of one file exclude each other, also within one process. */
export function openFileLock(path: string): FileLock {
  let database: Database | undefined
  const opened = (): Database => {
    if (database !== undefined) return database
    const made = new Database(path, { create: true, readwrite: true })
    try {
      // Without a journal on disk: nothing is ever written that would need one.
      made.run("PRAGMA journal_mode = MEMORY")
    } catch (error) {
      made.close()
      throw error
    }
    database = made
    return database
  }
  return {
    take: (mode = "alone") => {
      try {
        const own = opened()
        if (mode === "alone") accessSync(path, constants.W_OK)
        begin(own, mode)
        return true
      } catch (error) {
        if (errorCode(error) === "SQLITE_BUSY") {
          if (database?.inTransaction === true) database.run("ROLLBACK")
          return false
        }
        // Not removed here: another process may be holding the existing file.
        const advice =
          errorCode(error) === "SQLITE_NOTADB"
            ? "Another program wrote to it. Stop pond everywhere and delete the file: it contains no data."
            : "Make it and its folder writable (chmod, chown), or delete the file while no pond is running: it contains no data."
        throw new PondError("storage_unavailable", `Cannot lock ${path}. ${advice}`, {
          details: { path, code: errorCode(error) },
          cause: error,
        })
      }
    },
    giveBack: () => {
      database?.run("ROLLBACK")
    },
    close: () => {
      database?.close()
      database = undefined
    },
  }
}

/**
 * A read is what shares the lock. Of a file that may only be read, SQLite makes a read of what was asked to be alone, and
 * says nothing: an exclusive lock needs write permission.
 */
function begin(database: Database, mode: LockMode): void {
  database.run(mode === "alone" ? "BEGIN EXCLUSIVE" : "BEGIN DEFERRED")
  if (mode === "shared") database.query("SELECT count(*) FROM sqlite_schema").get()
}

export interface LockWait {
  readonly clock: Clock
  readonly random: Random
  readonly sleep: (ms: number) => Promise<void>
  readonly timeoutMs: number
}

const POLL_FIRST_MS = 1
const POLL_MAX_MS = 25

/** Does the work while the lock is held. A waiter tries again after growing, random times, so that none starves. */
export async function whileLocked<Result>(
  lock: FileLock,
  wait: LockWait,
  work: () => Promise<Result>,
): Promise<Result> {
  const from = wait.clock.monotonicMs()
  for (let attempts = 1; !lock.take(); attempts++) {
    const waitedMs = wait.clock.monotonicMs() - from
    if (waitedMs > wait.timeoutMs) {
      throw new PondError("conflict", "Another pond process has locked the store. Try again when it is done.", {
        details: { attempts, waited_ms: Math.round(waitedMs) },
      })
    }
    const span = Math.min(POLL_MAX_MS, POLL_FIRST_MS * 2 ** Math.min(attempts, 8))
    await wait.sleep(span / 2 + (span / 2) * wait.random.next())
  }
  try {
    return await work()
  } finally {
    lock.giveBack()
  }
}
