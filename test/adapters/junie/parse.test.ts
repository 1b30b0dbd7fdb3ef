import { expect, test } from "bun:test"
import { junie } from "../../../src/adapters/junie/adapter.ts"
import { withoutSuperseded } from "../../../src/model/superseded.ts"
import { temporaryHome } from "../../support/pond-process.ts"
import { logsOfFixture } from "../told.ts"

async function last(name: string): Promise<string[]> {
  const [log] = await logsOfFixture(junie, name)
  if (log === undefined) throw new Error("no session")
  return junie.context(withoutSuperseded(log), []).flatMap(({ message, parts }) =>
    parts.map((part) => {
      if (part.type === "text") return `${message.role}: ${part.text}`
      return "call_id" in part ? `${message.role}: ${part.type} ${part.call_id}` : part.type
    }),
  )
}

test("of a block that is written again the last one counts", async () => {
  expect(await last("tools")).toEqual([
    "user: List the files. 🪁",
    "assistant: I look.",
    "assistant: tool_call s2",
    "tool: tool_result s2",
    "assistant: tool_call s3",
    "tool: tool_result s3",
    "assistant: tool_call s4",
    "assistant: tool_call s5",
    "assistant: There is a.md.",
  ])
  expect(await last("finished")).toEqual([
    "user: Look.",
    "assistant: I look.",
    "assistant: tool_call s2",
    "tool: tool_result s2",
    "assistant: Done.",
  ])
})

test("the list says where a session ran; settings and logins beside are no sessions", async () => {
  const [first, second] = await logsOfFixture(junie, "two")
  expect([first?.session.project, second?.session.project]).toEqual(["/projects/beta", "junie"])
  using home = temporaryHome()
  await Bun.write(`${home.path}/config.json`, "{}")
  await Bun.write(`${home.path}/events.jsonl`, "{}\n")
  await Bun.write(`${home.path}/mcp/events.jsonl`, "{}\n")
  expect(await Array.fromAsync(junie.source.plan(home.path))).toEqual([])
})
