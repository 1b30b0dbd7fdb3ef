import { afterAll, beforeAll, expect, test } from "bun:test"
import { yoi } from "../../../src/adapters/yoi/adapter.ts"
import { get } from "../../../src/operations/wire/get.ts"
import { memoryPond, type TestPond } from "../../operations/support.ts"
import { logsOfFixture, told } from "../told.ts"

const segment = (number: number) => `0198c2f0-000${number}-7000-8000-00000000000a`

test("what a person sent is one message, and what the harness read for it another", async () => {
  const [first, compacted, forked] = await told(yoi, "tree")
  expect(first?.slice(0, 6)).toEqual([
    "user: look at",
    "user: src/main.rs",
    "user: pasted text",
    "user, injected: [File: src/main.rs] fn main() {}",
    "assistant: thinks inner 考え",
    "assistant: calls Bash as call_1",
  ])
  expect(first?.at(-1)).toBe("tool: answers call_2, failed")
  expect(compacted?.[0]).toStartWith("user, injected: [Compacted context summary]")
  expect(compacted?.slice(1)).toEqual([
    "user: look at @src/main.rs",
    "assistant: There is only src.",
    "user: Then add a test.",
    "assistant: Added. ✅",
  ])
  expect(forked).toEqual(["user: look at @src/main.rs", "user: Rather remove it.", "assistant: Removed."])
})

test("what a segment repeats of the one before is known as a copy, and its summary is not", async () => {
  const [, compacted] = await logsOfFixture(yoi, "tree")
  const copies = compacted?.entries.map(({ message }) => (message.options["pond"] as { replay_of?: string })?.replay_of)
  expect(copies?.slice(0, 5)).toEqual([undefined, undefined, segment(1), segment(1), undefined])
})

test("a worker that another one started is its agent; settings and keys of its record stay where they are", async () => {
  const [lead, helper] = await logsOfFixture(yoi, "workers")
  expect(lead?.session).toMatchObject({ source_agent: "yoi", project: "/work/demo", title: "lead" })
  expect(helper?.session).toMatchObject({ source_agent: "yoi/helper", parent_session_id: segment(4), title: "helper" })
  expect(JSON.stringify([lead, helper])).not.toContain("not to be read")
})

test("logs of spring 2026 say the same in lists of items", async () => {
  expect(await told(yoi, "flat")).toEqual([
    [
      "user: hello",
      "assistant: thinks hm",
      "assistant: hi",
      "assistant: calls Bash as c1",
      "tool: answers c1",
      "user: hooked",
    ],
  ])
})

let place: TestPond
beforeAll(async () => {
  place = memoryPond()
  await place.place.sessions.write(await logsOfFixture(yoi, "tree"))
})
afterAll(() => place[Symbol.dispose]())

test("the tree of a session has its compaction and its fork", async () => {
  const { tree } = (await place.run(get, { session_id: segment(1), tree: true })) as {
    readonly tree: readonly { readonly session: { readonly id: string }; readonly depth: number }[]
  }
  expect(tree.map(({ session, depth }) => [session.id, depth])).toEqual([
    [segment(1), 0],
    [segment(2), 1],
    [segment(3), 1],
  ])
})
