import { expect, test } from "bun:test"
import { letta } from "../../../src/adapters/letta/adapter.ts"
import { logsOfFixture, told } from "../told.ts"

test("a line has a call with its result, and a conversation is known with its agent", async () => {
  expect(await told(letta, "tools")).toEqual([
    [
      "user: List the files. 🧠",
      "assistant: thinks First the list.",
      "assistant: I look.",
      "assistant: calls Bash as toolu_1",
      "tool: answers toolu_1",
      "assistant: calls Read as toolu_2",
      "tool: answers toolu_2, failed",
      "assistant: There is a.md.",
    ],
  ])
  expect((await told(letta, "early"))[0]?.slice(1)).toEqual([
    "assistant: calls Bash as Bash",
    "user, injected: Stream error",
    "assistant: Later.",
  ])
  const ids = (await logsOfFixture(letta, "two")).map(({ session }) => session.id)
  expect(ids).toEqual(["agent-1:default", "agent-1:local-conv-2", "agent-2:default"])
})
