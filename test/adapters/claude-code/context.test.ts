/** What Claude Code would send to its model: the chain of records that lives, each reply with its results. */
import { expect, test } from "bun:test"
import { claudeCode } from "../../../src/adapters/claude-code/adapter.ts"
import type { Part } from "../../../src/model/session.ts"
import { assistant, call, idsOf, record, result, text, user } from "./records.ts"
import { parsedRecords } from "./support.ts"

const sent = async (records: readonly unknown[]) => idsOf(claudeCode.context(await parsedRecords(records), []))

test("the results of parallel calls hang on different blocks of a reply, and follow it together", async () => {
  const reply = "msg_1"
  const records = [
    user("u1", null, "Go."),
    assistant("a1", "u1", [text("Two.")], reply),
    assistant("a2", "a1", [call("t1")], reply),
    assistant("a3", "a2", [call("t2")], reply),
    user("r1", "a2", [result("t1")]),
    user("r2", "a3", [result("t2")]),
    assistant("a4", "r2", [text("Done.")]),
  ]
  expect(await sent(records)).toEqual(["u1", "a1", "a2", "a3", "r1", "r2", "a4"])
  // Written as they came, one result before the next call of the same reply.
  const [u1, a1, a2, a3, r1, r2, a4] = records
  expect(await sent([u1, a1, a2, r1, { ...a3, parentUuid: "r1" }, r2, a4])).toEqual([
    "u1",
    "a1",
    "a2",
    "a3",
    "r1",
    "r2",
    "a4",
  ])
})

test("the chain leads through records that are no messages", async () => {
  expect(
    await sent([
      user("u1", null, "Go."),
      record("progress", "p1", "u1", { data: { type: "bash_progress" } }),
      record("attachment", "x1", "p1", { attachment: { type: "date_change" } }),
      record("system", "s1", "x1", { subtype: "turn_duration", content: "Worked for a while" }),
      assistant("a1", "s1", [text("Done.")]),
    ]),
  ).toEqual(["u1", "a1"])
})

test("a parent that is not there is bridged by what stands before", async () => {
  expect(await sent([user("u1", null, "Go."), assistant("a1", "lost", [text("Yes.")])])).toEqual(["u1", "a1"])
})

test("records without ids are taken in their order", async () => {
  const plain = (role: string, content: unknown) => ({ type: role, message: { role, content }, cwd: "/work" })
  const log = await parsedRecords([plain("user", "Hi."), plain("assistant", [text("Hello.")]), plain("user", "Bye.")])
  expect(claudeCode.context(log, []).map(({ message }) => message.role)).toEqual(["user", "assistant", "user"])
})

test("calls and results without each other are not sent, and neither is an error of the API", async () => {
  const error = { ...assistant("a2", "r2", [text("API Error")]), isApiErrorMessage: true }
  const log = await parsedRecords([
    user("u1", null, "Go."),
    assistant("a1", "u1", [text("Both."), call("t1"), call("t2")]),
    user("r1", "a1", [result("t1")]),
    user("r2", "r1", [result("t9")]),
    error,
    user("u2", "a2", "Again."),
  ])
  const entries = claudeCode.context(log, [])
  expect(idsOf(entries)).toEqual(["u1", "a1", "r1", "u2"])
  expect(entries[1]?.parts.map((part: Part) => (part.type === "tool_call" ? part.call_id : part.type))).toEqual([
    "text",
    "t1",
  ])
})

test("what a client that died was doing is sent: a call of the last reply, also where another one came back", async () => {
  const reply = "msg_1"
  const both = [
    user("u1", null, "Go."),
    assistant("a1", "u1", [text("Two.")], reply),
    assistant("a2", "a1", [call("t1")], reply),
    assistant("a3", "a2", [call("t2")], reply),
  ]
  const cutOff = [...both, user("r1", "a2", [result("t1")])]
  expect(await sent(both)).toEqual(["u1", "a1", "a2", "a3"])
  expect(await sent(cutOff)).toEqual(["u1", "a1", "a2", "a3", "r1"])
  expect(await sent([...cutOff, user("u2", "r1", "Again.")])).toEqual(["u1", "a1", "a2", "r1", "u2"])
  expect(await sent([...both, assistant("a4", "a3", [text("Other.")])])).toEqual(["u1", "a1", "a4"])
})

test("an answer that replaced another one is sent in its place", async () => {
  const refused = assistant("a1", "u1", [text("No.")], "msg_1")
  const other = { ...assistant("a2", "a1", [text("Yes.")], "msg_2"), supersedesUuids: ["a1"] }
  expect(await sent([user("u1", null, "Go."), refused, other])).toEqual(["u1", "a2"])
})

test("a ring of parents ends", async () => {
  expect(await sent([user("u1", "a1", "Go."), assistant("a1", "u1", [text("Round.")])])).toEqual(["u1", "a1"])
})
