import { expect, test } from "bun:test"
import { crush } from "../../../src/adapters/crush/adapter.ts"
import { logsOfFixture, told } from "../told.ts"

test("what a person ran is theirs, and what came of it is not; titles are no sessions, agents are", async () => {
  const all = await told(crush, "tools")
  expect(all).toEqual([
    [
      "user: List and read.",
      "user: shows /projects/a.png with bytes",
      "user: pwd",
      "user, injected: /projects",
      "assistant: thinks First the list.",
      "assistant: I look.",
      "assistant: calls bash as call_1",
      "assistant: calls view as call_2",
      "tool: answers call_1",
      "tool: answers call_2, failed",
      "assistant: There is a.md. 📄",
    ],
    ["user: Dig.", "assistant: Dug."],
  ])
  const logs = await logsOfFixture(crush, "tools")
  expect(logs.map(({ session }) => session.source_agent)).toEqual(["crush", "crush/Agent"])
})

test("a session that was summed up is sent from its summary on, and its times are milliseconds", async () => {
  expect(await told(crush, "compacted")).toEqual([["user, injected: It began.", "user: Go on."]])
  const [log] = await logsOfFixture(crush, "compacted")
  expect(log?.entries.at(-1)?.message.timestamp).toBe("2026-01-01T00:00:03.000Z")
})
