import { expect, test } from "bun:test"
import { kiro } from "../../../src/adapters/kiro/adapter.ts"
import { logsOfFixture, told } from "../told.ts"

test("a log has its pieces in their order, and its header says where it ran and who started it", async () => {
  const [log, agent, alone] = await told(kiro, "logs")
  expect(log).toEqual([
    "user: List and read.",
    "assistant: thinks First the list.",
    "assistant: I look.",
    "assistant: calls shell as t1",
    "assistant: calls read as t2",
    "tool: answers t1",
    "tool: answers t2, failed",
    "assistant: There is a.md. 📄",
  ])
  expect([agent, alone]).toEqual([
    ["user: Dig.", "assistant: Dug."],
    ["user: Alone.", "assistant: Yes."],
  ])
  const logs = await logsOfFixture(kiro, "logs")
  expect(logs.map(({ session }) => [session.source_agent, session.project, session.parent_session_id])).toEqual([
    ["kiro", "/projects/alpha", undefined],
    ["kiro/subagent", "/projects/alpha", logs[0]?.session.id],
    ["kiro", "kiro", undefined],
  ])
})

test("both tables of the database are read, and no other one", async () => {
  expect(await told(kiro, "database")).toEqual([
    [
      "user: Run false.",
      "user, injected: --- CONTEXT ENTRY BEGIN ---",
      "assistant: I run it.",
      "assistant: calls execute_bash as u1",
      "tool: answers u1, failed",
      "assistant: It failed.",
    ],
    ["user: Plain.", "assistant: Yes."],
  ])
  const logs = await logsOfFixture(kiro, "database")
  expect(logs.map(({ session }) => session.project)).toEqual(["/projects/alpha", "/projects/beta"])
  expect(JSON.stringify(logs)).not.toContain("not-for-anybody")
})
