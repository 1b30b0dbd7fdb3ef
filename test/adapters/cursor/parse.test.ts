import { Database } from "bun:sqlite"
import { afterAll, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { SourceUnit } from "../../../src/adapters/adapter.ts"
import { cursor } from "../../../src/adapters/cursor/adapter.ts"
import { resolve } from "../../../src/adapters/shared/resolve.ts"
import { logsOfFixture, told } from "../told.ts"

const scratch = mkdtempSync(join(tmpdir(), "pond-cursor-"))
afterAll(() => rmSync(scratch, { recursive: true }))

test("of the editor what the chat shows is sent; a sub-agent is a session of its own, and a draft is none", async () => {
  const [chat, agent, ...others] = await told(cursor, "editor")
  expect(chat).toEqual([
    "user: List the files.",
    "assistant: thinks A list.",
    "assistant: calls run_terminal_cmd as call_1\nfc_1",
    "tool: answers call_1\nfc_1",
    "assistant: calls read_file as call_2",
    "tool: answers call_2, failed",
    "assistant: There is a.md. 📄",
    "user, injected: Go on.",
  ])
  expect(agent).toEqual(["user: Explore.", "assistant: Explored."])
  expect(others).toEqual([])
  const logs = await logsOfFixture(cursor, "editor")
  expect(logs.map(({ session }) => [session.source_agent, session.project, session.parent_session_id])).toEqual([
    ["cursor", "/projects/alpha", undefined],
    ["cursor/explore", "/projects/alpha", logs[0]?.session.id],
  ])
})

test("early chats have their bubbles inside, or say in a bubble where they are", async () => {
  expect(await told(cursor, "early")).toEqual([
    ["user: Inside.", "assistant: Inside, too."],
    ["user: Raw.", "assistant: Answered."],
  ])
  const logs = await logsOfFixture(cursor, "early")
  expect(logs.map(({ session }) => session.project)).toEqual(["cursor", "/projects/alpha beta"])
})

test("of the command line the root names what is sent; what was typed stands between tags", async () => {
  const [chat, transcript, agent, ...others] = await told(cursor, "command-line")
  expect(chat).toEqual([
    "user, injected: <user_info> Workspace Path: /projects/alpha </user_info> <user_query>",
    "user: Run false.",
    "user, injected: </user_query>",
    "assistant: thinks Run it.",
    "assistant: I run it.",
    "assistant: calls Shell as tc_1",
    "tool: answers tc_1, failed",
    "assistant: It failed.",
  ])
  expect(transcript?.slice(1)).toEqual([
    "user: Only here.",
    "user, injected: </user_query>",
    "assistant: Running.",
    "assistant: calls Shell as Shell",
  ])
  expect(agent).toEqual(["user: Look.", "assistant: Looked."])
  expect(others).toEqual([])
  const logs = await logsOfFixture(cursor, "command-line")
  expect(logs[0]?.session.project).toBe("/projects/alpha")
})

test("secrets beside chats are not read: neither rows of logins nor the key of the blobs", async () => {
  for (const name of ["editor", "command-line"]) {
    const logs = await logsOfFixture(cursor, name)
    expect(JSON.stringify(logs)).not.toContain("not-for-anybody")
  }
})

test("a chat is read again when one of its rows changed, and no other", async () => {
  const path = join(scratch, "globalStorage", "state.vscdb")
  mkdirSync(join(scratch, "globalStorage"))
  using database = new Database(path, { create: true })
  database.run("PRAGMA journal_mode = WAL")
  database.run("CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB)")
  const put = (key: string, value: object) =>
    database.run("INSERT OR REPLACE INTO cursorDiskKV VALUES (?, ?)", [key, JSON.stringify(value)])
  for (const id of ["a", "b"]) {
    put(`composerData:${id}`, { composerId: id, lastUpdatedAt: 1767225600000 })
    put(`bubbleId:${id}:1`, { type: 1, text: "hi" })
  }
  const before = await stamps()
  put("composerData:a", { composerId: "a", lastUpdatedAt: 1767225600001 })
  put("bubbleId:a:2", { type: 2, text: "ho" })
  const after = await stamps()
  expect(Object.keys(after).filter((key) => after[key] !== before[key])).toEqual(["composers/a.json"])
})

async function stamps(): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const unit of cursor.source.plan(scratch)) {
    if (!("files" in unit)) throw new Error(unit.found)
    const [{ sizeBytes, modifiedMs, inode, changedMs }] = unit.files as SourceUnit["files"] & readonly [never]
    found[unit.key] = `${sizeBytes} ${modifiedMs} ${inode} ${changedMs}`
    for await (const { issues } of resolve(cursor, unit)) expect(issues).toEqual([])
  }
  return found
}
