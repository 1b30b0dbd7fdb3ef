import { expect, test } from "bun:test"
import { zed } from "../../../src/adapters/zed/adapter.ts"
import { logsOfFixture, told } from "../told.ts"

test("results stand behind their calls, in the order of these; a file that a prompt names is injected", async () => {
  const [thread, agent] = await told(zed, "tools")
  expect(thread).toEqual([
    "user: List and read",
    "user, injected: # A",
    "user: shows application/octet-stream with bytes",
    "assistant: thinks First the list.",
    "assistant: I look.",
    "assistant: calls terminal as tu_1",
    "assistant: calls read_file as tu_2",
    "tool: answers tu_1",
    "tool: answers tu_2, failed",
    "assistant: There is a.md. 📄",
  ])
  expect(agent).toEqual(["user: Dig.", "assistant: Dug."])
  const logs = await logsOfFixture(zed, "tools")
  expect(logs.map(({ session }) => [session.source_agent, session.project, session.parent_session_id])).toEqual([
    ["zed", "/projects/alpha", undefined],
    ["zed/write", "/projects/alpha", logs[0]?.session.id],
  ])
})

test("threads of 2025 have segments; one that was summed up is sent from its summary on", async () => {
  expect(await told(zed, "early")).toEqual([
    [
      "user: Read it.",
      "user, injected: <context>x</context>",
      "assistant: thinks Reading.",
      "assistant: I read.",
      "assistant: calls read_file as t1",
      "tool: answers t1",
    ],
  ])
  expect((await told(zed, "compacted"))[0]).toEqual([
    "user, injected: It began.",
    "user: Go on.",
    "assistant: Gone on.",
  ])
})
