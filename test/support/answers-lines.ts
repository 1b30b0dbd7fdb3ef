/** Pond's command line, run line by line in one process, as `warm-pond.ts` asks for it. */
import { join } from "node:path"
import { runPond } from "../../src/pond.ts"
import type { Ran } from "./pond-process.ts"

export interface AskedLine {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

/** What pond tells other programs to start is pond, and not this file. */
Object.assign(Bun, { main: join(import.meta.dir, "../../src/main.ts") })

async function answer({ args, env, cwd }: AskedLine): Promise<Ran> {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  process.chdir(cwd)
  let [stdout, stderr] = ["", ""]
  const sink = (write: (text: string) => void) => ({ isTerminal: false, columns: undefined, rows: undefined, write })
  const exitCode = await runPond(args, {
    streams: {
      out: sink((text) => {
        stdout += text
      }),
      err: sink((text) => {
        stderr += text
      }),
      input: { isTerminal: false, line: () => Promise.resolve(undefined) },
    },
    listenForEnd: () => () => undefined,
  })
  return { exitCode, stdout: stdout.toWellFormed(), stderr: stderr.toWellFormed() }
}

process.on("disconnect", () => process.exit(0))
process.on("message", (asked: AskedLine) => void answer(asked).then((answered) => process.send?.(answered)))
