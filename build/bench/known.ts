/**
 * Known items: scripted sessions (`build/corpus/known-items.ts`) and real ones (`build/corpus/real-items.ts`), hidden
 * among the messages of the labelled sets that `RETRIEVAL_DATA` names. Each is asked for in five ways; what counts is
 * the place of the right session. Beside SQLite's full text (porter stems) and a grep for the longest words, over the
 * same texts in the same run. `--hidden 2000,20000` says among how many messages, one store after the other;
 * `--model DIR` asks with an embedding model too (`--name NAME` what it is), and `--stores DIR` keeps the stores, so that
 * the next run asks them without embedding again. `--list` names each question whose session is not first.
 */
import { Database } from "bun:sqlite"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { parseArgs } from "node:util"
import { type Embedder, openEmbedder } from "../../src/embeddings/embedder.ts"
import type { Entry } from "../../src/model/session.ts"
import { perform } from "../../src/operations/operation.ts"
import type { Pond } from "../../src/operations/pond.ts"
import { search } from "../../src/operations/wire/search.ts"
import { systemClock } from "../../src/platform/host/clock.ts"
import { embedMissing } from "../../src/search/embed-missing.ts"
import type { Sessions } from "../../src/sessions/store.ts"
import { KNOWN_ITEMS, QUESTION_KINDS, type QuestionKind } from "../corpus/known-items.ts"
import { REAL_ITEMS } from "../corpus/real-items.ts"
import { openTalkStore, storeFolder } from "../corpus/talk-store.ts"
import { type Bench, quantile, type Row } from "../lib/measure.ts"
import { BuildFailure } from "../release/targets.ts"

interface Message {
  readonly session: string
  readonly project: string
  readonly text: string
}

const { signal } = new AbortController()
const FIVE = 5

export const bench: Bench = {
  summary: "known items: is the right session first, or in five, beside SQLite and grep",
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: {
        hidden: { type: "string", default: "20000" },
        model: { type: "string" },
        name: { type: "string" },
        stores: { type: "string" },
        list: { type: "boolean", default: false },
      },
    })
    const { model, stores, list } = values
    const embedder = model === undefined ? undefined : await openEmbedder(values.name ?? basename(model), model)
    const rows: Row[] = []
    for (const hidden of values.hidden.split(","))
      rows.push(...(await measureAmong(Number(hidden), { embedder, stores, list })))
    await embedder?.close()
    return rows
  },
}

interface Asking {
  readonly embedder: Embedder | undefined
  readonly stores: string | undefined
  /** Name the questions whose session is not first. */
  readonly list: boolean
}

/** All items in a store of about so many messages. */
async function measureAmong(hidden: number, { embedder, stores, list }: Asking): Promise<Row[]> {
  const messages = [...scripted(), ...others(hidden)]
  const folder =
    stores === undefined
      ? mkdtempSync(join(tmpdir(), "pond-bench-known-"))
      : join(stores, embedder?.model ?? "words", String(hidden))
  const isKept = existsSync(storeFolder(folder))
  const sessions = openTalkStore(folder)
  try {
    if (!isKept) await store(sessions, messages)
    if (embedder !== undefined) await embedMissing(sessions, embedder, { clock: systemClock, signal })
    const rows = await measured(sessions, { embedder, list }, messages)
    return rows.map((row) => ({ ...row, what: `${hidden}: ${row.what}` }))
  } finally {
    sessions.close()
    if (stores === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

export function scripted(): Message[] {
  return KNOWN_ITEMS.flatMap(({ id, project, said }) => said.map((text) => ({ session: id, project, text })))
}

export function others(count: number): Message[] {
  const data = process.env["RETRIEVAL_DATA"]
  if (data === undefined || !existsSync(data))
    throw new BuildFailure("RETRIEVAL_DATA names no folder of labelled sets.")
  const sets = readdirSync(data).filter((name) => existsSync(join(data, name, "corpus.jsonl")))
  const found = sets.flatMap((set) =>
    readFileSync(join(data, set, "corpus.jsonl"), "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as { readonly session_id: string; readonly text: string })
      .map(({ session_id, text }) => ({ session: `${set}/${session_id}`, project: `/home/dev/${set}`, text })),
  )
  const asked = new Set(REAL_ITEMS.map(({ id }) => id))
  const rest = found.filter(({ session }) => !asked.has(session))
  // Evenly over all sets, so that a small store has as many kinds of text as a large one.
  const step = Math.max(1, rest.length / Math.max(1, count))
  const hiding = Array.from({ length: Math.min(count, rest.length) }, (_, at) => rest[Math.floor(at * step)] as Message)
  return [...found.filter(({ session }) => asked.has(session)), ...hiding]
}

export async function store(sessions: Sessions, messages: readonly Message[]): Promise<void> {
  const bySession = Map.groupBy(messages, ({ session }) => session)
  await sessions.write(
    [...bySession].map(([id, own]) => ({
      session: { id, source_agent: "bench", created_at: MOMENT, project: own[0]?.project ?? "/", options: {} },
      entries: own.map(({ text }, ordinal) => entryOf(id, ordinal, text)),
    })),
  )
  await sessions.maintain("all")
}

const MOMENT = "2026-01-01T00:00:00.000Z"

function entryOf(sessionId: string, ordinal: number, text: string): Entry {
  const id = `${sessionId}/${ordinal}`
  const part = {
    id: "t",
    session_id: sessionId,
    message_id: id,
    provenance: "conversational",
    options: {},
    type: "text",
  }
  const role = ordinal % 2 === 0 ? "user" : "assistant"
  return {
    message: { id, session_id: sessionId, ordinal, timestamp: MOMENT, options: {}, role },
    parts: [{ ...part, text }],
  } as Entry
}

// --- Asking -------------------------------------------------------------------------------------------------------------

/** The second is the directory that the question is asked from. */
type Asker = (question: string, near?: string) => Promise<readonly string[]> | readonly string[]

interface Places {
  readonly first: number
  readonly inFive: number
  readonly of: number
}

async function measured(
  sessions: Sessions,
  { embedder, list }: Pick<Asking, "embedder" | "list">,
  messages: readonly Message[],
): Promise<Row[]> {
  const times: number[] = []
  const pond = askPond(sessions, embedder, times)
  const rivals: readonly (readonly [name: string, ask: Asker])[] = [
    ["FTS5", askSqlite(messages)],
    ["grep", askGrep(messages)],
  ]
  const rows: Row[] = [{ what: "messages", measured: messages.length, unit: "messages" }]
  const all: Places[] = []
  for (const kind of QUESTION_KINDS) {
    const found = await judge(pond, kind, { list })
    all.push(found)
    const beside: string[] = []
    for (const [name, ask] of rivals) beside.push(placesText(name, await judge(ask, kind)))
    rows.push({
      what: `${kind}: first`,
      measured: percent(found.first, found.of),
      unit: "%",
      beside: beside.join(", "),
    })
    rows.push({ what: `${kind}: in five`, measured: percent(found.inFive, found.of), unit: "%" })
  }
  const own = (project: string) => project
  const other = (project: string) => (project === REAL_PROJECT ? "/home/dev/work/auth" : REAL_PROJECT)
  return [
    ...rows,
    ...totals("all", all),
    ...totals("all, asked from their own project", await judgeAll(askPond(sessions, embedder, []), own)),
    ...totals("all, asked from another project", await judgeAll(askPond(sessions, embedder, []), other)),
    { what: "search p50", measured: quantile(times, 0.5), unit: "ms" },
    { what: "search p99", measured: quantile(times, 0.99), unit: "ms" },
  ]
}

/** One question after the other, as people ask. */
async function judgeAll(ask: Asker, from: (project: string) => string): Promise<Places[]> {
  const found: Places[] = []
  for (const kind of QUESTION_KINDS) found.push(await judge(ask, kind, { from }))
  return found
}

function totals(what: string, all: readonly Places[]): Row[] {
  const sum = (pick: (places: Places) => number) => all.reduce((total, places) => total + pick(places), 0)
  const of = sum((places) => places.of)
  return [
    {
      what: `${what}: first`,
      measured: percent(
        sum((places) => places.first),
        of,
      ),
      unit: "%",
    },
    {
      what: `${what}: in five`,
      measured: percent(
        sum((places) => places.inFive),
        of,
      ),
      unit: "%",
    },
  ]
}

function percent(count: number, of: number): number {
  return (100 * count) / Math.max(1, of)
}

function placesText(name: string, { first, inFive, of }: Places): string {
  return `${name} ${percent(first, of).toFixed(0)} % first, ${percent(inFive, of).toFixed(0)} % in five`
}

const REAL_PROJECT = "/home/dev/known"
const ITEMS = [...KNOWN_ITEMS, ...REAL_ITEMS.map((item) => ({ ...item, project: REAL_PROJECT }))]

interface Judging {
  /** The directory that a question about a project is asked from. */
  readonly from?: (project: string) => string
  readonly list?: boolean
}

async function judge(ask: Asker, kind: QuestionKind, { from, list = false }: Judging = {}): Promise<Places> {
  let [first, inFive] = [0, 0]
  for (const { id, project, questions } of ITEMS) {
    const found = await ask(questions[kind], from?.(project))
    const place = found.indexOf(id)
    if (list && place !== 0)
      console.error(`${kind}: ${JSON.stringify(questions[kind])}: ${id} is ${place + 1} of ${found.join(" ")}`)
    if (place === 0) first += 1
    if (place >= 0 && place < FIVE) inFive += 1
  }
  return { first, inFive, of: ITEMS.length }
}

function askPond(sessions: Sessions, embedder: Embedder | undefined, times: number[]): Asker {
  const pond = {
    host: { clock: systemClock },
    sessions: () => Promise.resolve(sessions),
    embedder: () => Promise.resolve(embedder),
  } as unknown as Pond
  return async (question, near) => {
    const startedMs = performance.now()
    const answer = await perform(
      search,
      { pond, signal },
      {
        query: question,
        limit: FIVE,
        ...(near === undefined ? {} : { near }),
      },
    )
    times.push(performance.now() - startedMs)
    return (answer.sessions ?? []).map(({ session_id }) => session_id)
  }
}

const ROWS_MAX = 200

function askSqlite(messages: readonly Message[]): Asker {
  const db = new Database(":memory:")
  db.run("CREATE VIRTUAL TABLE said USING fts5(session UNINDEXED, text, tokenize = 'porter unicode61')")
  const insert = db.prepare("INSERT INTO said VALUES (?, ?)")
  db.transaction(() => {
    for (const { session, text } of messages) insert.run(session, text)
  })()
  const select = db.prepare(`SELECT session FROM said WHERE said MATCH ? ORDER BY rank LIMIT ${ROWS_MAX}`)
  return (question) => {
    const words = wordsOf(question)
    if (words.length === 0) return []
    const rows = select.all(words.map((word) => `"${word}"`).join(" OR ")) as { readonly session: string }[]
    return [...new Set(rows.map(({ session }) => session))]
  }
}

/** What somebody does who has only the logs: looks for the three longest words, and takes who has most of them. */
function askGrep(messages: readonly Message[]): Asker {
  const texts = messages.map(({ session, text }) => ({ session, text: text.toLowerCase() }))
  return (question) => {
    const words = wordsOf(question)
      .toSorted((left, right) => right.length - left.length)
      .slice(0, 3)
    const counts = new Map<string, number>()
    for (const { session, text } of texts) {
      const found = words.filter((word) => text.includes(word)).length
      if (found > 0) counts.set(session, Math.max(found, counts.get(session) ?? 0))
    }
    return [...counts].toSorted((left, right) => right[1] - left[1]).map(([session]) => session)
  }
}

function wordsOf(question: string): string[] {
  return [...new Set(question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])]
}
