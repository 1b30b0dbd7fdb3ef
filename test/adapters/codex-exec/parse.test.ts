import { expect, test } from "bun:test"
import { codexExec } from "../../../src/adapters/codex-exec/adapter.ts"
import { logsOfFixture, told } from "../told.ts"

test("an item that began is a call, and its end the result; one that was never told to begin is both", async () => {
  const [items] = await told(codexExec, "items")
  expect(items).toEqual([
    "assistant: calls docs__find as item_1",
    "tool: answers item_1",
    "assistant: calls web_search as item_2",
    "tool: answers item_2",
    "assistant: calls spawn_agent as item_3",
    "tool: answers item_3",
    "assistant: calls command_execution as item_4",
    "tool: answers item_4",
    "assistant: calls docs__open as item_5",
    "tool: answers item_5, failed",
    "assistant, injected: opaque",
    "assistant: Done: seven.",
    "assistant, injected: opaque",
  ])
  expect((await told(codexExec, "failed"))[1]).toEqual([
    "assistant: thinks Wait.",
    "assistant: calls command_execution as item_1",
  ])
})

test("a second run counts its items from anew, and its calls are its own", async () => {
  const [twice] = await told(codexExec, "twice")
  expect(twice?.filter((line) => line.includes("item_0"))).toEqual([
    "assistant: calls command_execution as item_0",
    "tool: answers item_0",
    "assistant: calls command_execution as item_0",
    "tool: answers item_0",
  ])
})

test("the id of a thread says when it began", async () => {
  const [log] = await logsOfFixture(codexExec, "tools")
  expect(log?.session.created_at).toBe("2026-11-20T12:55:14.061Z")
})
