/**
 * Runs command lines of pond one after the other in one process that stays: each with its own environment, as a process for
 * each would, for 15 to 60 ms of CPU instead of 150 to 250, most of which loads modules and native libraries. What a test
 * says of processes (signals, locks, two at once, what is printed as it goes) is for `pond-process.ts`.
 */
import { join } from "node:path"
import type { AskedLine } from "./answers-lines.ts"
import { WARM_POND } from "./bundled-pond.ts"
import { type Ran, type RunOptions, runPond as runInProcess } from "./pond-process.ts"

const ROOT = join(import.meta.dir, "../..")
/** The engine and other libraries see the environment that their process began with: what they read is not for this one. */
const READ_BY_POND = /^(HOME|PATH|XDG_\w+|POND_\w+|NO_COLOR)$/
/** Then another begins: no run depends on thousands before it. */
const LINES_MAX = 100

interface Warm {
  ask(line: AskedLine): Promise<Ran>
  end(): void
  lines: number
}

let warm: Warm | undefined
let last: Promise<unknown> = Promise.resolve()

export function runPond(args: readonly string[], { env = {}, cwd = ROOT, main }: RunOptions = {}): Promise<Ran> {
  const all = { PATH: process.env["PATH"] ?? "", ...env }
  if (main !== undefined || !Object.keys(all).every((name) => READ_BY_POND.test(name)))
    return runInProcess(args, { env, cwd, ...(main === undefined ? {} : { main }) })
  const ran = last.then(() => takeWarm().ask({ args, env: all, cwd }))
  last = ran.catch(() => undefined)
  return ran
}

function takeWarm(): Warm {
  if (warm !== undefined && warm.lines >= LINES_MAX) warm.end()
  warm ??= startWarm()
  warm.lines++
  return warm
}

function startWarm(): Warm {
  let waiting: PromiseWithResolvers<Ran> | undefined
  const child = Bun.spawn([process.execPath, WARM_POND], {
    stdio: ["ignore", "ignore", "inherit"],
    ipc: (answered: Ran) => waiting?.resolve(answered),
    onExit: (_, exitCode, signal) => {
      if (warm === started) warm = undefined
      waiting?.reject(new Error(`The process of the command lines ended: ${exitCode} ${signal}`))
    },
  })
  // It ends with this process, which does not wait for it.
  child.unref()
  const started: Warm = {
    ask: async (line) => {
      waiting = Promise.withResolvers()
      child.send(line)
      return await waiting.promise
    },
    end: () => {
      warm = undefined
      child.disconnect()
    },
    lines: 0,
  }
  return started
}
