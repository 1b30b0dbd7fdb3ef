import { expect, test } from "bun:test"
import { atif } from "../../../src/adapters/atif/adapter.ts"
import { told } from "../told.ts"

test("a step of the agent becomes what it thought, said and called, and what was observed", async () => {
  expect(await told(atif, "tools")).toEqual([
    [
      "user: what is this",
      "user: shows image/png",
      "assistant: thinks look",
      "assistant: calls Bash as c1",
      "assistant: calls Task as c2",
      "tool: answers c1, failed",
      "tool: answers c2",
      "assistant: a picture 🖼",
    ],
  ])
  // Two steps that say the same are two.
  expect((await told(atif, "plain"))[1]).toEqual(["user: hi", "user: hi", "assistant: hello"])
})
