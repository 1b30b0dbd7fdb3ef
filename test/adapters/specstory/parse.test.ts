import { expect, test } from "bun:test"
import { entire } from "../../../src/adapters/claude-code/adapter.ts"
import { specstory } from "../../../src/adapters/specstory/adapter.ts"
import { logsOfFixture, told } from "../told.ts"

test("a turn that a tool has read is no turn", async () => {
  const [turns] = await told(specstory, "tools")
  expect(turns?.map((line) => line.slice(0, 40))).toEqual([
    "user: What does it say? 読んで",
    "assistant: thinks <think><details><summa",
    "assistant: I look.",
    "assistant, injected: <tool-use data-tool",
    "assistant: It says nothing. ✅",
  ])
  const [log] = await logsOfFixture(specstory, "tools")
  expect(log?.session).toMatchObject({
    id: "a0000001-0000-4000-8000-00000000000b:specstory",
    created_at: "2026-03-06T17:57:45.000Z",
  })
})

test("marks of before say who spoke, and no more", async () => {
  expect(await told(specstory, "early")).toEqual([["user: Fix it.", "assistant: Done."]])
})

test("of the checkpoints of a session the longest is read, once", async () => {
  const logs = await logsOfFixture(entire, "growing")
  expect(logs.map(({ session, entries }) => [session.id, entries.length])).toEqual([
    ["c0000001-0000-4000-8000-00000000000c:entire", 7],
  ])
  expect((await told(entire, "growing"))[0]?.at(-1)).toBe("assistant: answer 2")
})
