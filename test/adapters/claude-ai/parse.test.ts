import { expect, test } from "bun:test"
import { claudeAi } from "../../../src/adapters/claude-ai/adapter.ts"
import { told } from "../told.ts"

test("an answer is cut where a result stands, and a result without an id finds its call", async () => {
  const unnamed = "repl aa000000-0000-4000-8000-000000000012 2026-02-03T04:05:05.123456Z"
  expect(await told(claudeAi, "tools")).toEqual([
    [
      "user: Weather in Oslo?",
      "user, injected: shows notes.md",
      "user: shows application/octet-stream",
      "user: shows photo.jpg",
      "assistant: I look it up.",
      "assistant: calls web_search as toolu_01",
      "tool: answers toolu_01",
      `assistant: calls repl as ${unnamed}`,
      `tool: answers ${unnamed}`,
      "assistant: calls bash_tool as toolu_03",
      "tool: answers toolu_03, failed",
      "assistant: 4 degrees.",
      "user: Make a page of it.",
      "assistant: calls artifacts as toolu_04",
      "tool: answers toolu_04",
      "assistant: Here.",
    ],
  ])
})

test("early messages have a text and no blocks; where parents are named the last branch is alive", async () => {
  expect((await told(claudeAi, "plain"))[0]?.slice(-2)).toEqual([
    "user: No blocks, as early exports have it.",
    "assistant: Then the text is what was said.",
  ])
  expect(await told(claudeAi, "branches")).toEqual([
    ["user: A joke?", "assistant: Second joke.", "user: Better.", "assistant: Thank you."],
  ])
})
