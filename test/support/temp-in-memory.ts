/**
 * Runs before all tests: temporary directories lie in memory where the machine has room for them there. Stores, databases
 * and logs are synced to the disk at each write, which a test has no use for: nothing of it outlives the test. A TMPDIR
 * that is set stays.
 */
import { accessSync, constants, statfsSync } from "node:fs"

const IN_MEMORY = "/dev/shm"
const BYTES_MIN = 4 * 2 ** 30

function hasRoom(): boolean {
  try {
    accessSync(IN_MEMORY, constants.W_OK)
    const { bavail, bsize } = statfsSync(IN_MEMORY)
    return bavail * bsize >= BYTES_MIN
  } catch {
    return false
  }
}

if (process.env["TMPDIR"] === undefined && hasRoom()) process.env["TMPDIR"] = IN_MEMORY
