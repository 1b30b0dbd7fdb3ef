import { expect, test } from "bun:test"
import { trae } from "../../../src/adapters/trae/adapter.ts"
import { temporaryHome } from "../../support/pond-process.ts"
import { logsOfFixture, told } from "../told.ts"

test("a chat that two workspaces have is one; an answer without a text is what its agent proposed", async () => {
  expect(await told(trae, "chats")).toEqual([["user: Say hello. 🛰️", "assistant: Hello."], ["user: And that?"]])
  expect((await told(trae, "agents")).at(-1)).toEqual([
    "user: Plan it.",
    "assistant: Look.",
    "assistant: Write.",
    "user: Do it.",
    "assistant: I do it.",
    "assistant: Done.",
  ])
  const [first, second] = await logsOfFixture(trae, "chats")
  expect([first?.session.project, second?.entries.at(-1)?.message.timestamp]).toEqual([
    "/projects/alpha",
    "2025-02-20T10:00:00.000Z",
  ])
})

test("a database that is encrypted is named, one that is not is left alone", async () => {
  using home = temporaryHome()
  const plan = async () => await Array.fromAsync(trae.source.plan(home.path))
  await Bun.write(`${home.path}/ModularData/ai-agent/database.db`, "SQLite format 3\0 and more")
  expect(await plan()).toEqual([])
  await Bun.write(`${home.path}/ModularData/ai-agent/database.db`, "\u0001\u0002\u0003 and more of it")
  expect(await plan()).toMatchObject([{ kind: "encrypted_file" }])
})
