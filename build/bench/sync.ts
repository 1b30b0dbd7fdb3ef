/**
 * What a sync costs, beside what the same files cost anybody: listing them, reading them, and reading them with every line
 * through `JSON.parse` in one thread. Each figure is of a separate process, in one run, over a corpus made from a seed.
 * `--sessions N` and `--messages N` make another corpus for the import (a million messages takes minutes), `--files N`
 * another one for the sync without changes, `--keep` leaves everything where it is.
 */
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { type Corpus, writeCorpus } from "../corpus/corpus.ts"
import { type Bench, median, type Row } from "../lib/measure.ts"
import { pond, pondCommand, pondForm, start } from "../lib/timed-run.ts"
import { BuildFailure } from "../release/targets.ts"

const SEED = 7
const LINES_TYPICAL = 60
/** Lines for each session of the corpus of the import, as `LINES_TYPICAL` and the spread give them. */
const LINES_MEAN = 95
const ROUNDS = 7

export const bench: Bench = {
  summary: "sync: import, memory, nothing changed, one file changed, size of the store",
  run: (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        sessions: { type: "string" },
        messages: { type: "string" },
        files: { type: "string" },
        keep: { type: "boolean" },
      },
    })
    const wanted = values.messages === undefined ? undefined : Math.ceil(Number(values.messages) / LINES_MEAN)
    const base = mkdtempSync(join(tmpdir(), "pond-bench-"))
    try {
      const imported = importRows(join(base, "import"), wanted ?? Number(values.sessions ?? 1_000))
      const still = stillRows(join(base, "still"), Number(values.files ?? 10_000))
      return Promise.resolve([...imported, ...still])
    } finally {
      if (values.keep === true) console.error(`everything is in ${base}`)
      else rmSync(base, { recursive: true, force: true })
    }
  },
}

// --- Import ----------------------------------------------------------------------------------------------------------

function importRows(home: string, sessions: number): Row[] {
  const corpus = writeCorpus({ home, sessions, linesTypical: LINES_TYPICAL, seed: SEED })
  console.error(
    `import: ${sessions} sessions, ${corpus.files.length} files, ${corpus.lines} lines, ${mb(corpus.bytes)} MB`,
  )
  const read = best(() => start(home, ["cat", "--", ...listed(home)]).wallMs)
  const parsed = best(() => start(home, [process.execPath, "-e", PARSE_EVERY_LINE, home]).wallMs)
  const first = pond(home, "sync", "--only", "import", "--json")
  const { messages, failed } = totals(first.stdout)
  const again = pond(home, "sync", "--only", "import", "--full", "--json")
  if (failed > 0 || totals(again.stdout).messages > 0)
    throw new BuildFailure("the second import stored something again")
  const bare = sizeOf(storeOf(home)) / corpus.bytes
  const indexed = pond(home, "sync", "--only", "index", "--json")
  const beside = `${pondForm()}; cat ${read.toFixed(0)} ms, read and JSON.parse ${parsed.toFixed(0)} ms, pond ${first.wallMs.toFixed(0)} ms (processor ${first.cpuMs.toFixed(0)} ms)`
  return [
    {
      what: "import, times the speed of JSON.parse",
      // Informs: beside the words of an index and compression, parsing is a tenth of the work. `everyday` has the ratio to hold.
      measured: parsed / first.wallMs,
      unit: "x",
      beside,
    },
    {
      what: "import, for each second of processor time",
      measured: (messages / first.cpuMs) * 1_000,
      unit: "lines/s",
      limit: 6_000,
      isFloor: true,
      beside: `${messages} lines of logs`,
    },
    {
      what: "import, peak memory",
      measured: first.residentMb,
      unit: "MB",
      limit: 600,
      beside: `${mb(corpus.bytes)} MB of sources`,
    },
    {
      what: "import again (--full), peak memory",
      measured: again.residentMb,
      unit: "MB",
      limit: 600,
    },
    {
      what: "import again (--full), times the first import",
      measured: again.cpuMs / first.cpuMs,
      unit: "x",
      limit: 1.5,
      goal: 1.2,
      beside: `processor ${again.cpuMs.toFixed(0)} ms, ${again.wallMs.toFixed(0)} ms in all`,
    },
    {
      what: "store with its indexes, times the size of its sources",
      measured: sizeOf(storeOf(home)) / corpus.bytes,
      unit: "x",
      // 0.3517, of which the checksums of the files are 0.0011: a store without them has 0.3505.
      limit: 0.36,
      goal: 0.3,
      beside: `no vectors; ${bare.toFixed(2)} before the index stage, which took ${indexed.wallMs.toFixed(0)} ms and ${indexed.residentMb.toFixed(0)} MB`,
    },
  ]
}

const PARSE_EVERY_LINE = `
  const { readFileSync } = require("node:fs")
  let lines = 0
  for (const file of new Bun.Glob("**/*.jsonl").scanSync({ cwd: process.argv.at(-1), absolute: true, dot: true })) {
    for (const line of readFileSync(file, "utf8").split("\\n")) if (line !== "") { JSON.parse(line); lines++ }
  }
  console.log(lines)
`

// --- Nothing changed -------------------------------------------------------------------------------------------------

const LINES_STILL = 6

function stillRows(home: string, files: number): Row[] {
  const corpus = writeCorpus({ home, sessions: files, linesTypical: LINES_STILL, seed: SEED })
  console.error(`nothing changed: ${corpus.files.length} files, ${mb(corpus.bytes)} MB`)
  // The second one finds that the tables have nothing due, as those before the one that is measured have.
  for (const _ of ["all", "nothing"]) pond(home, "sync", "--json")
  const find = middle(() => start(home, ["find", ...SOURCES, "-printf", "%s %T@ %p\n"]).cpuMs)
  const begin = middle(() => pond(home, "--help").cpuMs)
  const still = middle(() => pond(home, "sync", "--json").cpuMs)
  const changed = middle((round) => {
    appendLine(corpus, round)
    return pond(home, "sync", "--json").cpuMs
  })
  return [
    {
      what: `sync, ${files} sessions unchanged`,
      measured: still,
      unit: "ms of processor time",
      limit: 5 * find + begin,
      goal: 2 * find + begin,
      beside: `${pondForm()}; find ${find.toFixed(0)} ms, start of the process ${begin.toFixed(0)} ms`,
    },
    {
      what: "session files opened by it",
      measured: openedSessionFiles(home),
      unit: "files",
      limit: 1,
      beside: "strace",
    },
    {
      what: "sync, one of them changed",
      measured: changed,
      unit: "ms of processor time",
      limit: still + 250,
      goal: still + 30,
    },
  ]
}

function appendLine({ files }: Corpus, round: number): void {
  const log = files[0]
  if (log === undefined) throw new BuildFailure("the corpus is empty")
  appendFileSync(log, `${JSON.stringify({ type: "mode", mode: `plan ${round}` })}\n`)
}

/** What the kernel was asked to open below the sources, by every thread. Not known without `strace`. */
function openedSessionFiles(home: string): number {
  if (Bun.which("strace") === null) return Number.NaN
  const trace = join(home, "trace.txt")
  const command = [...pondCommand(), "sync", "--json"]
  start(home, ["strace", "-f", "-qq", "-e", "trace=open,openat,openat2", "-o", trace, ...command])
  const text = readFileSync(trace, "utf8")
  const isOfSource = (line: string) => SOURCES.some((source) => line.includes(`"${join(home, source)}/`))
  return text.split("\n").filter((line) => line.includes('.jsonl"') && isOfSource(line)).length
}

// --- Processes -------------------------------------------------------------------------------------------------------

const SOURCES = [".claude", ".codex", ".pi"]

function totals(stdout: string): { readonly messages: number; readonly failed: number } {
  const { adapters } = JSON.parse(stdout) as { adapters: { messages: { new: number }; sessions: { failed: number } }[] }
  const sum = (of: (root: (typeof adapters)[number]) => number) => adapters.reduce((total, root) => total + of(root), 0)
  return { messages: sum(({ messages }) => messages.new), failed: sum(({ sessions }) => sessions.failed) }
}

function listed(home: string): string[] {
  return [...new Bun.Glob("**/*.jsonl").scanSync({ cwd: home, dot: true })]
}

function storeOf(home: string): string {
  return join(home, ".local/share/pond/store")
}

function sizeOf(path: string): number {
  const names = readdirSync(path, { recursive: true }) as string[]
  return names.map((name) => statSync(join(path, name))).reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0)
}

function best(run: () => number): number {
  return Math.min(run(), run(), run())
}

function middle(run: (round: number) => number): number {
  return median(Array.from({ length: ROUNDS }, (_, round) => run(round)))
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(0)
}
