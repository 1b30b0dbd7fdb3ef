import { expect, test } from "bun:test"
import { join } from "node:path"
import type { SourceUnit } from "../../../src/adapters/adapter.ts"
import { ohMyOpencode } from "../../../src/adapters/oh-my-opencode/adapter.ts"
import { fixturesOf } from "../../contract/fixtures.ts"
import { logsOfFixture, told } from "../told.ts"

test("results go with the call of the same name and input, and a call that is made twice comes twice", async () => {
  expect(await told(ohMyOpencode, "tools")).toEqual([
    [
      "user: List the files. 🧠",
      "assistant: calls bash as row-0dfad036b5338c30",
      "assistant: calls read as row-c99403575c498721",
      "tool: answers row-c99403575c498721",
      "tool: answers row-0dfad036b5338c30",
      "assistant: There is a.md. 直",
    ],
  ])
  expect((await told(ohMyOpencode, "two"))[0]).toHaveLength(5)
})

test("a transcript is a copy of opencode's session: called what it is, below that session, left out where that is stored", async () => {
  const id = "ses_4a1b2c3d4ffeABCDEFGHIJKLMN"
  const [log] = await logsOfFixture(ohMyOpencode, "tools")
  expect(log?.session).toMatchObject({
    ...{ id: `${id}:oh-my-opencode`, source_agent: "oh-my-opencode", parent_session_id: id, project: "oh-my-opencode" },
  })
  const root = fixturesOf(ohMyOpencode).find(({ name }) => name === "tools")?.root ?? ""
  const [unit] = [...(ohMyOpencode.source.plan(root) as Iterable<SourceUnit>)]
  expect(unit?.insteadOf).toEqual({ id, source_agent: "opencode" })
  const [file] = [...(ohMyOpencode.source.plan(join(root, "transcripts", `${id}.jsonl`)) as Iterable<SourceUnit>)]
  expect(file?.insteadOf).toEqual({ id, source_agent: "opencode" })
})

test("nothing is read unless it is asked for by name", () => {
  const root = fixturesOf(ohMyOpencode).find(({ name }) => name === "tools")?.root ?? ""
  expect(ohMyOpencode.source.roots({ CLAUDE_CONFIG_DIR: root }, "/home/nobody")).toEqual([])
  expect(ohMyOpencode.source.askedRoots?.({ CLAUDE_CONFIG_DIR: root }, "/home/nobody")).toEqual([root])
})
