import { expect, test } from "bun:test"
import { managedAgents } from "../../../src/adapters/managed-agents/adapter.ts"
import { logsOfFixture, told } from "../told.ts"

test("the id of a call is its event's, whoever answers it", async () => {
  expect(await told(managedAgents, "page")).toEqual([
    [
      "user: How many files? 数えて",
      "assistant: opaque",
      "assistant: I look.",
      "assistant: calls bash as sevt_0006",
      "tool: answers sevt_0006",
      "assistant: calls docs__find as sevt_0009",
      "tool: answers sevt_0009, failed",
      "assistant: Seven. ✅",
    ],
  ])
  expect((await told(managedAgents, "list"))[0]).toEqual([
    "user: shows image/png with bytes",
    "user: What is it?",
    "user: A name for it",
    "assistant: calls ask as sevt_0043",
    "tool: answers sevt_0043",
    "user, injected: Be brief.",
    "assistant: A cat.",
  ])
})

test("a thread is a session below its coordinator, and what they told each other was no person's", async () => {
  const [coordinator, delegate] = await logsOfFixture(managedAgents, "threads")
  expect(coordinator?.session).toMatchObject({
    id: "sesn_beta2",
    source_agent: "managed-agents",
    project: "researcher",
  })
  expect(delegate?.session).toMatchObject({
    id: "sesn_beta2:sthr_1",
    parent_session_id: "sesn_beta2",
    source_agent: "managed-agents/counter",
  })
  expect(await told(managedAgents, "threads")).toEqual([
    ["user: Share the work.", "assistant, injected: Count the files.", "user, injected: Two.", "assistant: Two files."],
    ["assistant: calls bash as sevt_0024", "tool: answers sevt_0024", "assistant: Two."],
  ])
})
