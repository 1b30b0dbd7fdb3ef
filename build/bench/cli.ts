/**
 * What people wait for: everyday commands (status, get, list, blame, cost, erase) as processes beside a large store, and a
 * whole store on its way through an archive: speed and memory of export, import and copy. `--messages N` says how large the
 * store is, `--keep DIR` where it is made and left for the next run, `--only asked|moved` does one half of it.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Entry } from "../../src/model/session.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { systemRandom } from "../../src/platform/host/random.ts"
import { openSessions, type Sessions } from "../../src/sessions/store.ts"
import { MESSAGES, PARTS, SESSIONS } from "../../src/sessions/tables.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import type { Table } from "../../src/substrate/table.ts"
import type { Columns, RowOf } from "../../src/substrate/table-definition.ts"
import { type Bench, median, type Row } from "../lib/measure.ts"
import { messageRow, partRow, SESSION_MESSAGES, sessionIdOf, sessionRow } from "../lib/store-rows.ts"
import { pondCommand, pondForm, weighed } from "../lib/timed-run.ts"

const BATCH = 10_000

export const bench: Bench = {
  summary: "the command line: status and get beside a large store; export, import and copy of it",
  run: async (args) => {
    const messages = Number(flagValue(args, "--messages") ?? 1_000_000)
    const kept = flagValue(args, "--keep")
    const folder = kept ?? mkdtempSync(join(tmpdir(), "pond-bench-cli-"))
    mkdirSync(folder, { recursive: true })
    try {
      const store = join(folder, `store-${messages}`)
      if (!existsSync(store)) await makeStore(store, messages)
      const only = flagValue(args, "--only")
      return [
        ...(only === "moved" ? [] : await asked(folder, store, messages)),
        ...(only === "asked" ? [] : await moved(folder, store, messages)),
      ]
    } finally {
      if (kept === undefined) rmSync(folder, { recursive: true, force: true })
    }
  },
}

function flagValue(args: readonly string[], flag: string): string | undefined {
  const at = args.indexOf(flag)
  return at < 0 ? undefined : args[at + 1]
}

async function makeStore(folder: string, messages: number): Promise<void> {
  const location = parseLocation(folder, { environment: {} })
  const store = openStore(location, { log: silentLog, clock: systemClock, random: systemRandom })
  await grow(store.table(PARTS), messages * 2, partRow)
  await grow(store.table(MESSAGES), messages, answerRow)
  await grow(store.table(SESSIONS), Math.ceil(messages / SESSION_MESSAGES), sessionRow)
  const sessions = openSessions(store, { clock: systemClock, host: "somewhere" })
  await writeFileHistory(sessions)
  // As a sync leaves it: without an index of the words `pond status` counts all texts, a third of a second of the million.
  await sessions.maintain("due")
  store.close()
}

/** A message of an assistant, which is half of them, with the usage that Claude Code records. */
function answerRow(at: number): RowOf<typeof MESSAGES.columns> {
  const row = messageRow(at)
  if (row.role !== "assistant") return row
  const usage = { input_tokens: 3, cache_read_input_tokens: at % 100_000, output_tokens: at % 900 }
  const message = { id: `msg_${at}`, model: MODELS[at % MODELS.length], usage }
  const record = { type: "assistant", requestId: `req_${at}`, message }
  return { ...row, options: JSON.stringify({ source: { version: "2.1.0", cwd: "/home/someone/work", record } }) }
}
const MODELS = ["claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"]

const BLAMED = "/home/someone/work/project-1/src/blamed.ts"
const BLAMED_LINES = 1_000
const BLAMED_EDITS = 40

function lineOf(number: number, edits: number): string {
  return `export const value${number} = "line ${number} of the file, as edit ${edits} left it"`
}

/** A session that writes a file of a thousand lines, and edits some of them. */
async function writeFileHistory(sessions: Sessions): Promise<void> {
  const id = "b1a3ed00-0000-4000-8000-000000000000"
  const lines = Array.from({ length: BLAMED_LINES }, (_, number) => lineOf(number, 0))
  const calls = Array.from({ length: BLAMED_EDITS }, (_, number) => ({
    name: "Edit",
    params: { file_path: BLAMED, old_string: lineOf(number * 20, 0), new_string: lineOf(number * 20, number + 1) },
    result: "updated",
  }))
  const made = `File created successfully at: ${BLAMED}`
  const first = { name: "Write", params: { file_path: BLAMED, content: `${lines.join("\n")}\n` }, result: made }
  const project = "/home/someone/work/project-1"
  const entries = [first, ...calls].flatMap((call, number) => callEntries(id, number * 2, call))
  const created_at = "2026-01-01T00:00:00.000Z"
  await sessions.write([{ session: { id, source_agent: "claude-code", created_at, project, options: {} }, entries }])
}

interface FileCall {
  readonly name: string
  readonly params: Readonly<Record<string, string>>
  readonly result: string
}

function callEntries(id: string, ordinal: number, { name, params, result }: FileCall): readonly Entry[] {
  const timestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, ordinal)).toISOString()
  const common = { session_id: id, provenance: "injected", options: {} } as const
  const message = (at: number) => ({ id: `m${at}`, session_id: id, ordinal: at, timestamp, options: {} })
  const call_id = `call-${ordinal}`
  const call = { ...common, id: "p", message_id: `m${ordinal}`, type: "tool_call", call_id, name, params } as const
  const answer = { ...common, id: "p", message_id: `m${ordinal + 1}`, type: "tool_result", call_id } as const
  return [
    { message: { ...message(ordinal), role: "assistant" }, parts: [{ ...call, provider_executed: false }] },
    { message: { ...message(ordinal + 1), role: "tool" }, parts: [{ ...answer, is_failure: false, result }] },
  ]
}

async function grow<C extends Columns>(table: Table<C>, rows: number, row: (at: number) => RowOf<C>): Promise<void> {
  for (let from = 0; from < rows; from += BATCH) {
    await table.insertAbsent(Array.from({ length: Math.min(BATCH, rows - from) }, (_, index) => row(from + index)))
    await table.maintain("lookups")
  }
  await table.maintain("due")
}

// --- Processes -------------------------------------------------------------------------------------------------------

interface Run {
  readonly ms: number
  readonly cpuMs: number
  readonly peakMb: number
  readonly document: Readonly<Record<string, unknown>>
}

async function pond(folder: string, args: readonly string[]): Promise<Run> {
  using scales = weighed([...pondCommand(), ...args, "--json", "-q"])
  const began = performance.now()
  const child = Bun.spawn([...scales.command], {
    env: { PATH: process.env["PATH"] ?? "", HOME: folder },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  })
  const text = await new Response(child.stdout).text()
  const code = await child.exited
  const ms = performance.now() - began
  if (code !== 0) throw new Error(`pond ${args.join(" ")} exited with ${code}: ${text}`)
  const cpuMs = Number(child.resourceUsage()?.cpuTime.total ?? Number.NaN) / 1_000
  return { ms, cpuMs, peakMb: scales.peakMb(), document: JSON.parse(text) }
}

interface Times {
  /** Processor time, which a busy machine makes little of. */
  readonly cpuMs: number
  /** By the clock, the quickest: what a person waits where nothing else runs. */
  readonly leastMs: number
}

/** Seven in a row, after one that fills caches. */
async function several(folder: string, args: readonly string[]): Promise<Times> {
  await pond(folder, args)
  const runs: Run[] = []
  for (let round = 0; round < 7; round++) runs.push(await pond(folder, args))
  return timesOf(runs)
}

function timesOf(runs: readonly Run[]): Times {
  return { cpuMs: median(runs.map(({ cpuMs }) => cpuMs)), leastMs: Math.min(...runs.map(({ ms }) => ms)) }
}

/** Each a session of its own, which comes back afterwards. */
async function erasures(folder: string, store: string, messages: number): Promise<Times> {
  const runs: Run[] = []
  for (let round = 0; round < 4; round++) {
    const session = sessionIdOf(Math.floor(messages / SESSION_MESSAGES / 3) + round)
    runs.push(await pond(folder, ["erase", session, "--yes", "--store", store]))
    await pond(folder, ["erase", "--undo", session, "--store", store])
  }
  return timesOf(runs.slice(1))
}

async function asked(folder: string, store: string, messages: number): Promise<Row[]> {
  const beside = `${pondForm()}, of ${messages} messages`
  const start = await several(folder, ["--version"])
  const message = messageRow(Math.floor(messages / 2)).id
  const session = sessionIdOf(Math.floor(messages / SESSION_MESSAGES / 2))
  const rows: Row[] = []
  const add = (what: string, { cpuMs, leastMs }: Times) =>
    rows.push({
      what,
      measured: cpuMs,
      unit: "ms of processor time",
      limit: LIMITS_MS[what] ?? 150,
      beside: `${leastMs.toFixed(0)} ms by the clock at best; ${beside}; a start alone ${start.cpuMs.toFixed(0)} ms`,
    })
  const first = await pond(folder, ["cost", "--store", store])
  rows.push({ what: "pond cost, the first time", measured: first.cpuMs, unit: "ms of processor time", beside })
  for (const [what, args] of [
    ["pond status, the cheap part", ["status", "--quick"]],
    ["pond get of a message", ["get", message]],
    ["pond get of a session", ["get", session]],
    ["pond list", ["list"]],
    ["pond blame of a file of 1,000 lines", ["blame", blamedFile(folder)]],
    ["pond cost", ["cost"]],
  ] as const)
    add(what, await several(folder, [...args, "--store", store]))
  add("pond erase of a session", await erasures(folder, store, messages))
  return rows
}

/** The goal of a list is 120 ms by the clock; 60 of its processor time are threads that work beside it. */
const LIMITS_MS: Readonly<Record<string, number>> = {
  "pond list": 200,
  "pond blame of a file of 1,000 lines": 500,
  "pond cost": 1_000,
  "pond erase of a session": 1_000,
}

/** The file as its session left it, in a clone of the project. */
function blamedFile(folder: string): string {
  const path = join(folder, "project-1/src/blamed.ts")
  mkdirSync(dirname(path), { recursive: true })
  const lines = Array.from({ length: BLAMED_LINES }, (_, number) =>
    lineOf(number, number % 20 === 0 && number / 20 < BLAMED_EDITS ? number / 20 + 1 : 0),
  )
  writeFileSync(path, `${lines.join("\n")}\n`)
  return path
}

// --- Archives --------------------------------------------------------------------------------------------------------

async function moved(folder: string, store: string, messages: number): Promise<Row[]> {
  const archive = join(folder, "all.pond")
  const [imported, copied] = [join(folder, "imported"), join(folder, "copied")]
  for (const path of [archive, imported, copied]) rmSync(path, { recursive: true, force: true })
  const out = await pond(folder, ["export", "-o", archive, "--store", store])
  const [bytes, raw] = [Number(out.document["bytes"]), Number(out.document["raw_bytes"])]
  const cat = await timed(() => Bun.spawn(["cat", archive], { stdout: "ignore" }).exited)
  const back = await pond(folder, ["import", archive, "--store", imported])
  const over = await pond(folder, ["copy", "--from", store, "--to", copied])
  const proof = await pond(folder, ["copy", "--from", imported, "--to", copied, "--verify-only"])
  for (const path of [archive, imported, copied]) rmSync(path, { recursive: true, force: true })
  if (proof.document["ok"] !== true) throw new Error("what was imported is not what was copied")
  const about = `${mb(bytes)} MB of archive, ${mb(raw)} MB of rows, ${messages} messages`
  // Of processor time, which a busy machine makes little of.
  const rate = (of: number, { cpuMs }: Pick<Run, "cpuMs">) => of / 1e6 / (cpuMs / 1000)
  const speed = (what: string, run: Run, held: Pick<Row, "limit" | "goal">): Row[] => [
    { what: `${what}, of archive`, measured: rate(bytes, run), unit: "MB/s", isFloor: true, ...held, beside: about },
    {
      what: `${what}, of rows`,
      measured: rate(raw, run),
      unit: "MB/s",
      beside: `cat of it: ${rate(bytes, { cpuMs: cat }).toFixed(0)} MB/s`,
    },
  ]
  const memory = (what: string, run: Run): Row => ({
    what: `memory of ${what}, peak`,
    measured: run.peakMb,
    unit: "MB",
    limit: 600,
  })
  return [
    ...speed("export", out, { limit: 20, goal: 60 }),
    memory("export", out),
    ...speed("import and its indexes", back, { limit: 6, goal: 30 }),
    memory("import", back),
    { what: "copy to another store, of rows", measured: rate(raw, over), unit: "MB/s" },
    memory("copy", over),
    { what: "both compared by their ids", measured: proof.ms / 1000, unit: "s" },
    memory("that", proof),
  ]
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(0)
}
