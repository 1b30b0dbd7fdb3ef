/**
 * A lock for work that must not run twice at once on one machine. A waiting process is told which one it waits for. The
 * lock is a `FileLock`, never stale; a note in a second file names its holder, for people alone.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { PondError } from "../../model/errors.ts"
import type { Clock } from "../host/clock.ts"
import { ensureWritable } from "../host/paths.ts"
import { pause } from "../pause.ts"
import { type FileLock, openFileLock } from "./file-lock.ts"

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

/** Takes the lock at `path`, a separate file that stays; its directory is made where it is missing. */
export async function takeLock(path: string, { clock, signal, mayWait, onWait }: LockWait): Promise<Lock> {
  ensureWritable(dirname(path))
  const lock = openFileLock(path)
  try {
    for (let isFirst = true; !lock.take(); isFirst = false) {
      const holder = holderOf(path)
      if (!mayWait) throw occupied(path, holder)
      if (isFirst) onWait?.(holder)
      await pause(POLL_MS, signal)
      if (signal.aborted) throw new PondError("interrupted", `Interrupted while waiting for ${describeHolder(holder)}.`)
    }
    return held(path, lock, clock)
  } catch (error) {
    lock.close()
    throw error
  }
}

function held(path: string, lock: FileLock, clock: Clock): Lock {
  write(notePath(path), JSON.stringify({ pid: process.pid, sinceMs: clock.nowMs() }))
  let isHeld = true
  const release = () => {
    if (!isHeld) return
    isHeld = false
    remove(notePath(path))
    lock.close()
  }
  return { release, [Symbol.dispose]: release }
}

/** A note of another user, or a full disk, does not cost anyone the lock. */
function write(note: string, text: string): void {
  try {
    writeFileSync(note, text)
  } catch {
    remove(note)
  }
}

function remove(note: string): void {
  try {
    rmSync(note, { force: true })
  } catch {
    return
  }
}

function notePath(path: string): string {
  return `${path}.holder`
}

/** The holder of the lock, as its note says; the note may be missing or half written. */
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
    `${describeHolder(holder)} is using the store. Try again when it is done.`.replace(/^a/, "A"),
    {
      details: { path, holder: holder ?? null },
    },
  )
}
