/** What a part takes out of its record: once for all the places where it stood, and shared by no two records by accident. */
import { expect, test } from "bun:test"
import type { ParseSink, RawRecord, SourceFile, SourceUnit } from "../../../src/adapters/adapter.ts"
import { claudeCode } from "../../../src/adapters/claude-code/adapter.ts"
import { stringUnder } from "../../../src/adapters/extract.ts"
import { textPart } from "../../../src/adapters/parts.ts"
import { ADAPTERS } from "../../../src/adapters/registry.ts"
import { createSessionWriter } from "../../../src/adapters/session-writer.ts"
import { fromSource } from "../../../src/adapters/source-value.ts"
import { inside, itemsOf, whole } from "../../../src/adapters/spot.ts"
import { parseJson } from "../../../src/model/json.ts"
import type { Entry, Session } from "../../../src/model/session.ts"
import { nativeFiles } from "../../../src/restore/output-files.ts"
import { sourceFile } from "../../source-file.ts"

const FILE = sourceFile("s.jsonl")
const SESSION: Session = {
  ...{ id: "s", source_agent: "test", created_at: "2026-01-01T00:00:00.000Z", project: "/p" },
  options: { source: { file: FILE.relativePath } },
}
const LONG = "a text that is long enough to be worth a note of where else it stood, and then some more of it".repeat(2)
/** As long, and another one. */
const OTHER = LONG.replace("long", "LONG")

/** Each text of `said` becomes a part. */
function written(lines: readonly string[], text?: string, parsedBetween?: string): Entry[] {
  const entries: Entry[] = []
  const nothing = () => undefined
  const sink: ParseSink = { session: nothing, issue: nothing, entry: (entry) => entries.push(entry) }
  const resume = { session: SESSION, nextOrdinal: 0, seen: new Set<string>(), state: null }
  const writer = createSessionWriter(FILE, sink, resume)
  for (const [index, line] of lines.entries()) {
    const parsed = parseJson(line)
    if (!parsed.ok) throw new Error(parsed.reason)
    const raw: RawRecord = { form: "log", file: FILE, line: index + 1, text: text ?? line }
    const texts = itemsOf(inside(whole(fromSource(parsed.value)), "said")).flatMap(
      (block) => stringUnder(block, "text") ?? [],
    )
    if (parsedBetween !== undefined) parseJson(parsedBetween)
    const parts = texts.map((each) => textPart({ provenance: "conversational", text: each }))
    writer.record(raw, parsed.value, [{ role: "user", parts }])
  }
  return entries
}

function given(lines: readonly string[]): unknown[] {
  const [file] = nativeFiles(claudeCode, { session: SESSION, entries: written(lines) })
  return file?.form === "log" ? Array.from(file.lines, (line) => JSON.parse(String(line)) as unknown) : []
}

test.each([
  ["a copy beside it", { said: [{ text: LONG }], screen: { stdout: LONG } }, 0],
  ["two copies", { said: [{ text: LONG }], screen: [LONG, { again: LONG }] }, 0],
  ["another text of its length", { said: [{ text: LONG }], screen: { stdout: OTHER } }, 2],
  ["two long texts, each with a copy", { said: [{ text: LONG }, { text: OTHER }], screen: [OTHER, LONG] }, 0],
  ["the same text twice, and a copy", { said: [{ text: LONG }, { text: LONG }], screen: LONG }, 0],
])("%s: the record has what stands in no part, and comes back whole", (_, record, kept) => {
  const line = JSON.stringify(record)
  const [entry] = written([line])
  const beside = JSON.stringify(entry?.message.options)
  expect(beside.split("a text that is").length - 1).toBe(kept)
  expect(given([line])).toEqual([record])
})

test("a copy is found, too, where the text of the record is not the record's own", () => {
  const [entry] = written([JSON.stringify({ said: [{ text: LONG }], screen: LONG })], "")
  expect(JSON.stringify(entry?.message.options)).not.toContain("a text that is")
})

test.each([
  ["a value with as many long texts", JSON.stringify(OTHER)],
  ["one with a number that no double holds", `["${OTHER}", 123456789012345678901234567890]`],
  ["one that is too deep", `["${OTHER}", ${"[".repeat(3_000)}${"]".repeat(3_000)}]`],
  ["no JSON", `["${OTHER}"`],
])("a copy is found, too, where something else was parsed since: %s", (_, between) => {
  const [entry] = written([JSON.stringify({ said: [{ text: LONG }], screen: LONG })], undefined, between)
  expect(JSON.stringify(entry?.message.options)).not.toContain("a text that is")
})

test("a record with copies leaves the notes of the records beside it as they are", () => {
  const plain = { said: [{ text: LONG }] }
  const records = [
    plain,
    { said: [{ text: LONG }], screen: LONG },
    plain,
    { said: [{ text: "short" }], screen: "short" },
  ]
  expect(given(records.map((record) => JSON.stringify(record)))).toEqual(records)
})

/** Objects that every object inherits from must not be taken for fields, nor trip a parser. */
test.each(ADAPTERS.map((adapter) => [adapter.id, adapter] as const))(
  "%s: a record with fields of all kinds in the places of texts and ids throws nothing",
  (_, adapter) => {
    const odd = [
      "1e400",
      "1e-400",
      "123456789012345678901234567890",
      '{"toString":1}',
      '{"__proto__":{"type":"text"}}',
      "[]",
    ]
    const file: SourceFile = { ...FILE, form: "database", relativePath: "opencode.db" }
    const unit: SourceUnit = { key: "u", root: "/", files: [file], row: { id: "s", mark: "" } }
    let entries = 0
    const sink: ParseSink = { session: () => undefined, issue: () => undefined, entry: () => entries++ }
    const parser = adapter.parse(unit, sink)
    const session = '{"id":"s","directory":"/p","time_created":1700000000000,"title":"t"}'
    const rows = odd.map(
      (value) =>
        `{"id":${value},"session_id":"s","time_updated":${value},"data":{"role":"user"},"part":[{"id":${value},"time_updated":${value},"data":{"type":"text","text":${value}}}]}`,
    )
    for (const [index, text] of [session, ...rows].entries()) {
      const parsed = parseJson(text)
      if (!parsed.ok) throw new Error(parsed.reason)
      parser.push({
        form: "row",
        file,
        line: index + 1,
        table: index === 0 ? "session" : "message",
        row: fromSource(parsed.value),
      })
    }
    parser.end(true)
    expect(adapter.id !== "opencode" || entries === rows.length + 1).toBe(true)
  },
)
