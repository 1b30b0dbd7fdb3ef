import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import type { RawRecord, SourceFile } from "../../../src/adapters/adapter.ts"
import { hermes } from "../../../src/adapters/hermes/adapter.ts"
import { COLUMNS, schema } from "../../../src/adapters/hermes/schema.ts"
import { fromDisk, fromSource } from "../../../src/adapters/source-value.ts"
import type { JsonObject } from "../../../src/model/json.ts"
import type { Entry, Part, Session } from "../../../src/model/session.ts"
import { writeForeignRows } from "../../../src/platform/files/foreign-sqlite-writer.ts"
import { nativeFiles } from "../../../src/restore/output-files.ts"
import { temporaryHome } from "../../support/pond-process.ts"

const ID = "20261101_090000_a1b2c3"
const FILE: SourceFile = fromDisk({
  ...{ path: "/x/state.db", relativePath: "state.db", form: "database", sizeBytes: 1, modifiedMs: 1, inode: 1 },
})
const SESSION = { id: ID, source: "cli", started_at: 1_793_523_600, cwd: "/home/dev/alpha" }

function read(session: JsonObject, messages: readonly JsonObject[]): { session: Session; entries: readonly Entry[] } {
  const found: { session?: Session; entries: Entry[] } = { entries: [] }
  const parser = hermes.parse(
    { key: "state.db", root: "/x", files: [FILE], row: { id: ID, mark: "1" } },
    {
      session: (begun) => {
        found.session = begun
      },
      entry: (entry) => found.entries.push(entry),
      issue: () => undefined,
    },
  )
  const rows: [string, JsonObject][] = [
    ["sessions", session],
    ...messages.map((row): [string, JsonObject] => ["messages", row]),
  ]
  for (const [index, [table, row]] of rows.entries())
    parser.push({ form: "row", file: FILE, line: index + 1, table, row: fromSource(row) } satisfies RawRecord)
  parser.end(true)
  if (found.session === undefined) throw new Error("no session")
  return { ...found, session: found.session }
}

function message(fields: JsonObject, number = 1): JsonObject {
  return { id: number, session_id: ID, timestamp: 1_793_523_601 + number, active: 1, compacted: 0, ...fields }
}

/** What a person typed stands between the brackets. */
test.each([
  ["hello", ["hello"]],
  ["[Anna] hello", ["[Anna] hello"]],
  ["[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns", []],
  ["[CONTEXT SUMMARY]: Earlier", []],
  ["<memory-context>likes tea</memory-context>\n\nhello", ["hello"]],
  ["hello\n\n[System note: the turn was interrupted]", ["hello"]],
  ["[System note: a reset]", []],
  ['[IMPORTANT: The user has invoked the "review" skill, indicating they want it.]\nReview.', []],
  ["[IMPORTANT: Background process 7 ended]", []],
  ["[ASYNC DELEGATION COMPLETE — deleg_1]\ndone", []],
  ["[SYSTEM: reloaded]", []],
  ["[Note: model was just switched from a to b]", []],
  ['[Replying to: "before"] hello', ["hello"]],
  ["[The user sent an image~ Here's what I can see: a dot] what is it?", ["what is it?"]],
  ["what is [System note: in the middle]?", ["what is [System note: in the middle]?"]],
])("of %j a person said %j", (content, said) => {
  const { entries } = read(SESSION, [message({ role: "user", content })])
  const parts = entries.flatMap((entry): readonly Part[] => entry.parts)
  const texts = parts.flatMap((part) =>
    part.type === "text" && part.provenance === "conversational" ? [part.text] : [],
  )
  expect(texts).toEqual([...said])
  expect(parts.map((part) => ("text" in part ? part.text : "")).join("")).toBe(content)
})

test("what a scheduler asks is the client's", () => {
  const { entries } = read({ ...SESSION, source: "cron" }, [message({ role: "user", content: "what is new?" })])
  expect(entries.at(-1)?.parts).toMatchObject([{ provenance: "injected", text: "what is new?" }])
})

test("what was sent instead of what was typed is beside it", () => {
  const row = message({ role: "user", content: "hello", api_content: "<x/>\nhello\nbye" })
  const parts = read(SESSION, [row]).entries.flatMap((entry): readonly Part[] => entry.parts)
  expect(parts.map((part) => [part.provenance, "text" in part && part.text])).toEqual([
    ["conversational", "hello"],
    ["injected", "<x/>\n"],
    ["injected", "\nbye"],
  ])
})

test.each([
  ['{"output": "a", "exit_code": 0, "error": null}', false],
  ['{"output": "a", "exit_code": 3, "error": null}', true],
  ['{"content": "", "error": "File not found"}', true],
  ['{"success": false}', true],
  ['{"output": "{\\"error\\": \\"quoted\\"}", "exit_code": 0}', false],
])("%s failed: %p", (content, isFailure) => {
  const { entries } = read(SESSION, [message({ role: "tool", content, tool_call_id: "call_1", tool_name: "terminal" })])
  expect(entries.at(-1)?.parts).toMatchObject([{ type: "tool_result", result: content, is_failure: isFailure }])
})

test("a session says who gave it its work", () => {
  const row = { ...SESSION, source: "subagent", model_config: { _delegate_from: "other" }, parent_session_id: "other" }
  const { session } = read(row, [])
  expect(session).toMatchObject({
    source_agent: "hermes/subagent",
    parent_session_id: "other",
    project: "/home/dev/alpha",
  })
})

test("what was undone or summed up is not sent", () => {
  const rows = [
    message({ role: "user", content: "undone", active: 0 }, 1),
    message({ role: "user", content: "summed up", active: 0, compacted: 1 }, 2),
    message({ role: "user", content: "live" }, 3),
  ]
  const log = read(SESSION, rows)
  expect(hermes.context(log, []).flatMap((entry): readonly Part[] => entry.parts)).toMatchObject([{ text: "live" }])
})

test("columns of the schema are known by name", () => {
  expect(COLUMNS["messages"]).toContain("token_count")
  expect(COLUMNS["sessions"]).not.toContain("FOREIGN")
})

test("rows whose numbers another session has come behind, in their order, and once", () => {
  using home = temporaryHome()
  const path = join(home.path, "state.db")
  const log = read(SESSION, [
    message({ role: "user", content: "one" }, 1),
    message({ role: "assistant", content: "two" }, 2),
  ])
  const [file] = nativeFiles(hermes, log)
  if (file?.form !== "database") throw new Error("no rows")
  const other = { ...SESSION, id: "other" }
  const theirs = { table: "messages", row: message({ session_id: "other", role: "user", content: "theirs" }, 2) }
  writeForeignRows(path, { schema, rows: [{ table: "sessions", row: other }, theirs] })
  expect(writeForeignRows(path, file)).toMatchObject({ inserted: 3, present: 0 })
  expect(writeForeignRows(path, file)).toMatchObject({ inserted: 0, present: 3 })
  using database = new Database(path, { readonly: true })
  const rows = database.query("SELECT id, session_id, content FROM messages ORDER BY id").values()
  expect(rows).toEqual([
    [2, "other", "theirs"],
    [3, ID, "one"],
    [4, ID, "two"],
  ])
})

test("a title that another session has is no title of a second one", () => {
  using home = temporaryHome()
  const path = join(home.path, "state.db")
  const titled = { ...schema, create: [...schema.create, "CREATE UNIQUE INDEX titles ON sessions(title)"] }
  const row = (id: string) => ({ table: "sessions", row: { ...SESSION, id, title: "one" } })
  writeForeignRows(path, { schema: titled, rows: [row("a")] })
  expect(() => writeForeignRows(path, { schema: titled, rows: [row("b")] })).toThrow("must be unique")
})
