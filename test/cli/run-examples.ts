/**
 * Runs every example of every verb in the home and directory of this process, one after the other in one process: each is
 * what a separate process would do, and loading everything seventy times would only take time. Prints what became of them.
 */
import { homedir } from "node:os"
import { join } from "node:path"
import { VERBS } from "../../src/cli/registry.ts"
import { runPond } from "../../src/pond.ts"

export interface RanExample {
  readonly verb: string
  readonly example: string
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

const SESSION = "0a0fb0f6-d949-4c88-a1ca-9484aeb8c9f8"
/** They speak a protocol over stdin and stdout, and are tried in `test/mcp`. */
const ELSEWHERE = ["mcp"]
/** They stay until a signal comes. */
const STAYING = /^(open|serve|watch|sync --watch)\b/

/** The words of a shell, up to where the shell's own begin, with what stands for something put in its place. */
function wordsOf(example: string, message: string): string[] {
  const words = [...example.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, twice, once, bare]) => twice ?? once ?? bare ?? "",
  )
  const shell = words.findIndex((word) => ["|", ">", ">>", "&&"].includes(word))
  const own = shell === -1 ? words : words.slice(0, shell)
  const home = homedir()
  return own.map((word) =>
    word
      .replace(/^SESSION$/, SESSION)
      .replace(/^MESSAGE$/, message)
      .replace(/^s3:\/\/bucket\/\w+$/, join(home, "bucket"))
      .replace(/^\/mnt\//, `${home}/mnt/`)
      .replace(/^~\//, `${home}/`),
  )
}

async function run(argv: readonly string[], isStaying: boolean): Promise<Omit<RanExample, "verb" | "example">> {
  const written = { out: "", err: "" }
  const sink = (name: keyof typeof written) => ({
    isTerminal: false,
    columns: undefined,
    rows: undefined,
    write: (text: string) => {
      written[name] += text
    },
  })
  const input = { isTerminal: false, line: () => Promise.resolve(undefined) }
  const exitCode = await runPond(argv, {
    streams: { out: sink("out"), err: sink("err"), input },
    listenForEnd: (listener) => {
      if (isStaying) setTimeout(() => listener(130), 1)
      return () => undefined
    },
  })
  return { exitCode, stdout: written.out, stderr: written.err }
}

await run(["sync"], false)
await run(["copy", "--to", join(homedir(), "bucket")], false)
const { stdout } = await run(["get", SESSION, "--json"], false)
const firstMessage: string = JSON.parse(stdout).result.messages[0].id
const examples: RanExample[] = []
for (const { name, load } of VERBS.filter((row) => !ELSEWHERE.includes(row.name))) {
  for (const example of (await load()).examples) {
    // The port that people know may be taken on the machine of a test.
    const words = wordsOf(/^(serve|open\b.*)$/.test(example) ? `${example} --port 0` : example, firstMessage)
    examples.push({ verb: name, example, ...(await run(words, STAYING.test(example))) })
  }
}
await Bun.write("examples.json", JSON.stringify(examples))
