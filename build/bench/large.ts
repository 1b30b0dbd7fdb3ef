/**
 * What no size of a source may change: one log of gigabytes (`--mb N`), and one with a single line of a hundred megabytes
 * (`--line-mb N`), each imported by a separate process whose peak of memory is what is measured. The generated texts are
 * different in every line, so that nothing is stored for less than it is.
 */
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { createWriter, type Writer } from "../corpus/words.ts"
import type { Bench, Row } from "../lib/measure.ts"
import { pond } from "../lib/timed-run.ts"
import { BuildFailure } from "../release/targets.ts"

const MB_DEFAULT = 2_000
const LINE_MB_DEFAULT = 100
/** What a line needs of memory: the process, and so many times itself. As text beyond Latin it is held twice as wide. */
const LINE_BASE_MB = 150
const LINE_TIMES = 4.5
const WRITE_UNITS = 4_000_000

export const bench: Bench = {
  summary: "large: the memory of an import of one log of gigabytes, and of one line of 100 MB",
  run: (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: { mb: { type: "string" }, "line-mb": { type: "string" } },
    })
    const base = mkdtempSync(join(tmpdir(), "pond-bench-"))
    try {
      const [mb, lineMb] = [Number(values.mb ?? MB_DEFAULT), Number(values["line-mb"] ?? LINE_MB_DEFAULT)]
      const row = (what: string, home: string, lines: Iterable<string>): Row => {
        const written = writeLog(home, lines)
        const { stdout, residentMb, wallMs } = pond(home, "sync", "--only", "import", "--json")
        if (storedIn(stdout) !== written) throw new BuildFailure(`not every line of ${what} was stored`)
        return {
          what: `${what}, peak memory`,
          measured: residentMb,
          unit: "MB",
          beside: `${written} lines, ${(wallMs / 1_000).toFixed(0)} s`,
        }
      }
      const writer = createWriter(11)
      return Promise.resolve([
        { ...row(`one log of ${mb} MB`, join(base, "log"), linesOf(writer, mb * 1e6)), limit: 600 },
        {
          ...row(`a line of ${lineMb} MB`, join(base, "line"), [said(writer, 1, longText(writer, lineMb * 1e6))]),
          limit: LINE_BASE_MB + LINE_TIMES * lineMb,
        },
      ])
    } finally {
      rmSync(base, { recursive: true, force: true })
    }
  },
}

const SESSION = "7a5e8f2c-7a94-4c1d-9e0f-3d2a6b8c4e10"

function* linesOf(writer: Writer, bytes: number): Generator<string> {
  let written = 0
  for (let number = 1; written < bytes; number++) {
    const line = said(writer, number, number % 4 === 0 ? writer.output() : writer.text(80))
    written += line.length
    yield line
  }
}

function said(writer: Writer, number: number, content: string): string {
  const uuid = `0c1d2e3f-1111-4222-8333-${String(number).padStart(12, "0")}`
  const frame = { type: "user", uuid, parentUuid: null, sessionId: SESSION, cwd: "/garden", version: "2.1.0" }
  return `${JSON.stringify({ ...frame, timestamp: writer.moment(), message: { role: "user", content } })}\n`
}

function longText(writer: Writer, units: number): string {
  const pieces: string[] = []
  for (let length = 0; length < units; length += pieces.at(-1)?.length ?? 0) pieces.push(writer.text(5_000))
  return pieces.join(" ")
}

function writeLog(home: string, lines: Iterable<string>): number {
  const folder = join(home, ".claude/projects/-garden")
  mkdirSync(folder, { recursive: true })
  const log = openSync(join(folder, `${SESSION}.jsonl`), "w")
  let count = 0
  let waiting = ""
  for (const line of lines) {
    count++
    waiting += line
    if (waiting.length < WRITE_UNITS) continue
    writeSync(log, waiting)
    waiting = ""
  }
  writeSync(log, waiting)
  closeSync(log)
  return count
}

function storedIn(stdout: string): number {
  const { adapters } = JSON.parse(stdout) as { adapters: { messages: { new: number } }[] }
  return adapters.reduce((sum, { messages }) => sum + messages.new, 0)
}
