/** Takes the lock it is given, says so, and holds it until it is killed or its stdin ends. Started by `locks.test.ts`. */

import { takeLock } from "../../src/platform/files/machine-lock.ts"
import { systemClock } from "../../src/platform/host/clock.ts"

const [path = ""] = process.argv.slice(2)
using _lock = await takeLock(path, { clock: systemClock, signal: AbortSignal.abort(), mayWait: false })
process.stdout.write("held\n")
await Bun.stdin.text()
