/**
 * A directory for what the native engine writes beside its work and nobody keeps. Left to itself the engine makes one for
 * each process below `TMPDIR` and leaves it there: 16,900 of them lay on one machine. Where it cannot make one it aborts
 * the process: after a shell that took its `TMPDIR` away with it, in an image without `/tmp`, on a disk that is full. So
 * it gets one that pond makes, which goes with the process; that of a process that was killed goes with the next one.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { processEnvironment } from "../host/environment.ts"
import { notWritable, placePath } from "../host/paths.ts"
import { hasEnded, isAlive, processMark } from "../process/process-mark.ts"
import { overrideNativeVariable } from "./native-environment.ts"

/** Whether a process of another machine or container ended is not known here: its own goes once it is so old. */
const LEFT_MS = 24 * 60 * 60 * 1000

let own: string | undefined

/** To be asked before each use that needs it: caches are deleted while processes go on. */
export function readyScratch(): void {
  if (own !== undefined && existsSync(own)) return
  if (own === undefined) process.once("exit", () => own !== undefined && rmSync(own, { recursive: true, force: true }))
  own = made()
  overrideNativeVariable("TMPDIR", own)
}

/** The directory itself, for what pond writes there. */
export function scratchDirectory(): string {
  readyScratch()
  return own as string
}

function made(): string {
  const beside = tmpdir()
  try {
    const parent = join(placePath(processEnvironment(), "cache"), "scratch")
    mkdirSync(parent, { recursive: true, mode: 0o700 })
    const folder = mkdtempSync(join(parent, processMark()))
    removeLeft(parent, statSync(folder).mtimeMs)
    return folder
  } catch {
    // A cache that may only be read serves, and so does a machine without a home.
    return madeIn(beside)
  }
}

function madeIn(parent: string): string {
  try {
    return mkdtempSync(join(parent, "pond-scratch-"))
  } catch (cause) {
    throw notWritable(parent, cause)
  }
}

function removeLeft(parent: string, nowMs: number): void {
  for (const name of readdirSync(parent)) {
    const path = join(parent, name)
    const found = statSync(path, { throwIfNoEntry: false })
    if (found === undefined) continue
    const isOld = nowMs - found.mtimeMs >= LEFT_MS && !isAlive(Number.parseInt(name, 10))
    if (isOld || hasEnded(name)) rmSync(path, { recursive: true, force: true })
  }
}
