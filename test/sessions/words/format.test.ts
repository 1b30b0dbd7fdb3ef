/**
 * Holds `src/sessions/words/FORMAT.md` to the bytes of a real store. The reader in `format-reader.ts` follows the tables of that
 * page and uses nothing of pond; only the store itself is made with pond.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { connect } from "@lancedb/lancedb"
import { said, session, type TestSessions, testSessions } from "../support.ts"
import {
  ATTRIBUTES,
  BM25,
  byUnits,
  COLUMNS,
  decompress,
  fold,
  LIMITS,
  numbersOf,
  PAGE,
  type Row,
  readIndex,
  readTable,
  runsOf,
  type Segment,
  splitWord,
  termsOf,
  termsOfMessages,
  textArray,
} from "./format-reader.ts"

// --- A store ----------------------------------------------------------------------------------------------------------

const PHRASES = [
  "the HTTPServer answers getUserById in snake_case_names and camelCaseOfManyParts_and_v2",
  "Straße ΟΔΟΣ café naïve İstanbul ﬁnance ＦＵＬＬ ﷺ مـدرسة שָׁלוֹם",
  "数据库 接続する 데이터베이스 ภาษาไทย 🚀🎉 ひらがなカタカナ",
  "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 and 7-digit 9fceb02 at 10:36 in src/login.ts:42",
  'use c++ or c# not c#x, run ls -la --all (-z) "-q" a\\b user@host.example 2026-01-31 __init__ _ ._x',
  "हिन्दी भाषा ৰ १२३ ①② x² K8s utf8 é\u0301 a\u0301b ꙮ",
  `key ${"Ab3".repeat(40)} ${"f".repeat(70)} ${"word_".repeat(20)} ${"x".repeat(5_000)}`,
  "a𐐨𐐩𐐪𐐫 𐐀𐐁b half \ud83d end \u{10FFFE} odd\udc00ly",
  "pond://text/ is how a marked text begins",
]
const MESSAGES = 2_400
const LATER = 120
let place: TestSessions
let segments: Segment[]
let messages: Row[]

function textOf(number: number): string {
  const common = Array.from({ length: 12 }, (_, at) => `w${((number + at * 7) * 2_654_435_761) % 4_099} z${at}z`).join(
    " ",
  )
  return `${PHRASES[number % PHRASES.length]} ${number % 5 === 0 ? "" : common}`
}

async function write(from: number, to: number): Promise<void> {
  const size = 60
  for (let first = from; first < to; first += size) {
    const id = `s${first}`
    const entries = Array.from({ length: size }, (_, at) =>
      said(id, at, at % 11 === 10 ? "" : textOf(first + at), {
        id: `${id}m${at}`,
        role: at % 2 === 0 ? "user" : "assistant",
      }),
    )
    await place.sessions.write([{ session: session(id), entries }])
  }
}

beforeAll(async () => {
  place = testSessions()
  const long = said("long", 0, `start ${"lorem ipsum ".repeat(20_000)} unindexed`)
  const huge = said("long", 1, `huge ${"dolor sit ".repeat(430_000)}`)
  await place.sessions.write([
    { session: session("long"), entries: [long, huge, said("long", 2, "pond://text/ again")] },
  ])
  await write(0, MESSAGES)
  await place.sessions.maintain("all")
  await write(MESSAGES, MESSAGES + LATER)
  await place.sessions.maintain("all")
  segments = await readIndex(place.path)
  messages = await readTable(place.path, "messages")
}, 60_000)
afterAll(() => place[Symbol.dispose]())

// --- The proof --------------------------------------------------------------------------------------------------------

test("the tables have the columns and the versions of the page", async () => {
  const connection = await connect(place.path)
  for (const [name, columns] of COLUMNS) {
    const schema = await (await connection.openTable(name)).schema()
    expect(schema.fields.map((field) => [field.name, String(field.type), field.nullable])).toEqual(
      columns.map(([column = "", type = ""]) => [column, type, false]),
    )
    const version = new RegExp(`^### ${name}, schema version (\\d+)$`, "m").exec(PAGE)?.[1]
    expect(schema.metadata.get("pond:schema_version")).toBe(version)
  }
})

test("segments cover all messages, with varints, bitmaps and several blocks among them", () => {
  expect(segments.length).toBeGreaterThan(1)
  expect(segments.reduce((sum, { positions }) => sum + positions, 0)).toBe(messages.length)
  expect(Number(segments[0]?.row["blocks"])).toBeGreaterThan(1)
  for (const { row } of segments) {
    const last = messages.find((message) => Number(message["_rowid"]) === Number(row["to_row"]) - 1)
    const sessionId = String(last?.["session_id"])
    expect(row["last_key"]).toBe(`${sessionId.length} ${sessionId}${last?.["id"]}`)
  }
})

test("every posting list is the one that the rules of the page give", () => {
  const terms = termsOfMessages(messages)
  for (const { from, positions, postings, lengths } of segments) {
    const expected = new Map<string, number[]>()
    for (let position = 0; position < positions; position++)
      for (const term of terms.get(from + position) ?? []) expected.set(term, [...(expected.get(term) ?? []), position])
    expect([...postings.keys()].filter((term) => !expected.has(term))).toEqual([])
    expect([...expected.keys()].filter((term) => !postings.has(term))).toEqual([])
    for (const [term, held] of expected) expect([term, postings.get(term)]).toEqual([term, held])
    expect([...lengths]).toEqual(lengths.map((_, position) => terms.get(from + position)?.size ?? 0))
  }
}, 60_000)

test("document attributes are those of the messages", () => {
  const byRow = new Map(messages.map((message) => [Number(message["_rowid"]), message]))
  for (const { row, from, positions, lengths } of segments) {
    const id = String(row["id"])
    expect(Number(row["count"])).toBe(lengths.filter((length) => length > 0).length)
    expect(Number(row["tokens"])).toBe(lengths.reduce((sum, length) => sum + length, 0))
    for (const [column = "", , meaning = ""] of COLUMNS.get("word_segments") ?? []) {
      if (column === "lengths" || !/^(text|number) array/.test(meaning)) continue
      const bytes = decompress(id, row[column])
      const values: readonly unknown[] = meaning.startsWith("text")
        ? textArray(bytes, positions)
        : numbersOf(bytes, ATTRIBUTES.get(column) ?? "")
      const expected = values.map((_, position) => byRow.get(from + position)?.[column])
      expect([column, values.map(String)]).toEqual([
        column,
        expected.map((value) => String(storedValue(column, value))),
      ])
    }
  }
})

/** The binding gives timestamps in milliseconds; pond stores no finer ones. */
function storedValue(column: string, value: unknown): unknown {
  return ["timestamp", "ingested_at"].includes(column) ? Number(value) * 1_000 : value
}

test("the word list has every word of the texts", async () => {
  const rows = await readTable(place.path, "word_lists")
  const newest = rows.toSorted((one, other) => Number(other["reach"]) - Number(one["reach"]))[0]
  const last = messages.find((message) => Number(message["_rowid"]) === Number(newest?.["reach"]) - 1)
  expect([newest?.["last_session_id"], newest?.["last_message_id"]]).toEqual([last?.["session_id"], last?.["id"]])
  const own = messages
    .filter(({ lane }) => lane !== "replay")
    .map(({ search_text }) => String(search_text ?? "pond://blob/"))
  expect(newest?.["spoken"]).toBe(own.filter((text) => !text.startsWith("pond://blob/")).length)
  const texts = messages.flatMap((message) => (message["search_text"] as string | null) ?? [])
  const expected = new Set<string>()
  for (const text of texts) {
    for (const { kind, text: run, classes } of runsOf(text.slice(0, LIMITS.indexed))) {
      const { word } = splitWord(run, classes)
      if (kind !== "word" || word === "") continue
      const form = run.length > LIMITS.form ? "*" : fold(run).replaceAll("_", "")
      expected.add(form === word ? word : `${form}\t${word}`)
    }
  }
  const lines = rows
    .map(({ words }) => String(words))
    .join("")
    .split("\n")
    .slice(0, -1)
  expect(lines.toSorted(byUnits)).toEqual([...expected].toSorted(byUnits))
})

describe("ranking by the page gives the messages that pond finds", () => {
  for (const query of ["w17 w2048", "straße login.ts", "server answers", "数据", "w99"]) {
    test(query, async () => {
      const terms = [...termsOf(query)]
      const best = await place.sessions.words.search({ terms }, { columns: ["id"], limit: 20 })
      const scores = rankAll(terms)
      const expected = [...scores].toSorted(([one, left], [other, right]) =>
        Math.abs(left - right) < 1e-5 ? other - one : right - left,
      )
      expect(best.map(({ _row }) => _row)).toEqual(expected.slice(0, best.length).map(([row]) => row))
      for (const { _row, _score } of best) expect(_score).toBeCloseTo(scores.get(_row) ?? 0, 4)
      expect(best.length).toBe(Math.min(20, scores.size))
    })
  }
})

function rankAll(terms: readonly string[]): Map<number, number> {
  const [k1, b] = [BM25.get("k1") ?? 0, BM25.get("b") ?? 0]
  const all = segments.reduce((sum, { row }) => sum + Number(row["count"]), 0)
  const mean = segments.reduce((sum, { row }) => sum + Number(row["tokens"]), 0) / all
  const scores = new Map<number, number>()
  for (const term of terms) {
    const having = segments.reduce((sum, { postings }) => sum + (postings.get(term)?.length ?? 0), 0)
    const idf = Math.log((all - having + 0.5) / (having + 0.5) + 1)
    for (const { from, postings, lengths } of segments) {
      for (const position of postings.get(term) ?? []) {
        const weight = (k1 + 1) / (1 + k1 * (1 - b + (b * (lengths[position] ?? 0)) / mean))
        scores.set(from + position, (scores.get(from + position) ?? 0) + idf * weight)
      }
    }
  }
  return scores
}

test("the three tables can be deleted, and maintenance builds the same index again", async () => {
  for (const name of COLUMNS.keys()) rmSync(join(place.path, `${name}.lance`), { recursive: true })
  const again = place.open()
  await again.maintain("all")
  const rebuilt = await readIndex(place.path)
  const termsFound = (all: readonly Segment[]) => new Set(all.flatMap(({ postings }) => [...postings.keys()]))
  expect(termsFound(rebuilt)).toEqual(termsFound(segments))
})
