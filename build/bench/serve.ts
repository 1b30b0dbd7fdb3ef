/**
 * Many clients at one server: `pond serve` over a large store, asked by 64 clients at once for searches, sessions and, one
 * time in ten, to take new messages in. Says how long they wait, whether anything failed and how much memory the server
 * takes while it goes on, beside a bare Elysia route that the same clients ask in the same run.
 * `--messages N` (1,000,000), `--seconds N` (300), `--clients N` (64), `--store DIR` (which holds `store`) keeps the store and
 * goes on with it.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { createTalk, type Talk } from "../corpus/talk.ts"
import { fillWithTalk, openTalkStore, storeFolder } from "../corpus/talk-store.ts"
import { type Bench, median, quantile, type Row } from "../lib/measure.ts"
import { ROOT } from "../release/packages.ts"

const BARE_SECONDS_MAX = 20
const KNOWN_SESSIONS = 500

export const bench: Bench = {
  summary: "a server under load: 64 clients that search, read and write, beside a bare Elysia route",
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        messages: { type: "string", default: "1000000" },
        seconds: { type: "string", default: "300" },
        clients: { type: "string", default: "64" },
        store: { type: "string" },
      },
    })
    const folder = values.store ?? mkdtempSync(join(tmpdir(), "pond-bench-serve-"))
    const talk = createTalk(7)
    try {
      const sessions = await prepared(folder, talk, Number(values.messages))
      const seconds = Number(values.seconds)
      const load = { talk, sessions, clients: Number(values.clients), seconds }
      const bare = await under(bareServer(), (url, pid) =>
        bareLoad(url, pid, { ...load, seconds: Math.min(BARE_SECONDS_MAX, seconds) }),
      )
      const served = await under(pondServer(folder), (url, pid) => mixedLoad(url, pid, load))
      return rowsOf(served, bare, load)
    } finally {
      if (values.store === undefined) rmSync(folder, { recursive: true, force: true })
    }
  },
}

async function prepared(folder: string, talk: Talk, messages: number): Promise<number> {
  const sessions = openTalkStore(folder)
  try {
    await fillWithTalk(sessions, talk, messages)
    await sessions.maintain("due")
    return Math.ceil(messages / talk.messagesPerSession)
  } finally {
    sessions.close()
  }
}

// --- Servers ---------------------------------------------------------------------------------------------------------

interface Server {
  readonly command: readonly string[]
  readonly environment: Record<string, string>
}

function pondServer(folder: string): Server {
  const environment = { HOME: folder, PATH: process.env["PATH"] ?? "", POND_STORE: storeFolder(folder) }
  return { command: [process.execPath, join(ROOT, "src/main.ts"), "serve", "--port", "0", "--no-token"], environment }
}

const BARE = `import { Elysia } from "elysia"
const app = new Elysia().post("/v1/search", ({ body }) => ({ protocol_version: 1, echoed: body }))
const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => app.handle(request) })
console.log("serves on " + server.url.href.replace(/\\/$/, ""))`

function bareServer(): Server {
  return { command: [process.execPath, "-e", BARE], environment: { HOME: tmpdir(), PATH: process.env["PATH"] ?? "" } }
}

async function under<Result>(
  { command, environment }: Server,
  work: (url: string, pid: number) => Promise<Result>,
): Promise<Result> {
  const child = Bun.spawn([...command], { env: environment, cwd: ROOT, stdout: "pipe", stderr: "inherit" })
  try {
    const { value } = await child.stdout.getReader().read()
    const url = /http:\/\/\S+/.exec(new TextDecoder().decode(value))?.[0]
    if (url === undefined) throw new Error("the server did not say where it listens")
    return await work(url, child.pid)
  } finally {
    child.kill("SIGTERM")
    await child.exited
  }
}

// --- Load ------------------------------------------------------------------------------------------------------------

interface Load {
  readonly talk: Talk
  /** How many sessions are stored. */
  readonly sessions: number
  readonly clients: number
  readonly seconds: number
}

interface Measured {
  readonly timesMs: ReadonlyMap<string, readonly number[]>
  readonly failures: readonly string[]
  /** Once a second. */
  readonly memoryMb: readonly number[]
}

type Ask = (client: number, round: number) => { readonly kind: string; readonly path: string; readonly body: object }

function mixedLoad(url: string, pid: number, load: Load): Promise<Measured> {
  const { talk, sessions } = load
  // Made before: making them would take the processor that the server is asked for.
  const known = Array.from({ length: Math.min(KNOWN_SESSIONS, sessions) }, (_, index) =>
    talk.session((index * 7_919) % sessions),
  )
  return underLoad(url, pid, load, (client, round) => {
    const at = client * 100_003 + round
    const { session, entries } = known[at % known.length] ?? talk.session(0)
    if (round % 10 === 9)
      return { kind: "ingest", path: "/v1/ingest", body: { events: freshEvents({ session, entries }) } }
    if (round % 2 === 1) {
      const target = entries[at % entries.length]?.message.id
      const read =
        round % 4 === 1 ? { session_id: session.id, session_from: "end" } : { message_id: target, context_depth: 2 }
      return {
        kind: "get",
        path: "/v1/get",
        body: { ...read, ...("message_id" in read ? { session_id_of_message: session.id } : {}) },
      }
    }
    const filters = round % 4 === 0 ? {} : { project: { contains: talk.project(at) } }
    return { kind: "search", path: "/v1/search", body: { query: talk.words(at, 2), filters } }
  })
}

function bareLoad(url: string, pid: number, load: Load): Promise<Measured> {
  return underLoad(url, pid, load, (client, round) => ({
    kind: "bare",
    path: "/v1/search",
    body: { query: `${client} ${round}`, filters: {} },
  }))
}

/** A session of two messages that no run had before. */
function freshEvents({ session, entries }: ReturnType<Talk["session"]>): object[] {
  const id = Bun.randomUUIDv7()
  const own = entries
    .slice(0, 2)
    .flatMap(({ message, parts }) => [
      { kind: "message", ...message, session_id: id },
      ...parts.map((part) => ({ kind: "part", ...part, session_id: id })),
    ])
  return [{ kind: "session", ...session, id }, ...own]
}

async function underLoad(url: string, pid: number, { clients, seconds }: Load, ask: Ask): Promise<Measured> {
  const timesMs = new Map<string, number[]>()
  const failures: string[] = []
  const memoryMb: number[] = []
  const endMs = performance.now() + seconds * 1000
  const sampling = setInterval(() => memoryMb.push(residentMb(pid)), 1000)
  const client = async (number: number) => {
    for (let round = 0; performance.now() < endMs; round++) {
      const { kind, path, body } = ask(number, round)
      const began = performance.now()
      const failure = await failureOf(`${url}${path}`, body)
      const times = timesMs.get(kind) ?? []
      times.push(performance.now() - began)
      timesMs.set(kind, times)
      if (failure !== undefined) failures.push(`${kind}: ${failure}`)
    }
  }
  try {
    await Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  } finally {
    clearInterval(sampling)
  }
  return { timesMs, failures, memoryMb }
}

/** A batch in which a session was rejected failed too, although its answer is 200. */
async function failureOf(url: string, body: object): Promise<string | undefined> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ protocol_version: 1, ...body }),
    })
    const text = await response.text()
    if (!response.ok || text.includes('"status":"rejected"')) return `${response.status} ${text.slice(0, 200)}`
    return undefined
  } catch (error) {
    return String(error)
  }
}

function residentMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]
  return Number(kilobytes ?? 0) / 1000
}

// --- Rows ------------------------------------------------------------------------------------------------------------

function rowsOf(served: Measured, bare: Measured, { seconds, clients }: Load): Row[] {
  for (const failure of new Set(served.failures.slice(0, 10))) console.error(failure)
  const bareTimes = bare.timesMs.get("bare") ?? []
  const beside = `a bare Elysia route: p50 ${quantile(bareTimes, 0.5).toFixed(1)} ms, p99 ${quantile(bareTimes, 0.99).toFixed(1)} ms`
  const rows: Row[] = [
    {
      what: `requests that failed, of ${clients} clients in ${seconds} s`,
      measured: served.failures.length,
      unit: "requests",
      limit: 1,
    },
  ]
  for (const kind of ["search", "get", "ingest"]) {
    const times = served.timesMs.get(kind) ?? []
    rows.push(
      { what: `${kind}: answered`, measured: times.length / seconds, unit: "requests/s" },
      { what: `${kind}: p50`, measured: quantile(times, 0.5), unit: "ms", beside },
      { what: `${kind}: p99`, measured: quantile(times, 0.99), unit: "ms", beside },
    )
  }
  // What a minute is of the whole five, where the run is shorter.
  const settled = Math.min(60, Math.ceil(seconds / 5))
  const early = median(served.memoryMb.slice(settled, settled + Math.max(5, Math.ceil(seconds / 20))))
  const late = median(served.memoryMb.slice(-Math.max(5, Math.ceil(seconds / 20))))
  rows.push({
    what: "memory at the end over that after the first minute",
    measured: late / early,
    unit: "x",
    limit: 1.2,
    beside: `${early.toFixed(0)} MB, ${late.toFixed(0)} MB, at most ${Math.max(...served.memoryMb).toFixed(0)} MB`,
  })
  return rows
}
