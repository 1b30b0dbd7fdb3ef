import { expect, test } from "bun:test"
import { chatgpt } from "../../../src/adapters/chatgpt/adapter.ts"
import { logsOfFixture, told } from "../told.ts"

const id = (number: string) => `d1000000-0000-4000-8000-0000000000${number}`

test("the live branch alone is sent, and pictures have their bytes", async () => {
  expect(await told(chatgpt, "zipped")).toEqual([
    [
      "user: shows image/png with bytes",
      "user: What is in this picture?",
      "assistant: A red dot, one pixel wide.",
      "user: Write a haiku about it.",
      "assistant: One small red dot waits \ue200cite\ue202turn0search0\ue201",
    ],
    ["user: Only asked."],
  ])
})

test("results find their call by the tree, two of one call and one of a tool that nobody called as well", async () => {
  const [tools, voice] = await told(chatgpt, "tools")
  expect(tools).toEqual([
    "user: Plot y = x.",
    "assistant: thinks I will use matplotlib.",
    "assistant: thinks Only a summary",
    `assistant: calls python as ${id("03")}`,
    `tool: answers ${id("03")}`,
    `tool: answers ${id("03")}`,
    "assistant, injected: Thought for 12 seconds",
    "assistant: Done: a line.",
    "user: Search for its name.",
    `assistant: calls web.run as ${id("09")}`,
    `tool: answers ${id("09")}`,
    `tool: answers ${id("09")}`,
    "assistant: It is the identity.",
    "user: Put that in a document.",
    `assistant: calls canmore.create_textdoc as ${id("14")}`,
    `tool: answers ${id("14")}`,
    `tool: answers ${id("09")}, failed`,
    "assistant: Here it is.",
  ])
  expect(voice).toEqual([
    "user: Hello there.",
    "user: shows application/octet-stream with bytes",
    "assistant: Hi! How can I help?",
    "assistant: shows application/octet-stream",
  ])
})

test("what the account says of itself is injected, and what the model does not see is not sent", async () => {
  const [early] = await told(chatgpt, "early")
  expect(early?.slice(0, 2)).toEqual(["user, injected: I write Rust.", "user, injected: Be brief."])
  expect(early).not.toContain("user: Thanks.")
})

test("of a tree that goes round in circles each message is there once", async () => {
  const [log] = await logsOfFixture(chatgpt, "damaged")
  const ids = log?.entries.map(({ message }) => message.id.slice(-3))
  expect(ids).toEqual(["son", "oot", "004", "001", "002", "003", "006"])
})
