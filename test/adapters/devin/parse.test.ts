import { expect, test } from "bun:test"
import { devin } from "../../../src/adapters/devin/adapter.ts"
import type { JsonValue } from "../../../src/model/json.ts"
import { logsOfFixture, told } from "../told.ts"

test("what was said is read from the transcript, and from the nodes where there is none", async () => {
  expect((await told(devin, "transcript"))[0]).toEqual([
    "user: List the files. 🦊",
    "assistant: thinks First the list.",
    "assistant: I look.",
    "assistant: calls shell as c1",
    "tool: answers c1",
    "assistant: There is a.md.",
  ])
  expect((await told(devin, "nodes"))[0]).toEqual([
    "user: Read it.",
    "assistant: thinks A file.",
    "assistant: I read.",
    "assistant: calls read_file as c1",
    "tool: answers c1",
    "assistant: calls shell as c2",
    "tool: answers c2, failed",
    "assistant: Read.",
  ])
  const [log] = await logsOfFixture(devin, "transcript")
  expect(JSON.stringify(log)).not.toContain("never read")
})

test("tokens of a step, of which some were read from a cache", async () => {
  const [log] = await logsOfFixture(devin, "transcript")
  const records = log?.entries.flatMap(({ message }) => {
    const { source } = message.options as { source?: { record?: JsonValue } }
    return source?.record === undefined ? [] : [source.record]
  })
  const all = records?.flatMap((record) => devin.usage?.read({ record, sessionId: "s" }, {}) ?? [])
  expect(all?.map(({ key, model, input, output, cacheRead }) => [key, model, input, output, cacheRead])).toEqual([
    ["s 3", "claude-opus-4-5", 400, 40, 500],
    ["s 4", undefined, 100, 10, 900],
  ])
})
