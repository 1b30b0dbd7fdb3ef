import { expect, test } from "bun:test"
import { sourceOf } from "../../../src/adapters/shared/native.ts"
import { warp } from "../../../src/adapters/warp/adapter.ts"
import { temporaryHome } from "../../support/pond-process.ts"
import { logsOfFixture, told } from "../told.ts"

test("what agents said stands in the bytes of their tasks: calls have their results, an agent a session of its own", async () => {
  expect(await told(warp, "tools")).toEqual([
    [
      "user: List the files. 📁",
      "user: shows image/png with bytes",
      "assistant: thinks First the list.",
      "assistant: I look.",
      "assistant: calls run_shell_command as toolu_1",
      "tool: answers toolu_1",
      "assistant: calls run_shell_command as toolu_2",
      "tool: answers toolu_2, failed",
      "assistant: calls call_mcp_tool as toolu_3",
      "tool: answers toolu_3",
      "assistant: calls subagent as toolu_4",
      "tool: answers toolu_4",
      "assistant: There is a.md.",
    ],
    ["user: Dig.", "assistant: Dug."],
  ])
  const [log, agent] = await logsOfFixture(warp, "tools")
  expect(agent?.session).toMatchObject({
    source_agent: "warp/digger",
    parent_session_id: log?.session.id,
    options: { pond: { spawned_by: "toolu_4" } },
  })
  const calls = log?.entries.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "tool_call" ? [part.params] : [])),
  )
  expect(calls?.[2]).toEqual({ name: "look_up", args: { depth: 2.5, words: ["x", true, null] } })
  expect(log?.entries.some(({ message }) => JSON.stringify(message).includes("secret of the shell"))).toBe(false)
})

test("prompts of the program and summaries are injected; of conversations of before the prompts alone are there", async () => {
  expect((await told(warp, "summed"))[0]).toEqual([
    "user, injected: It began.",
    "user, injected: Fix the errors.",
    "user: Review it.",
    "assistant: Reviewed.",
  ])
  expect(await told(warp, "prompts")).toEqual([["user: What is this?", "user: And that?"]])
})

test("a number that no double holds, and bytes that no schema names, stay in their records", async () => {
  const [log] = await logsOfFixture(warp, "damaged")
  const kept = JSON.stringify(log?.entries.map(({ message }) => sourceOf(message)))
  expect(kept).toContain('"CICAgICAgICAgAE="')
})

test("Warp keeps the newest 200 conversations", async () => {
  using home = temporaryHome()
  expect(warp.retention?.of(home.path)).toBeUndefined()
  await Bun.write(`${home.path}/warp.sqlite`, "")
  expect(warp.retention?.of(home.path)).toEqual({ sessions: 200 })
})
