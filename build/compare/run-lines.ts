/**
 * Runs command lines of pond, one after the other in one process, for `bun run compare`. A restore writes only paths and ids that a
 * client gives itself; collections of samples have others, so those forms are lifted here: what is judged is what comes back.
 */
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { runPond } from "../../src/pond.ts"

export interface RanLine {
  readonly exitCode: number
  /** The one document on stdout. */
  readonly document: Readonly<Record<string, unknown>> | undefined
}

for (const { output } of ADAPTERS)
  Object.assign(output, { sessionIds: /^[^-]/, relativePaths: [/./], hiddenFolder: /^.*\/(?=[^/]+$)/ })

async function run(argv: readonly string[]): Promise<RanLine> {
  let out = ""
  const sink = (write: (text: string) => void) => ({ isTerminal: false, columns: undefined, rows: undefined, write })
  const exitCode = await runPond(["--json", "-q", ...argv], {
    streams: {
      out: sink((text) => {
        out += text
      }),
      err: sink(() => undefined),
      input: { isTerminal: false, line: () => Promise.resolve(undefined) },
    },
    listenForEnd: () => () => undefined,
  })
  return { exitCode, document: out === "" ? undefined : JSON.parse(out) }
}

const lines: readonly (readonly string[])[] = JSON.parse(Bun.argv[2] ?? "[]")
const ran: RanLine[] = []
for (const line of lines) ran.push(await run(line))
process.stdout.write(JSON.stringify(ran))
