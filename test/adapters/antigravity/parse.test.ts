import { expect, test } from "bun:test"
import { antigravity } from "../../../src/adapters/antigravity/adapter.ts"
import { temporaryHome } from "../../support/pond-process.ts"
import { logsOfFixture, told } from "../told.ts"

test("a result is told by its call; of a kind of step that is not known the transcript has the text", async () => {
  const [own, agent] = await told(antigravity, "tools")
  expect(own).toEqual([
    "user: List the files. 🪐",
    "user: shows image/png with bytes",
    "assistant: thinks First the list.",
    "assistant: I look.",
    "assistant: calls run_command as c1",
    "assistant: calls view_file as c2",
    "tool: answers c1",
    "tool: answers c2",
    "assistant: calls find_by_name as c3",
    "assistant: calls invoke_subagent as c4",
    "tool: answers c3, failed",
    "tool: answers c4",
    "user, injected: The command is done.",
    "assistant: There is a.md.",
  ])
  expect(agent).toEqual(["user: Dig.", "assistant: Dug."])
  const [log, child] = await logsOfFixture(antigravity, "tools")
  expect(child?.session).toMatchObject({ source_agent: "antigravity/digger", parent_session_id: log?.session.id })
  const results = log?.entries.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "tool_result" ? [part.result] : [])),
  )
  expect(results).toEqual(["a.md\n", "1: # A", "no such directory", "Dug."])
})

test("of an encrypted conversation the transcript is read, and without one the file is named", async () => {
  expect(await told(antigravity, "transcript")).toEqual([
    ["user, injected: # It began.", "user: Go on.", "assistant: There is a.md."],
  ])
  using home = temporaryHome()
  await Bun.write(`${home.path}/conversations/ea000009-0000-4000-8000-0000000000bb.pb`, "\u0001\u0002")
  await Bun.write(`${home.path}/conversations/oauth_creds.json`, "{}")
  const found = await Array.fromAsync(antigravity.source.plan(home.path))
  expect(found.map((each) => ("kind" in each ? each.kind : each.key))).toEqual(["encrypted_file"])
})

test("each response says its tokens once", async () => {
  const [log] = await logsOfFixture(antigravity, "tools")
  const memory = {}
  const all = log?.entries.flatMap(({ message }) => {
    const record = (message.options as { source?: { record?: never } }).source?.record
    return record === undefined ? [] : (antigravity.usage?.read({ record, sessionId: "s" }, memory) ?? [])
  })
  expect(all?.map(({ input, output, reasoning, cacheRead }) => [input, output, reasoning, cacheRead])).toEqual([
    [900, 60, 20, 100],
    [1000, 30, 0, 900],
    [1100, 10, 0, 1000],
  ])
})
