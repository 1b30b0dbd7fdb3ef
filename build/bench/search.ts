/**
 * What search costs over a large store: the index beside its text, building and folding it, and the time of queries of
 * every kind with and without filters, beside SQLite's full text (words and trigrams) over the same text in the same run.
 * `--messages N` says how large (100,000), `--store DIR` keeps the store and goes on with one that is there,
 * `--only store` fills it and stops, `--without sqlite` leaves the rival out.
 */
import { Database } from "bun:sqlite"
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { perform } from "../../src/operations/operation.ts"
import type { Pond } from "../../src/operations/pond.ts"
import { search } from "../../src/operations/wire/search.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import { batchesOf, createTalk, type Talk } from "../corpus/talk.ts"
import { fillWithTalk, openTalkStore } from "../corpus/talk-store.ts"
import { type Bench, median, quantile, type Row } from "../lib/measure.ts"
import { pondCommand, pondForm } from "../lib/timed-run.ts"

const QUERIES = 200

export const bench: Bench = {
  summary: "search over a large store: index size, build, fold, latency by kind, memory, beside SQLite",
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        messages: { type: "string", default: "100000" },
        store: { type: "string" },
        only: { type: "string" },
        without: { type: "string" },
      },
    })
    const folder = values.store ?? mkdtempSync(join(tmpdir(), "pond-bench-search-"))
    const talk = createTalk(7)
    const sessions = openTalkStore(folder)
    try {
      await fillWithTalk(sessions, talk, Number(values.messages))
      if (values.only === "store") return []
      return await measured(folder, sessions, talk, values.without !== "sqlite")
    } finally {
      sessions.close()
      if (values.store === undefined) rmSync(folder, { recursive: true, force: true })
    }
  },
}

async function measured(folder: string, sessions: Sessions, talk: Talk, besideSqlite: boolean): Promise<Row[]> {
  const startedMs = performance.now()
  const reports = await sessions.maintain("due")
  const own = reports.find(({ table }) => table === "words")?.steps ?? []
  const builtMs = own.reduce((sum, { ms }) => sum + ms, 0)
  console.error(`indexed in ${Math.round(performance.now() - startedMs)} ms`)
  const count = await sessions.tables.messages.count()
  const rival = besideSqlite ? await sqliteOf(sessions) : undefined
  const textBytes = rival?.textBytes ?? (await bytesOfText(sessions))
  const indexBytes = bytesOfIndex(join(folder, "store"))
  const peak = () => process.memoryUsage.rss() / 1e6
  const rows: Row[] = [
    { what: "messages", measured: count, unit: "messages" },
    { what: "their text", measured: textBytes / 1e6, unit: "MB" },
    {
      what: "indexes of the text",
      measured: indexBytes / textBytes,
      unit: "x",
      limit: 1,
      beside:
        rival && `SQLite: words ${ratio(rival.wordBytes, textBytes)}, trigrams ${ratio(rival.trigramBytes, textBytes)}`,
    } as Row,
    ...(builtMs > 0
      ? [{ what: "index of words built or folded", measured: builtMs / 1000, unit: "s", beside: rival?.built } as Row]
      : []),
  ]
  // First, while this process holds little: beside half a gigabyte of it the same commands took a third longer.
  rows.push(...(await processes(folder, talk)))
  for (const kind of KINDS) rows.push(await asked(sessions, talk, kind, rival))
  rows.push(await mixed(sessions, talk))
  rows.push(...(await folded(sessions, talk)))
  rows.push({ what: "memory of this process", measured: peak(), unit: "MB", limit: besideSqlite ? 2_000 : 600 })
  rival?.close()
  return rows
}

function ratio(bytes: number, of: number): string {
  return `${(bytes / of).toFixed(2)} x`
}

/** Of the tables that the index of words lies in. */
function bytesOfIndex(store: string): number {
  return readdirSync(store, { recursive: true, encoding: "utf8" })
    .filter((name) => /^word_\w+\.lance\/data\//.test(name))
    .reduce((sum, name) => sum + statSync(join(store, name)).size, 0)
}

async function bytesOfText(sessions: Sessions): Promise<number> {
  let bytes = 0
  for await (const rows of sessions.tables.messages.batches({ columns: ["search_text"] }))
    for (const { search_text } of rows) bytes += search_text === null ? 0 : Buffer.byteLength(search_text)
  return bytes
}

// --- Queries ----------------------------------------------------------------------------------------------------------

interface Kind {
  readonly name: string
  readonly limitMs?: { readonly p50: number; readonly p99?: number }
  readonly input: (talk: Talk, at: number) => Record<string, unknown>
  /** What SQLite is asked instead, and of which of its tables. */
  readonly rival?: "words" | "trigrams"
}

const KINDS: readonly Kind[] = [
  { name: "one word", rival: "words", input: (talk, at) => ({ query: talk.word(at) }) },
  { name: "a few words", rival: "words", input: (talk, at) => ({ query: talk.words(at, 3) }) },
  { name: "a question", rival: "words", input: (talk, at) => ({ query: talk.words(at, 9) }) },
  { name: "an identifier", rival: "trigrams", input: (talk, at) => ({ query: talk.identifier(at) }) },
  {
    name: "words in a project",
    input: (talk, at) => ({ query: talk.words(at, 3), filters: { project: { contains: talk.project(at) } } }),
  },
  {
    name: "words of a month and a role",
    input: (talk, at) => ({ query: talk.words(at, 3), filters: { ...talk.month(at), role: "assistant" } }),
  },
  {
    name: "to the letter",
    limitMs: { p50: 50 },
    rival: "trigrams",
    input: (talk, at) => ({ query: talk.phrase(at), mode: "exact" }),
  },
  { name: "by pattern", input: (talk, at) => ({ query: `${talk.word(at)} \\w+`, mode: "pattern" }) },
  {
    name: "tool output, all of it",
    limitMs: { p50: 2_000 },
    input: () => ({ query: "zqxjkvb", mode: "exact", scope: "tools" }),
  },
]

async function asked(sessions: Sessions, talk: Talk, kind: Kind, rival: Rival | undefined): Promise<Row> {
  const rounds = kind.limitMs?.p50 === 2_000 ? 5 : QUERIES / 4
  const times = await timed(
    sessions,
    Array.from({ length: rounds }, (_, at) => kind.input(talk, at)),
  )
  const beside =
    kind.rival === undefined
      ? undefined
      : rival?.asked(
          kind.rival,
          Array.from({ length: rounds }, (_, at) => String(kind.input(talk, at)["query"])),
        )
  return {
    what: `${kind.name}: p50 (p99 ${quantile(times, 0.99).toFixed(1)} ms)`,
    measured: quantile(times, 0.5),
    unit: "ms",
    ...(kind.limitMs === undefined ? {} : { limit: kind.limitMs.p50 }),
    ...(beside === undefined ? {} : { beside }),
  }
}

/** What people ask: mostly words, often within a project, sometimes to the letter. */
async function mixed(sessions: Sessions, talk: Talk): Promise<Row> {
  const log = Array.from({ length: QUERIES }, (_, at) =>
    (KINDS[MIX[at % MIX.length] ?? 0] as Kind).input(talk, at + 1_000),
  )
  const times = await timed(sessions, log)
  return {
    what: `mixed log of ${QUERIES}: p50 (p99 ${quantile(times, 0.99).toFixed(1)} ms, to be under 50)`,
    measured: quantile(times, 0.5),
    unit: "ms",
    limit: 10,
  }
}

const MIX = [0, 1, 4, 2, 1, 5, 3, 1, 4, 0]

async function timed(sessions: Sessions, inputs: readonly Record<string, unknown>[]): Promise<number[]> {
  const pond = {
    host: { clock: systemClock },
    sessions: () => Promise.resolve(sessions),
    embedder: () => Promise.resolve(undefined),
  } as unknown as Pond
  const { signal } = new AbortController()
  for (const input of inputs.slice(0, 5)) await perform(search, { pond, signal }, input)
  const times: number[] = []
  for (const input of inputs) {
    const startedMs = performance.now()
    await perform(search, { pond, signal }, input)
    times.push(performance.now() - startedMs)
  }
  return times
}

const PROCESSES = [
  { what: "", query: (talk: Talk, at: number) => talk.words(at, 2) },
  { what: " for words that nobody wrote", query: (_: Talk, at: number) => `zqxjk${at}vwy qqzzxx${at}j` },
]

/** From nothing to the answer, as a shell sees it. */
async function processes(folder: string, talk: Talk): Promise<Row[]> {
  const rows: Row[] = []
  for (const { what, query } of PROCESSES) {
    const times: number[] = []
    for (let at = 0; at < 7; at++) {
      const child = Bun.spawn([...pondCommand(), "search", query(talk, at), "--json"], {
        env: { ...process.env, POND_STORE: join(folder, "store"), POND_CONFIG: "/dev/null" },
        stdout: "ignore",
        stderr: "ignore",
      })
      if ((await child.exited) !== 0) throw new Error("pond search failed")
      times.push(Number(child.resourceUsage()?.cpuTime.total ?? Number.NaN) / 1_000)
    }
    rows.push({
      what: `pond search as a process${what}`,
      measured: median(times),
      unit: "ms of processor time",
      limit: 400,
      goal: 80,
      beside: pondForm(),
    })
  }
  return rows
}

/** The store is left as it was but for these sessions. */
async function folded(sessions: Sessions, talk: Talk): Promise<Row[]> {
  const from = await sessions.tables.sessions.count()
  await sessions.write(batchesOf(talk, from, from + Math.ceil(5_000 / talk.messagesPerSession)))
  const [fresh] = await Promise.all([
    timed(
      sessions,
      Array.from({ length: 20 }, (_, at) => ({ query: talk.words(at, 3) })),
    ),
  ])
  const before = process.cpuUsage()
  await sessions.maintain("due")
  const { user, system } = process.cpuUsage(before)
  return [
    { what: "words, while 5,000 rows are not in the index: p50", measured: median(fresh), unit: "ms" },
    { what: "fold of 5,000 rows", measured: (user + system) / 1e6, unit: "s of processor time", limit: 4, goal: 1 },
  ]
}

// --- SQLite -----------------------------------------------------------------------------------------------------------

interface Rival {
  readonly textBytes: number
  readonly wordBytes: number
  readonly trigramBytes: number
  readonly built: string
  asked(table: "words" | "trigrams", queries: readonly string[]): string
  close(): void
}

async function sqliteOf(sessions: Sessions): Promise<Rival> {
  const folder = mkdtempSync(join(tmpdir(), "pond-bench-sqlite-"))
  const path = join(folder, "text.db")
  const db = new Database(path)
  db.run("pragma journal_mode = off")
  db.run("create table text (id integer primary key, content text)")
  let textBytes = 0
  const insert = db.prepare("insert into text (content) values (?)")
  for await (const rows of sessions.tables.messages.batches({ columns: ["search_text"] })) {
    db.run("begin")
    for (const { search_text } of rows) {
      if (search_text === null) continue
      textBytes += Buffer.byteLength(search_text)
      insert.run(search_text)
    }
    db.run("commit")
  }
  const build = (name: string, tokenizer: string) => {
    const before = statSync(path).size
    const startedMs = performance.now()
    db.run(
      `create virtual table ${name} using fts5(content, content='text', content_rowid='id', tokenize='${tokenizer}')`,
    )
    db.run(`insert into ${name}(${name}) values ('rebuild')`)
    return { bytes: statSync(path).size - before, seconds: (performance.now() - startedMs) / 1000 }
  }
  const words = build("words", "unicode61")
  const trigrams = build("trigrams", "trigram")
  return {
    textBytes,
    wordBytes: words.bytes,
    trigramBytes: trigrams.bytes,
    built: `SQLite: words ${words.seconds.toFixed(1)} s, trigrams ${trigrams.seconds.toFixed(1)} s`,
    asked: (table, queries) => {
      const select = db.prepare(
        `select rowid, bm25(${table}) from ${table} where ${table} match ? order by rank limit 100`,
      )
      const quoted = (query: string) =>
        table === "trigrams"
          ? `"${query}"`
          : query
              .split(" ")
              .map((word) => `"${word}"`)
              .join(" OR ")
      const times = queries.map((query) => {
        const startedMs = performance.now()
        select.all(quoted(query))
        return performance.now() - startedMs
      })
      return `SQLite ${table}: p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms`
    },
    close: () => {
      db.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
