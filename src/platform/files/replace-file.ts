/**
 * Changes a file that belongs to another program, such as its settings: the whole new text beside it, made durable, then
 * renamed over it. What it held is kept beside it as a backup. A file that changed since it was read is not touched.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs"
import { dirname } from "node:path"
import { PondError } from "../../model/errors.ts"
import { errorCode, isSystemError } from "../system-error.ts"

const BACKUP_SUFFIX = ".before-pond"
const DRAFT_SUFFIX = ".pond-draft"
const PRIVATE_MODE = 0o600

/** The bytes of a file, or nothing where there is none. */
export function bytesOfFile(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path)
  } catch (cause) {
    if (isSystemError(cause, "ENOENT")) return undefined
    throw unwritable(path, cause)
  }
}

export interface Replacement {
  readonly path: string
  /** What the new text was made from. */
  readonly from: Uint8Array | undefined
  readonly text: string
  /** Keeps an older backup: what the file holds now is pond's own work. */
  readonly isOwnWork?: boolean
  /** False for a file that is pond's alone. */
  readonly keepsBackup?: boolean
}

/** Gives the path of the backup, where there was something to keep. */
export function replaceFile({
  path,
  from,
  text,
  isOwnWork = false,
  keepsBackup = true,
}: Replacement): string | undefined {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    // Settings are often a link into a folder that somebody keeps: the file behind it changes, the link stays.
    const target = existsSync(path) ? realpathSync(path) : path
    const mode = from === undefined ? PRIVATE_MODE : statSync(target).mode & 0o777
    const draft = `${target}${DRAFT_SUFFIX}-${process.pid}`
    const backup = `${target}${BACKUP_SUFFIX}`
    try {
      writeDurably(draft, Buffer.from(text), mode)
      if (!isSame(bytesOfFile(target), from)) throw changed(path)
      const wantsBackup = from !== undefined && keepsBackup && !(isOwnWork && existsSync(backup))
      if (wantsBackup) writeDurably(backup, from, mode)
      renameSync(draft, target)
    } finally {
      rmSync(draft, { force: true })
    }
    syncDirectory(dirname(target))
    return from === undefined || !keepsBackup ? undefined : backup
  } catch (cause) {
    if (cause instanceof PondError) throw cause
    throw unwritable(path, cause)
  }
}

/** Puts back what a file held before pond changed it, as long as it still holds what pond wrote. */
export function putBack(path: string, holding: Uint8Array): boolean {
  const backup = `${existsSync(path) ? realpathSync(path) : path}${BACKUP_SUFFIX}`
  const before = bytesOfFile(backup)
  if (before === undefined) return false
  replaceFile({ path, from: holding, text: Buffer.from(before).toString(), isOwnWork: true })
  rmSync(backup, { force: true })
  return true
}

/** Removes a file that still holds these bytes. */
export function removeFile(path: string, holding: Uint8Array): void {
  if (!isSame(bytesOfFile(path), holding)) throw changed(path)
  rmSync(path, { force: true })
}

function writeDurably(path: string, bytes: Uint8Array, mode: number): void {
  const file = openSync(path, "w", mode)
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  chmodSync(path, mode)
}

function syncDirectory(path: string): void {
  const folder = openSync(path, "r")
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

function isSame(left: Uint8Array | undefined, right: Uint8Array | undefined): boolean {
  if (left === undefined || right === undefined) return left === right
  return Buffer.compare(left, right) === 0
}

function changed(path: string): PondError {
  return new PondError("conflict", `${path} was just changed by another program. Run this again.`, {
    details: { path },
  })
}

function unwritable(path: string, cause: unknown): PondError {
  const reason = errorCode(cause) ?? "unknown"
  return new PondError(
    "storage_unavailable",
    `Cannot edit ${path} (${reason}). Make it writable, or edit it by hand.`,
    {
      details: { path, reason },
      cause,
    },
  )
}
