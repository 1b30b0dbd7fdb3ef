import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { cpSync } from "node:fs"
import { join } from "node:path"
import type { SourceUnit } from "../../../src/adapters/adapter.ts"
import { goose } from "../../../src/adapters/goose/adapter.ts"
import { source } from "../../../src/adapters/goose/source.ts"
import { sourceOf } from "../../../src/adapters/shared/native.ts"
import { resolve } from "../../../src/adapters/shared/resolve.ts"
import { fromSource } from "../../../src/adapters/source-value.ts"
import { stringifyJson } from "../../../src/model/json.ts"
import type { Entry, Part, Session } from "../../../src/model/session.ts"
import { temporaryHome } from "../../support/pond-process.ts"

const FIXTURES = join(import.meta.dir, "../../../fixtures/goose")

async function read(unit: SourceUnit): Promise<{ session: Session | undefined; entries: Entry[] }> {
  const entries: Entry[] = []
  const sessions: Session[] = []
  const parser = goose.parse(unit, {
    session: (session) => void sessions.push(session),
    entry: (entry) => void entries.push(entry),
    issue: () => undefined,
  })
  for await (const { records } of resolve(goose, unit)) for (const record of records) parser.push(record)
  parser.end(true)
  return { session: sessions[0], entries }
}

async function entriesOf(root: string, session: string): Promise<Entry[]> {
  for await (const unit of source.plan(root))
    if ("files" in unit && unit.row?.id === session) return (await read(unit)).entries
  return []
}

/** What a person said, whatever stands around it. */
test.each([
  [[{ type: "text", text: "hello" }], {}, ["hello"]],
  [[{ type: "text", text: "<turn-context>\nnow\n</turn-context>" }], {}, []],
  [[{ type: "text", text: "<info-msg>\nnow\n</info-msg>" }], {}, []],
  [[{ type: "text", text: "now" }], { turnContext: true, userVisible: false, agentVisible: true }, []],
  [[{ type: "text", text: "summed up" }], { userVisible: false, agentVisible: true }, []],
  [
    [{ type: "text", text: "hidden from the model" }],
    { userVisible: true, agentVisible: false },
    ["hidden from the model"],
  ],
  [[{ type: "text", text: "what is <turn-context>?" }], {}, ["what is <turn-context>?"]],
])("of %j with %j a person said %j", async (blocks, metadata, said) => {
  using home = temporaryHome()
  cpSync(join(FIXTURES, "plain/root"), home.path, { recursive: true })
  const database = new Database(join(home.path, "sessions/sessions.db"))
  const session = String(database.query("SELECT id FROM sessions").values()[0]?.[0])
  const set = "UPDATE messages SET content_json = ?, metadata_json = ? WHERE id = 1"
  database.run(set, [stringifyJson(blocks), stringifyJson(metadata)])
  database.close()
  const [, first] = await entriesOf(home.path, session)
  const parts: readonly Part[] = first?.parts ?? []
  const texts = parts.flatMap((part) =>
    part.type === "text" && part.provenance === "conversational" ? [part.text] : [],
  )
  expect(texts).toEqual([...said])
  expect(parts.map((part) => ("text" in part ? part.text : "")).join("")).toBe(blocks[0]?.text ?? "")
})

test("variables of extensions are not read", async () => {
  const entries = await entriesOf(join(FIXTURES, "compacted/root"), "20261101_1")
  expect(stringifyJson(entries as never)).not.toContain("API_KEY")
})

test("results of every form are results", async () => {
  const entries = await entriesOf(join(FIXTURES, "compacted/root"), "20261101_1")
  const results = entries.flatMap(({ parts }): readonly Part[] => parts).filter(({ type }) => type === "tool_result")
  expect(results).toMatchObject([
    { call_id: "call_1", is_failure: false },
    { call_id: "call_2", is_failure: true, result: "no such tool" },
  ])
})

function clientIdOf(session: Session, entries: readonly Entry[]): string {
  const ignore = () => undefined
  const serializer = goose.serialize.native(session, { line: ignore, row: ignore, file: ignore })
  serializer.push(entries)
  return serializer.end().sessionId
}

/** What each session of a root is called in pond, its parent, and the id that its client gets it back under. */
async function namesOf(root: string): Promise<(readonly [string, string | undefined, string])[]> {
  const found: (readonly [string, string | undefined, string])[] = []
  for await (const unit of source.plan(root)) {
    if (!("files" in unit)) continue
    const { session, entries } = await read(unit)
    if (session !== undefined) found.push([session.id, session.parent_session_id, clientIdOf(session, entries)])
  }
  return found
}

test("a counted id has its time of creation behind it, and goes back without", async () => {
  using home = temporaryHome()
  cpSync(join(FIXTURES, "subagent/root"), home.path, { recursive: true })
  const database = new Database(join(home.path, "sessions/sessions.db"))
  database.run("UPDATE sessions SET created_at = '2026-11-20 00:00:09' WHERE id = '20261120_1'")
  database.close()
  expect(await namesOf(join(FIXTURES, "subagent/root"))).toEqual([
    ["20261120_1-072539", undefined, "20261120_1"],
    ["20261120_2-072548", "20261120_1-072539", "20261120_2"],
  ])
  expect(await namesOf(home.path)).toEqual([
    ["20261120_1-000009", undefined, "20261120_1"],
    ["20261120_2-072548", "20261120_1-000009", "20261120_2"],
  ])
})

test("the id of a log has its time in it, and stays when the client makes rows of it", async () => {
  using home = temporaryHome()
  cpSync(join(FIXTURES, "plain/root"), home.path, { recursive: true })
  const database = new Database(join(home.path, "sessions/sessions.db"))
  database.run("UPDATE sessions SET id = '20250901_120000', created_at = '2025-09-01T12:00:00+00:00'")
  database.close()
  expect(await namesOf(home.path)).toEqual([["20250901_120000", undefined, "20250901_120000"]])
})

test("of what extensions keep, the list of todos is read", async () => {
  const [first] = await entriesOf(join(FIXTURES, "compacted/root"), "20261101_1")
  expect(sourceOf((first as Entry).message)["record"]).toMatchObject({
    extension_data: { "todo.v0": { content: "- [x] read the log\n- [ ] mend the test" } },
  })
})

test("its data lies where its variables say", () => {
  expect(source.roots({}, "/home/dev")).toEqual(["/home/dev/.local/share/goose"])
  expect(source.roots({ XDG_DATA_HOME: "/d" }, "/home/dev")).toEqual(["/d/goose"])
  expect(source.roots({ GOOSE_PATH_ROOT: "/g" }, "/home/dev")).toEqual(["/g/data"])
})

test("a row of a session whose id is no text is not passed over in silence", async () => {
  const found: string[] = []
  for await (const unit of source.plan(join(FIXTURES, "tools/root"))) {
    if (!("files" in unit)) continue
    const issue = ({ kind }: { kind: string }) => void found.push(kind)
    const parser = goose.parse(unit, { session: () => undefined, entry: () => undefined, issue })
    for await (const { records } of resolve(goose, unit)) {
      const rows = records.filter((record) => record.form === "row" && record.table === "sessions")
      for (const row of rows)
        if (row.form === "row") parser.push({ ...row, row: fromSource({ ...(row.row as object), id: ["odd"] }) })
    }
    parser.end(true)
  }
  expect(found).toContain("no_session")
})
