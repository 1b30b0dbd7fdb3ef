/**
 * What the codecs cost: parsing beside `JSON.parse` over the same lines in the same process by turns, and writing a session
 * of ten thousand messages. The session is made by each adapter itself, out of one conversation that has the shape of real
 * ones; `--samples DIR` takes the sessions below `DIR/<adapter>` instead, and `--client ID,ID` these clients alone. Of products
 * that nothing is written for, and of clients whose sessions are no JSON, the fixtures are read again and again.
 *
 * What keeps a client below the goals (45 % on logs, 35 % on databases) is work that `JSON.parse` has no part in. An id that is made
 * of what a message says wants its JSON written anew, which takes 1.7 times as long as parsing it, and hashed: of Goose's 18.6 MB
 * `JSON.parse` takes 33 ms, writing 56 and hashing 10, so that no more than a third is to be had while those ids are in stores. The
 * same goes for documents whose messages have no ids (Cline, Continue, Amp). Arguments that stand as JSON inside a text are parsed,
 * and written to see whether they come back to the letter (Hermes, Vibe, OpenHands). SQLite's own reading is counted on neither
 * side. On a machine with other work all shares fall by a quarter: we make more memory than `JSON.parse` does.
 */
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import type {
  Adapter,
  Conversation,
  OutputFile,
  ParseSink,
  RawRecord,
  SourceFile,
  SourceUnit,
} from "../../src/adapters/adapter.ts"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { resolve } from "../../src/adapters/shared/resolve.ts"
import { fromDisk, fromSource } from "../../src/adapters/source-value.ts"
import { type JsonValue, parseJson, stringifyJson } from "../../src/model/json.ts"
import type { Entry, Session, SessionLog } from "../../src/model/session.ts"
import { type Random, seededRandom } from "../../src/platform/host/random.ts"
import { foreignFiles, nativeFiles } from "../../src/restore/output-files.ts"
import { type Bench, median, type Row } from "../lib/measure.ts"

const MESSAGES = 10_000
const ROUNDS = 21
/**
 * Rounds that are not counted: until an engine has compiled what it runs, and a heap the pages that it needs, a round takes up to
 * three times as long, on either side.
 */
const SETTLING_ROUNDS = 20
/** In percent, by client: what each is held to, a tenth less than it reaches. One that is not named only informs. */
const SHARES_MIN: Readonly<Record<string, number>> = {
  "claude-code": 44,
  codex: 35,
  opencode: 43,
  pi: 50,
  kimi: 32,
  cline: 15,
  droid: 42,
  openhands: 40,
  vibe: 38,
  grok: 38,
  openclaw: 44,
  iflow: 40,
  hermes: 24,
  goose: 20,
}
/** In percent: where each should get to. */
const SHARES_AIMED: Readonly<Record<string, number>> = {
  "claude-code": 55,
  codex: 45,
  opencode: 48,
  pi: 60,
  "gemini-cli": 45,
  "qwen-code": 45,
  "copilot-cli": 45,
  kimi: 45,
  droid: 45,
  openhands: 45,
  vibe: 45,
  grok: 45,
  openclaw: 45,
  iflow: 45,
  kilo: 35,
  hermes: 35,
  goose: 35,
}
const SERIALIZE_MS_MAX = 1_000

export const bench: Bench = {
  summary: "the codecs: parsing beside JSON.parse, writing a session of 10,000 messages",
  run: async (args) => {
    const { samples, client } = parseArgs({
      args: [...args],
      options: { samples: { type: "string" }, client: { type: "string" } },
    }).values
    const chosen = client?.split(",")
    const conversation = conversationOf(MESSAGES, seededRandom(1))
    const rows: Row[] = []
    for (const adapter of ADAPTERS.filter(({ id }) => chosen?.includes(id) !== false)) {
      const own = foreignFiles(adapter, conversation, { cwd: "/projects/alpha", reasoning: "keep" }).files
      const written = own.every(({ form }) => form === "text") ? [] : unitsOf(adapter, own)
      const asked = samples === undefined ? written : await sampleUnits(adapter, join(samples, adapter.id))
      if (asked.length > 0) rows.push(parseRow(adapter, asked))
      else rows.push(...(await fixtureRow(adapter)))
      if (written.length > 0) rows.push(...serializeRows(adapter, written, conversation))
    }
    return rows
  },
}

interface Unit {
  readonly unit: SourceUnit
  readonly records: readonly RawRecord[]
  /** What each record is as text. A row of a database is one, too, and reading it is part of the work on both sides. */
  readonly texts: readonly string[]
  /** And as bytes, where `resolve` hashes them: that is part of our work, too. */
  readonly bytes: readonly Uint8Array[]
}

function unitOf(adapter: Adapter, unit: SourceUnit, records: readonly RawRecord[]): Unit {
  const texts = records.map(textOf)
  return { unit, records, texts, bytes: adapter.contentIds ? texts.map((text) => Buffer.from(text)) : [] }
}

// --- Parsing ----------------------------------------------------------------------------------------------------------

function parseRow(adapter: Adapter, units: readonly Unit[], from = "one session"): Row {
  const texts = units.flatMap((each) => each.texts)
  const bytes = texts.reduce((sum, text) => sum + text.length, 0)
  const plain: number[] = []
  const ours: number[] = []
  for (let round = -SETTLING_ROUNDS; round < ROUNDS; round++) {
    // Nothing is kept on either side: a sync hands on what it reads.
    const plainMs = msOf(() => parseTexts(texts))
    const oursMs = msOf(() => parseAway(adapter, units))
    if (round < 0) continue
    plain.push(plainMs)
    ours.push(oursMs)
  }
  const [limit, goal] = [SHARES_MIN[adapter.id], SHARES_AIMED[adapter.id]]
  const speed = (ms: number) => `${Math.round(bytes / 1e3 / ms)} MB/s`
  return {
    what: `${adapter.id}: parse, against JSON.parse of the same lines`,
    measured: Math.round((median(plain) / median(ours)) * 100),
    unit: "%",
    ...(limit === undefined ? {} : { limit }),
    ...(goal === undefined ? {} : { goal }),
    isFloor: true,
    beside: `${speed(median(ours))} beside ${speed(median(plain))}, ${(bytes / 1e6).toFixed(1)} MB of ${from}`,
  }
}

/** So much is read in a round. */
const FIXTURE_BYTES = 500_000

async function fixtureRow(adapter: Adapter): Promise<Row[]> {
  const folder = join(import.meta.dir, "../../fixtures", adapter.id)
  if (!existsSync(folder)) return []
  const units: Unit[] = []
  for (const name of readdirSync(folder)) units.push(...(await sampleUnits(adapter, join(folder, name, "root"))))
  const bytes = units.flatMap(({ texts }) => texts).reduce((sum, text) => sum + text.length, 0)
  const times = Math.max(1, Math.ceil(FIXTURE_BYTES / Math.max(1, bytes)))
  return units.length === 0 ? [] : [parseRow(adapter, Array.from({ length: times }, () => units).flat(), "fixtures")]
}

function textOf(raw: RawRecord): string {
  if (raw.form === "row") return stringifyJson(raw.row)
  return raw.form === "bytes" ? "" : raw.text
}

/** Gives how many are JSON, so that none of it is work for nothing. */
function parseTexts(texts: readonly string[]): number {
  let read = 0
  for (const text of texts) {
    try {
      JSON.parse(text)
      read++
    } catch {
      // What is no JSON is in the samples, too, and costs both sides the same.
    }
  }
  return read
}

function parseAway(adapter: Adapter, units: readonly Unit[]): void {
  const sink: ParseSink = { session: () => undefined, entry: () => undefined, issue: () => undefined }
  for (const each of units) parseInto(adapter, each, sink)
}

function parsed(adapter: Adapter, each: Unit): SessionLog {
  const found: { session?: Session } = {}
  const entries: Entry[] = []
  parseInto(adapter, each, {
    session: (session) => {
      found.session = session
    },
    entry: (entry) => entries.push(entry),
    issue: () => undefined,
  })
  return { session: found.session ?? EMPTY, entries }
}

function parseInto(adapter: Adapter, { unit, records, texts, bytes }: Unit, sink: ParseSink): void {
  const parser = adapter.parse(unit, sink)
  // Not with an iterator: it would make a list for each record, and a sync does not.
  for (let index = 0; index < records.length; index++) {
    const raw = records[index] as RawRecord
    const lineBytes = bytes[index]
    if (raw.form === "row") parser.push({ ...raw, row: fromSource(rowOf(texts[index] ?? "")) })
    else if (raw.form === "log" && lineBytes !== undefined) {
      const { form, file, line, text } = raw
      parser.push({ form, file, line, text, hash: Bun.hash.xxHash64(lineBytes) })
    } else parser.push(raw)
  }
  parser.end(true)
}

function rowOf(text: string): JsonValue {
  const read = parseJson(text)
  return read.ok ? read.value : null
}

// --- Writing ----------------------------------------------------------------------------------------------------------

function serializeRows(adapter: Adapter, units: readonly Unit[], conversation: Conversation): Row[] {
  const logs = units.map((each) => parsed(adapter, each))
  const native = msOf(() => logs.map((log) => nativeFiles(adapter, log)))
  const foreign = msOf(() => foreignFiles(adapter, conversation, { cwd: "/projects/alpha", reasoning: "keep" }))
  const live = msOf(() => logs.map((log) => adapter.context(log, [])))
  const beside = `${MESSAGES} messages`
  return [
    { what: `${adapter.id}: serialize, native`, measured: native, unit: "ms", limit: SERIALIZE_MS_MAX, beside },
    { what: `${adapter.id}: serialize, foreign`, measured: foreign, unit: "ms", limit: SERIALIZE_MS_MAX, beside },
    { what: `${adapter.id}: live conversation`, measured: live, unit: "ms", limit: SERIALIZE_MS_MAX, beside },
  ]
}

/** Time on the processor: another program's work on it is no cost of ours. */
function msOf(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

// --- What is read -----------------------------------------------------------------------------------------------------

async function sampleUnits(adapter: Adapter, root: string): Promise<Unit[]> {
  const units: Unit[] = []
  for await (const unit of adapter.source.plan(root)) {
    if (!("files" in unit)) continue
    const records: RawRecord[] = []
    for await (const batch of resolve(adapter, unit)) records.push(...batch.records)
    units.push(unitOf(adapter, unit, records))
  }
  return units
}

/** What was written, as if it had been read again. */
function unitsOf(adapter: Adapter, files: readonly OutputFile[]): Unit[] {
  // What describes a session comes before what is said in it.
  const inOrder = files.toSorted((left, right) => Number(left.form === "log") - Number(right.form === "log"))
  const main = inOrder.find(({ form }) => form === "log") ?? inOrder[0]
  if (main === undefined) return []
  const records: RawRecord[] = []
  const sources: SourceFile[] = []
  for (const output of inOrder) {
    const file = fromDisk({
      path: output.relativePath,
      relativePath: output.relativePath,
      form: output.form,
      sizeBytes: 1,
      modifiedMs: 1,
      inode: 1,
    })
    sources.push(file)
    if (output.form === "log")
      for (const [index, line] of [...output.lines].entries())
        records.push({ form: "log", file, line: index + 1, text: String(line) })
    if (output.form === "document") records.push({ form: "document", file, line: 1, text: output.text })
    if (output.form === "database")
      for (const [index, { table, row }] of [...output.rows].entries())
        records.push({ form: "row", file, line: index + 1, table, row: fromSource(row) })
  }
  const unit = { key: main.relativePath, root: "/", files: sources, row: { id: SESSION_ID, mark: "" } }
  return [unitOf(adapter, unit, records)]
}

// --- A conversation as long as those of real days -----------------------------------------------------------------------

const SESSION_ID = "0f8fad5b-d9cb-469f-a165-70867728950e"
const EMPTY: Session = {
  ...{ id: SESSION_ID, source_agent: "bench", created_at: "2026-01-01T00:00:00.000Z", project: "/projects/alpha" },
  options: {},
}
const WORDS =
  "the quick brown fox jumps over a lazy dog and reads src/adapters/registry.ts twice, 素早い 🦊 “so” it\n goes".split(
    " ",
  )

/** A prompt, then replies that think, say and call, and results of a few kilobytes: nine parts in ten are tool output. */
export function conversationOf(messages: number, random: Random): Conversation {
  const entries: Entry[] = []
  while (entries.length < messages) {
    const ordinal = entries.length
    if (ordinal % 20 === 0) add(entries, "user", [{ type: "text", text: prose(60, random) }])
    const call = { type: "tool_call", call_id: `call_${ordinal}`, name: "bash", provider_executed: false }
    add(entries, "assistant", [
      { type: "reasoning", text: prose(40, random) },
      { type: "text", text: prose(30, random) },
      { ...call, params: { command: prose(12, random) } },
    ])
    add(entries, "tool", [
      { type: "tool_result", call_id: `call_${ordinal}`, is_failure: false, result: prose(400, random) },
    ])
  }
  return { session: EMPTY, entries: entries.slice(0, messages), children: [] }
}

function add(entries: Entry[], role: "user" | "assistant" | "tool", bodies: readonly object[]): void {
  const ordinal = entries.length
  const id = `m${ordinal}`
  const timestamp = new Date(Date.UTC(2026, 0, 1) + ordinal * 1_000).toISOString()
  const provenance = role === "tool" ? "injected" : "conversational"
  const parts = bodies.map((body, index) => ({
    ...{ id: `${id}:${index}`, session_id: SESSION_ID, message_id: id, provenance, options: {} },
    ...body,
  }))
  const message = { id, session_id: SESSION_ID, ordinal, timestamp, role, options: { pond: { model: "model-1" } } }
  entries.push({ message, parts } as unknown as Entry)
}

function prose(words: number, random: Random): string {
  let text = ""
  for (let word = 0; word < words; word++) text += `${WORDS[Math.floor(random.next() * WORDS.length)]} `
  return text
}
