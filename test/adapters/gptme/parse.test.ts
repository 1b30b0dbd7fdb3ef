import { expect, test } from "bun:test"
import { gptme } from "../../../src/adapters/gptme/adapter.ts"
import { logsOf } from "../../contract/fixtures.ts"
import { temporaryHome } from "../../support/pond-process.ts"
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

test("a log that begins with an empty text has the moment of its file", async () => {
  using home = temporaryHome()
  await Bun.write(`${home.path}/2026-06-16-empty/conversation.jsonl`, '""\n{"role":"user","content":"Go on."}\n')
  const [log] = [...(await logsOf(gptme, home.path)).values()]
  expect(log?.session.created_at).toMatch(/^\d{4}-/)
})
