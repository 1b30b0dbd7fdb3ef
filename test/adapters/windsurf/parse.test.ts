import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { windsurf } from "../../../src/adapters/windsurf/adapter.ts"
import { temporaryHome } from "../../support/pond-process.ts"
import { logsOfFixture, told } from "../told.ts"

test("a transcript has calls with their results in one line, and tabs have bubbles", async () => {
  expect(await told(windsurf, "transcript")).toEqual([
    [
      "user: Write hello. 🏄",
      "assistant: thinks A short one.",
      "assistant: I write it.",
      "assistant: calls code_action as code_action",
      "assistant: calls look_up as look_up",
      "tool: answers look_up",
      "assistant: Written.",
    ],
  ])
  expect(await told(windsurf, "tabs")).toEqual([["user: Say hello.", "assistant: Hello."], ["user: Elsewhere."]])
  expect(await told(windsurf, "chat")).toEqual([
    ["user: Say it twice.", "assistant: It.", "assistant: It."],
    ["user: Once."],
  ])
  const [log] = await logsOfFixture(windsurf, "tabs")
  expect(log?.session).toMatchObject({ project: "/projects/alpha", created_at: "2025-01-01T10:00:00.000Z" })
  expect(JSON.stringify(log)).not.toContain("never read")
})

test("encrypted conversations are counted and never opened; settings and files of other names are no transcripts", async () => {
  using home = temporaryHome()
  for (const n of [1, 2]) await Bun.write(`${home.path}/cascade/fa00000${n}-0000-4000-8000-0000000000cc.pb`, "\u0001")
  await Bun.write(`${home.path}/transcripts/settings.jsonl`, "{}\n")
  await Bun.write(`${home.path}/tabs/settings.json`, "{}")
  await Bun.write(`${home.path}/fa000001-0000-4000-8000-0000000000cc.jsonl`, "{}\n")
  const found = await Array.fromAsync(windsurf.source.plan(home.path))
  expect(found).toMatchObject([
    { kind: "encrypted_file", severity: "note", found: expect.stringMatching(/^2 encrypted/) },
  ])
})

test("a value that is no JSON is a fault", async () => {
  using home = temporaryHome()
  const place = join(home.path, "workspaceStorage", "a")
  mkdirSync(place, { recursive: true })
  const database = new Database(join(place, "state.vscdb"), { create: true })
  database.run("CREATE TABLE ItemTable (key TEXT, value BLOB)")
  database.run("INSERT INTO ItemTable VALUES ('aiChat.chatdata', '{')")
  database.close()
  expect(await Array.fromAsync(windsurf.source.plan(home.path))).toMatchObject([{ kind: "unreadable_value" }])
})
