/**
 * Runs before all tests: temporary directories lie in memory where the machine has room for them there. Stores, databases
 * and logs are synced to the disk at each write, which a test has no use for: nothing of it outlives the test. A TMPDIR
 * that is set stays.
 */
import { accessSync, constants, readFileSync, statfsSync } from "node:fs"

const IN_MEMORY = "/dev/shm"
const BYTES_MIN = 4 * 2 ** 30

function hasRoom(): boolean {
  try {
    accessSync(IN_MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(IN_MEMORY)
    // Tests write programs there and run them, which containers forbid by default.
    const isExecutable = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .every((line) => !isNoexec(line))
    return isExecutable && bavail * bsize >= BYTES_MIN
  } catch {
    return false
  }
}

function isNoexec(mount: string): boolean {
  const [, place, , options = ""] = mount.split(" ")
  return place === IN_MEMORY && options.split(",").includes("noexec")
}

if (process.env["TMPDIR"] === undefined && hasRoom()) process.env["TMPDIR"] = IN_MEMORY
