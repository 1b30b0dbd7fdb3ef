/**
 * A lock between processes of one machine: work that must not run twice at once takes turns. The lock is SQLite's own on
 * an empty database file, which the system takes back the moment its process dies, however it dies: no lock is ever stale.
 * Beside it lies a note of who holds it. The note is for people; the lock does not depend on it.
 */
import { Database } from "bun:sqlite"
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { PondError } from "../model/errors.ts"
import type { Clock } from "./clock.ts"
import { ensureWritable } from "./paths.ts"

export interface Lock extends Disposable {
  /** Safe to call twice. */
  readonly release: () => void
}

export interface LockHolder {
  readonly pid: number
  readonly sinceMs: number
}

export interface LockWait {
  readonly clock: Clock
  readonly signal: AbortSignal
  /** False: an occupied lock is a `conflict` at once. */
  readonly mayWait: boolean
  /** Called once, when there is something to wait for. */
  readonly onWait?: (holder: LockHolder | undefined) => void
}

const POLL_MS = 50

/** Takes the lock at `path`, a file of its own that stays; its directory is made where it is missing. */
export async function takeLock(path: string, { clock, signal, mayWait, onWait }: LockWait): Promise<Lock> {
  ensureWritable(dirname(path))
  for (let isFirst = true; ; isFirst = false) {
    const lock = tryLock(path, clock)
    if (lock !== undefined) return lock
    const holder = holderOf(path)
    if (!mayWait) throw occupied(path, holder)
    if (isFirst) onWait?.(holder)
    await pause(POLL_MS, signal)
    if (signal.aborted) throw new PondError("interrupted", `Interrupted while waiting for ${describeHolder(holder)}.`)
  }
}

/** Undefined while another holds it. */
function tryLock(path: string, clock: Clock): Lock | undefined {
  let database: Database | undefined
  try {
    database = new Database(path, { create: true, readwrite: true })
    database.run("pragma busy_timeout = 0")
    database.run("begin immediate")
  } catch (cause) {
    database?.close()
    if (isBusy(cause)) return undefined
    throw new PondError("storage_unavailable", `pond cannot lock ${path}. Remove the file, or make it writable.`, {
      details: { path },
      cause,
    })
  }
  writeFileSync(notePath(path), JSON.stringify({ pid: process.pid, sinceMs: clock.nowMs() }))
  return held(path, database)
}

function held(path: string, database: Database): Lock {
  let isHeld = true
  const release = () => {
    if (!isHeld) return
    isHeld = false
    rmSync(notePath(path), { force: true })
    database.run("rollback")
    database.close()
  }
  return { release, [Symbol.dispose]: release }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY")
}

function notePath(path: string): string {
  return `${path}.holder`
}

/** Whoever holds the lock, as far as the note says; it may be gone or half written at this moment. */
function holderOf(path: string): LockHolder | undefined {
  try {
    const note: unknown = JSON.parse(readFileSync(notePath(path), "utf8"))
    const isNote = typeof note === "object" && note !== null && "pid" in note && "sinceMs" in note
    return isNote ? { pid: Number(note.pid), sinceMs: Number(note.sinceMs) } : undefined
  } catch {
    return undefined
  }
}

function describeHolder(holder: LockHolder | undefined): string {
  return holder === undefined ? "another pond" : `another pond (process ${holder.pid})`
}

function occupied(path: string, holder: LockHolder | undefined): PondError {
  return new PondError(
    "conflict",
    `${describeHolder(holder)} is at work. Try again when it is done.`.replace(/^a/, "A"),
    {
      details: { path, holder: holder ?? null },
    },
  )
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true },
    )
  })
}
