/**
 * Names of files and directories that a process makes for itself alone and removes when it ends. The name says which
 * process on which machine, so that a later one can remove what a killed one left.
 */
import { readFileSync, readlinkSync } from "node:fs"
import { hostname } from "node:os"
import { lazy } from "../lazy.ts"
import { sha256Of } from "../sha256.ts"
import { isSystemError } from "../system-error.ts"

/** Stands at the beginning of such a name; what follows tells those of one process apart. */
export function processMark(): string {
  return `${process.pid}-${machineMark()}-`
}

const FORM = /^(\d+)-([0-9a-f]{8})-/

/** Whether the process ended that has this mark. False where that cannot be known: it ran on another machine. */
export function hasEnded(name: string): boolean {
  const [, pid, machine] = FORM.exec(name) ?? []
  return pid !== undefined && machine === machineMark() && !isAlive(Number(pid))
}

/** A process of this machine, or of another that has the same number here. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return isSystemError(error, "EPERM")
  }
}

/** Of this machine since it was started, and of this container: process numbers mean something only there. */
const machineMark = lazy(() => {
  const facts = [hostname(), factOf(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"))]
  return sha256Of([...facts, factOf(() => readlinkSync("/proc/self/ns/pid"))].join("\n")).slice(0, 8)
})

/** Empty where the system does not tell. */
function factOf(read: () => string): string {
  try {
    return read()
  } catch {
    return ""
  }
}
