import { expect, test } from "bun:test"
import { kiroIde } from "../../../src/adapters/kiro/ide.ts"
import { temporaryHome } from "../../support/pond-process.ts"
import { logsOfFixture, told } from "../told.ts"

test("a session of a workspace has what its runs said and did", async () => {
  expect(await told(kiroIde, "session")).toEqual([
    [
      "user: Write hello.",
      "assistant: I write it.",
      "assistant: calls create as a2",
      "tool: answers a2",
      "assistant: calls readCode as a3",
      "user: And?",
      "assistant: That is all.",
    ],
  ])
  const [log] = await logsOfFixture(kiroIde, "log")
  expect(log?.session).toMatchObject({ project: "/projects/alpha", created_at: "2026-06-01T10:00:00.000Z" })
})

test("in a chat of one run the person's words stand between tags", async () => {
  expect((await told(kiroIde, "run"))[0]).toEqual([
    "user, injected: # System Prompt You are Kiro.",
    "assistant: I will follow these instructions.",
    "user, injected: <kiro-ide-message>",
    "user: List the files. 👻",
    "user, injected: </kiro-ide-message>",
    "user, injected: a.md",
    "assistant: There is a.md.",
  ])
})

test("a folder of settings has no sessions", async () => {
  using home = temporaryHome()
  for (const name of ["settings.json", "config.chat", "sessions.json", "workspace-sessions/settings.json"])
    await Bun.write(`${home.path}/${name}`, "{}")
  expect(await Array.fromAsync(kiroIde.source.plan(home.path))).toEqual([])
})
