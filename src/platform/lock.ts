/**
 * One holder at a time, on this machine. The lock is an open transaction in a small SQLite file: the kernel lets go of
 * it with the process, so that a crash leaves nothing to clean up. Who holds it is written beside it, for messages only.
 */
import { Database } from "bun:sqlite"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { PondError } from "../model/errors.ts"
import type { Clock } from "./clock.ts"

export interface Lock {
  release(): void
}

export interface LockRequest {
  readonly path: string
  /** What the holder does, in the words of its user: `pond sync`. */
  readonly purpose: string
  readonly clock: Clock
  /** Zero gives up at once. */
  readonly waitMs: number
  readonly signal?: AbortSignal
  /** Told once, when it has to wait. */
  readonly onWait?: (holder: string) => void
}

const POLL_MS = 100

export async function takeLock(request: LockRequest): Promise<Lock> {
  const { path, clock, waitMs, signal } = request
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const database = new Database(path, { create: true })
  const untilMs = clock.monotonicMs() + waitMs
  let isTold = false
  for (;;) {
    if (tryBegin(database)) break
    const holder = holderOf(path)
    if (signal?.aborted || clock.monotonicMs() >= untilMs) {
      database.close()
      throw busy(holder)
    }
    if (!isTold) request.onWait?.(holder)
    isTold = true
    await Bun.sleep(POLL_MS)
  }
  writeFileSync(holderPath(path), JSON.stringify({ pid: process.pid, purpose: request.purpose, since: clock.nowMs() }))
  return {
    release: () => {
      database.run("ROLLBACK")
      database.close()
    },
  }
}

function tryBegin(database: Database): boolean {
  try {
    database.run("BEGIN EXCLUSIVE")
    return true
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "SQLITE_BUSY") return false
    throw error
  }
}

function busy(holder: string): PondError {
  return new PondError("conflict", `Another pond is at work on this store (${holder}). Wait for it, or stop it.`, {
    details: { holder },
  })
}

function holderPath(path: string): string {
  return `${path}.holder.json`
}

function holderOf(path: string): string {
  try {
    const holder = JSON.parse(readFileSync(holderPath(path), "utf8")) as { pid?: unknown; purpose?: unknown }
    return `${holder.purpose}, process ${holder.pid}`
  } catch {
    return "a process that did not say who it is"
  }
}
