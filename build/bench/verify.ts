/**
 * What proving costs: `verify` in memory over sessions on the disk, in the processor's time, and the memory it holds, each
 * adapter in a separate process: the making of the sessions is none of its cost. They are made by each adapter out of one
 * conversation; `--samples DIR` takes those below `DIR/<adapter>` instead.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Adapter, Conversation } from "../../src/adapters/adapter.ts"
import { ADAPTERS, adapterById } from "../../src/adapters/registry.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { seededRandom } from "../../src/platform/host/random.ts"
import { fileBytes } from "../../src/restore/draft.ts"
import { foreignFiles } from "../../src/restore/output-files.ts"
import { verify } from "../../src/restore/verify.ts"
import type { Bench, Row } from "../lib/measure.ts"
import { conversationOf } from "./codec.ts"

const SESSIONS = 12
const MESSAGES = 4_000
/** For logs, of which a record at a time is held. */
const LOGS = { speed: 40, memory: 400 }
/** A session that is one text is held whole, several times over: as its text, as values, and as what is written of it. */
const WHOLE_TEXTS = { speed: 22, memory: 650 }
const OTHERS: Readonly<Record<string, typeof LOGS>> = {
  "gemini-cli": WHOLE_TEXTS,
  cline: WHOLE_TEXTS,
  continue: WHOLE_TEXTS,
  amp: WHOLE_TEXTS,
  aider: { ...WHOLE_TEXTS, speed: 15 },
  // Twice what the same logs take as Claude Code's. Why is not known.
  "claude-desktop": { ...LOGS, memory: 600 },
  // Beside its log of updates a session has its history as one text.
  grok: { ...LOGS, memory: 800 },
  // A file for each event: 48,000 of them are opened.
  openhands: { ...LOGS, speed: 12 },
}

export const bench: Bench = {
  summary: "verify in memory: megabytes a second, and the memory it takes",
  run: async (args) => {
    const samples = args[0] === "--samples" ? args[1] : undefined
    const made = samples === undefined ? mkdtempSync(join(tmpdir(), "pond-bench-verify-")) : undefined
    try {
      const rows: Row[] = []
      for (const adapter of ADAPTERS) {
        const root = join(samples ?? made ?? "", adapter.id)
        if (made !== undefined) await write(adapter, root)
        rows.push(...(await measuredAlone(adapter.id, root)))
      }
      return rows
    } finally {
      if (made !== undefined) rmSync(made, { recursive: true })
    }
  },
}

async function measuredAlone(id: string, root: string): Promise<Row[]> {
  const alone = Bun.spawn([process.execPath, import.meta.path, id, root], { stdout: "pipe", stderr: "inherit" })
  const said = await new Response(alone.stdout).text()
  if ((await alone.exited) !== 0) throw new Error(`${id}: its process failed`)
  return JSON.parse(said) as Row[]
}

async function rowsOf(adapter: Adapter, root: string): Promise<Row[]> {
  const before = process.cpuUsage()
  let memory = 0
  const context = {
    clock: systemClock,
    signal: new AbortController().signal,
    onProgress: () => {
      memory = Math.max(memory, process.memoryUsage.rss())
    },
  }
  const [report] = await verify({ sources: [{ adapter, root }] }, context)
  const { user, system } = process.cpuUsage(before)
  if (report === undefined || report.bytes === 0) return []
  if (report.mismatches.length > 0) throw new Error(`${adapter.id}: ${report.mismatches.length} mismatches`)
  const beside = `${report.sessions} sessions, ${(report.bytes / 1e6).toFixed(0)} MB`
  const speed = report.bytes / (user + system)
  const held = OTHERS[adapter.id] ?? LOGS
  return [
    { what: `${adapter.id}: verify`, measured: speed, unit: "MB/s", limit: held.speed, isFloor: true, beside },
    { what: `${adapter.id}: verify, memory`, measured: memory / 1e6, unit: "MB", limit: held.memory },
  ]
}

/** A client whose sessions are rows has none here: its samples have. */
async function write(adapter: Adapter, root: string): Promise<void> {
  for (let count = 0; count < SESSIONS; count++) {
    const told = renamed(conversationOf(MESSAGES, seededRandom(count)), count)
    const { files } = foreignFiles(adapter, told, { cwd: "/projects/alpha", reasoning: "keep" })
    for (const file of files)
      if (file.form !== "database") await Bun.write(join(root, file.relativePath), fileBytes(file))
  }
}

function renamed({ session, entries, children }: Conversation, count: number): Conversation {
  return { session: { ...session, id: `${session.id.slice(0, -2)}${10 + count}` }, entries, children }
}

if (import.meta.main) {
  const [, , id = "", root = ""] = Bun.argv
  const adapter = adapterById(id)
  console.log(JSON.stringify(adapter === undefined ? [] : await rowsOf(adapter, root)))
}
