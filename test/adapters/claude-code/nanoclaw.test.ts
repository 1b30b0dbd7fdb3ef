/** NanoClaw: what people wrote in a chat is told apart from the prompt that was put together of it. */
import { expect, test } from "bun:test"
import { join } from "node:path"
import { nanoclaw } from "../../../src/adapters/claude-code/adapter.ts"
import { logsOf } from "../../contract/fixtures.ts"
import { told } from "../told.ts"

const FIXTURES = join(import.meta.dir, "../../../fixtures/nanoclaw")

test("of a prompt only what stands in messages was written by people", async () => {
  const [items] = await told(nanoclaw, "chat")
  expect(items?.filter((item) => item.startsWith("user:"))).toEqual([
    "user: What is on &amp; off today? 🚀",
    "user: And tomorrow?",
  ])
  expect(items?.[0]).toStartWith("user, injected: <context")
})

test("work at a set time was written by nobody", async () => {
  const all = (await told(nanoclaw, "rotated")).flat()
  expect(all.filter((item) => item.startsWith("user:"))).toEqual(["user: Go on."])
})

test("the project is the group, and a log that was put aside is a session for itself", async () => {
  const logs = [...(await logsOf(nanoclaw, join(FIXTURES, "rotated/root"))).values()]
  expect(logs.map(({ session }) => session.project)).toEqual(["ag-work", "ag-work"])
  expect(new Set(logs.map(({ session }) => session.id)).size).toBe(2)
  expect(logs.map(({ session }) => session.id).every((id) => nanoclaw.output.sessionIds.test(id))).toBe(true)
})
