/**
 * Runs the command lines that it is given, as JSON, one after the other in one process, and prints what became of each: as
 * a separate process would, without the time that loading everything takes.
 */
import { runPond } from "../../src/pond.ts"

export interface RanLine {
  readonly exitCode: number
  /** What stood in the one document on stdout. */
  readonly error: { readonly code: string; readonly message: string } | undefined
}

async function run(argv: readonly string[]): Promise<RanLine> {
  let out = ""
  const sink = (write: (text: string) => void) => ({ isTerminal: false, columns: undefined, rows: undefined, write })
  const exitCode = await runPond([...argv, "--json", "-q"], {
    streams: {
      out: sink((text) => {
        out += text
      }),
      err: sink(() => undefined),
      input: { isTerminal: false, line: () => Promise.resolve(undefined) },
    },
    listenForEnd: () => () => undefined,
  })
  return { exitCode, error: out === "" ? undefined : JSON.parse(out).error }
}

const lines: readonly (readonly string[])[] = JSON.parse(Bun.argv[2] ?? "[]")
const ran: RanLine[] = []
for (const line of lines) ran.push(await run(line))
process.stdout.write(JSON.stringify(ran))
