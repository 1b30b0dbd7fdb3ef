/** The peak memory of this process, for tests that start one to measure it. */
import { existsSync, readFileSync } from "node:fs"

const STATUS = "/proc/self/status"

/**
 * In MB. On Linux the peak that `resourceUsage` tells includes that of whoever started the process, because it is carried
 * over `exec`: after a large test every child looks large. The kernel keeps the process's own peak in `VmHWM`.
 */
export function ownPeakMb(): number {
  if (!existsSync(STATUS)) return process.resourceUsage().maxRSS / 1024
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(STATUS, "utf8")) ?? []
  return Number(kilobytes) / 1024
}
