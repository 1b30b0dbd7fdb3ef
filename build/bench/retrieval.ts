/**
 * How well search ranks. Labelled sets are ingested as messages, every query goes through the search operation, and the
 * judge scores the rankings: `RETRIEVAL_DATA` names the folder of the sets, `RETRIEVAL_JUDGE` the script that scores
 * `<runs>/<set>.json`. Both are measured, and neither is part of this repository. `--sets a,b` limits the sets;
 * `--model DIR` names the directory of an embedding model (`--name NAME` what it is, or else the directory's name does),
 * to rank by meaning too. `--stores DIR` keeps the stores, so that the next run asks them without embedding again.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { parseArgs } from "node:util"
import { type Embedder, openEmbedder } from "../../src/embeddings/embedder.ts"
import type { Entry } from "../../src/model/session.ts"
import { microsOfText, textOfMicros } from "../../src/model/timestamp.ts"
import { perform } from "../../src/operations/operation.ts"
import type { Pond } from "../../src/operations/pond.ts"
import { search } from "../../src/operations/wire/search.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { silentLog } from "../../src/platform/host/log.ts"
import { systemRandom } from "../../src/platform/host/random.ts"
import { embedMissing } from "../../src/search/embed-missing.ts"
import { openSessions, type Sessions } from "../../src/sessions/store.ts"
import { parseLocation } from "../../src/substrate/location.ts"
import { openStore } from "../../src/substrate/open-store.ts"
import { type Bench, quantile, type Row } from "../lib/measure.ts"
import { BuildFailure } from "../release/targets.ts"

const LIMITS: Readonly<Record<string, number>> = { locomo: 50, xquad: 94.5, known: 93, short: 92, issues: 71 }

interface Document {
  readonly id: string
  readonly session_id: string
  readonly role: string
  readonly timestamp?: string
  readonly text: string
}

interface Query {
  readonly id: string
  readonly text: string
}

export const bench: Bench = {
  summary: "how well search ranks labelled sets, by words alone or with an embedding model",
  run: async (args) => {
    const data = process.env["RETRIEVAL_DATA"]
    if (data === undefined || !existsSync(data))
      throw new BuildFailure("RETRIEVAL_DATA names no folder of labelled sets.")
    const { values } = parseArgs({
      args: [...args],
      options: {
        sets: { type: "string", default: Object.keys(LIMITS).join(",") },
        model: { type: "string" },
        name: { type: "string" },
        stores: { type: "string" },
      },
    })
    const { model, stores } = values
    const embedder = model === undefined ? undefined : await openEmbedder(values.name ?? basename(model), model)
    const runs = mkdtempSync(join(tmpdir(), "pond-retrieval-"))
    const rows: Row[] = []
    const sets = values.sets.split(",")
    for (const set of sets) rows.push(...(await judgeSet(join(data, set), { set, runs, embedder, stores })))
    const judge = process.env["RETRIEVAL_JUDGE"]
    if (judge !== undefined) {
      const scored = Bun.spawnSync([process.execPath, judge, runs, ...sets], {
        stdout: "inherit",
        stderr: "inherit",
        env: process.env,
      })
      if (scored.exitCode !== 0) throw new Error("the judge failed")
    }
    rmSync(runs, { recursive: true, force: true })
    const mean = rows.filter(({ unit, limit }) => unit === "nDCG@10" && limit !== undefined)
    return [
      ...rows,
      {
        what: "mean of the sets",
        measured: mean.reduce((sum, row) => sum + row.measured, 0) / mean.length,
        unit: "nDCG@10",
        limit: 80,
        isFloor: true,
      },
    ]
  },
}

interface Judging {
  readonly set: string
  readonly runs: string
  readonly embedder: Embedder | undefined
  readonly stores: string | undefined
}

async function judgeSet(folder: string, { set, runs, embedder, stores }: Judging): Promise<Row[]> {
  const place =
    stores === undefined
      ? mkdtempSync(join(tmpdir(), "pond-retrieval-store-"))
      : join(stores, embedder?.model ?? "words", set)
  const isKept = existsSync(join(place, "store"))
  const sessions = openSessions(
    openStore(parseLocation(join(place, "store"), { environment: {} }), {
      log: silentLog,
      clock: systemClock,
      random: systemRandom,
    }),
    { clock: systemClock, host: "bench", lifetime: "server" },
  )
  try {
    const documents = linesOf<Document>(join(folder, "corpus.jsonl"))
    const made = isKept ? [] : await makeStore(sessions, documents, embedder)
    const { run, times, cpuMs } = await ask(sessions, embedder, linesOf<Query>(join(folder, "queries.jsonl")))
    mkdirSync(runs, { recursive: true })
    writeFileSync(join(runs, `${set}.json`), JSON.stringify(run))
    const textBytes = documents.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
    return [
      {
        what: `${set}: ranking`,
        measured: ndcg(run, join(folder, "qrels.tsv")),
        unit: "nDCG@10",
        limit: LIMITS[set] ?? 0,
        isFloor: true,
      },
      { what: `${set}: search p50`, measured: quantile(times, 0.5), unit: "ms" },
      { what: `${set}: search p99`, measured: quantile(times, 0.99), unit: "ms" },
      { what: `${set}: search, processor`, measured: cpuMs / times.length, unit: "ms" },
      ...made.map(({ what, ...row }) => ({ what: `${set}: ${what}`, ...row })),
      { what: `${set}: indexes of text`, measured: indexBytes(join(place, "store")) / textBytes, unit: "x" },
    ]
  } finally {
    sessions.close()
    if (stores === undefined) rmSync(place, { recursive: true, force: true })
  }
}

async function makeStore(
  sessions: Sessions,
  documents: readonly Document[],
  embedder: Embedder | undefined,
): Promise<Row[]> {
  const startedMs = performance.now()
  await ingest(sessions, documents)
  const ingestedMs = performance.now()
  await sessions.maintain("all")
  const indexedMs = performance.now()
  if (embedder !== undefined) await embedMissing(sessions, embedder, { clock: systemClock, signal })
  const embeddedMs = performance.now()
  return [
    { what: `ingest of ${documents.length}`, measured: ingestedMs - startedMs, unit: "ms" },
    { what: "maintenance", measured: indexedMs - ingestedMs, unit: "ms" },
    ...(embedder === undefined ? [] : [{ what: "embedding", measured: (embeddedMs - indexedMs) / 1000, unit: "s" }]),
  ]
}

const ROLES = new Set(["user", "assistant"])

/** Who speaks in a talk among people is part of what was said: a message has no other place for a name. */
/** A document's id is its message's, which is what the labels name. */
async function ingest(sessions: Sessions, documents: readonly Document[]): Promise<void> {
  const bySession = Map.groupBy(documents, ({ session_id }) => session_id)
  const batches = [...bySession].map(([id, all]) => ({
    session: { id, source_agent: "bench", created_at: "2026-01-01T00:00:00.000Z", project: "/bench", options: {} },
    entries: all.map((document, ordinal) => entryOf(document, ordinal)),
  }))
  await sessions.write(batches)
}

function entryOf({ id, session_id, role, timestamp, text }: Document, ordinal: number): Entry {
  const micros = microsOfText((timestamp ?? "").replace(" ", "T"))
  const moment = textOfMicros(micros ?? 1_700_000_000_000_000n)
  const part = { id: "t", session_id, message_id: id, provenance: "conversational", options: {}, type: "text" }
  return {
    message: {
      id,
      session_id,
      ordinal,
      timestamp: moment,
      options: {},
      role: role === "assistant" ? "assistant" : "user",
    },
    parts: [{ ...part, text: ROLES.has(role) ? text : `${role}: ${text}` }],
  } as Entry
}

const { signal } = new AbortController()

async function ask(
  sessions: Sessions,
  embedder: Embedder | undefined,
  queries: readonly Query[],
): Promise<{ readonly run: Record<string, string[]>; readonly times: number[]; readonly cpuMs: number }> {
  const pond = {
    host: { clock: systemClock },
    sessions: () => Promise.resolve(sessions),
    embedder: () => Promise.resolve(embedder),
  } as unknown as Pond
  const run: Record<string, string[]> = {}
  const times: number[] = []
  const cpu = process.cpuUsage()
  for (const { id, text } of queries) {
    const startedMs = performance.now()
    const answer = await perform(search, { pond, signal }, { query: text, group: "none", limit: 100 })
    times.push(performance.now() - startedMs)
    run[id] = (answer.matches ?? []).map(({ message_id }) => message_id)
  }
  const { user, system } = process.cpuUsage(cpu)
  return { run, times, cpuMs: (user + system) / 1000 }
}

function ndcg(run: Readonly<Record<string, readonly string[]>>, labels: string): number {
  const wanted = new Map<string, Set<string>>()
  for (const line of readFileSync(labels, "utf8").split("\n").filter(Boolean)) {
    const [query = "", document = ""] = line.split("\t")
    wanted.set(query, (wanted.get(query) ?? new Set()).add(document))
  }
  const scores = Object.entries(run).map(([query, ranking]) => {
    const own = wanted.get(query) ?? new Set()
    const gain = ranking.slice(0, 10).reduce((sum, id, index) => sum + (own.has(id) ? 1 / Math.log2(index + 2) : 0), 0)
    const ideal = Array.from({ length: Math.min(10, own.size) }, (_, index) => 1 / Math.log2(index + 2)).reduce(
      (sum, one) => sum + one,
      0,
    )
    return ideal === 0 ? 0 : gain / ideal
  })
  return (100 * scores.reduce((sum, score) => sum + score, 0)) / Math.max(1, scores.length)
}

function indexBytes(store: string): number {
  return readdirSync(store, { recursive: true, encoding: "utf8" })
    .filter((name) => /^word_\w+\.lance\/data\//.test(name))
    .reduce((sum, name) => sum + statSync(join(store, name)).size, 0)
}

function linesOf<T>(path: string): T[] {
  return readFileSync(path, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T)
}
