import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { mkdirSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { vscodeChat } from "../../../src/adapters/vscode-chat/adapter.ts"
import { logsOf } from "../../contract/fixtures.ts"
import { temporaryHome } from "../../support/pond-process.ts"

const ID = "ab000001-0000-4000-8000-0000000000ff"

function workspace(home: string, value: unknown, written: Date): void {
  const place = join(home, "workspaceStorage", "a".repeat(32))
  mkdirSync(place, { recursive: true })
  const database = new Database(join(place, "state.vscdb"), { create: true })
  database.run("CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB)")
  database.run("INSERT INTO ItemTable VALUES ('interactive.sessions', ?)", [JSON.stringify(value)])
  database.run("INSERT INTO ItemTable VALUES ('secret://login', 'never read')")
  database.close()
  writeFileSync(join(place, "workspace.json"), '{"folder":"file:///projects/alpha"}')
  utimesSync(join(place, "state.vscdb"), written, written)
}

const CHAT = {
  sessionId: ID,
  creationDate: 1_700_000_000_000,
  requests: [{ message: { text: "What is this?" }, response: [{ value: "A test." }] }],
}

test.each([
  ["a list", [CHAT, { sessionId: "ab000002-0000-4000-8000-0000000000ff", requests: [] }]],
  ["an object", { [ID]: CHAT }],
])("chats of before 1.93 that were never put into files are read out of the database: %s", async (_, value) => {
  using home = temporaryHome()
  workspace(home.path, value, new Date("2023-12-01"))
  const [log, ...others] = [...(await logsOf(vscodeChat, home.path)).values()]
  expect(others).toEqual([])
  expect(log?.session).toMatchObject({ id: ID, project: "/projects/alpha", created_at: "2023-11-14T22:13:20.000Z" })
  const texts = log?.entries.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])))
  expect(texts).toEqual(["What is this?", "A test."])
  expect(JSON.stringify(log)).not.toContain("never read")
})

test("a database that an editor of today writes is not opened", async () => {
  using home = temporaryHome()
  workspace(home.path, [CHAT], new Date("2026-01-01"))
  expect(await Array.fromAsync(vscodeChat.source.plan(home.path))).toEqual([])
})
