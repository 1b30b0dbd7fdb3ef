import { expect, test } from "bun:test"
import { gptme } from "../../../src/adapters/gptme/adapter.ts"
import { told } from "../told.ts"

test("what came of a tool is injected, whoever the log says that said it", async () => {
  const [tools] = await told(gptme, "tools")
  expect(tools?.slice(2)).toEqual([
    "user, injected: Saved file: hello.py",
    "user: Run it. 🚀",
    "assistant: Running.",
    "user, injected: hi",
  ])
  expect((await told(gptme, "early"))[0]?.at(-1)).toBe("user, injected: a.md")
})
