import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { claudeCode } from "../../../src/adapters/claude-code/adapter.ts"
import { claudePrompts, codexPrompts } from "../../../src/adapters/prompts/adapter.ts"
import { planRestoreOf } from "../../../src/operations/machine/restore.ts"
import { syncPond } from "../../../src/operations/machine/sync.ts"
import { eraseSessions } from "../../../src/operations/wire/erase-sessions.ts"
import { sessions } from "../../../src/operations/wire/sessions.ts"
import { fixturesOf, logsOf } from "../../contract/fixtures.ts"
import { memoryPond, type TestPond } from "../../operations/support.ts"
import { told } from "../told.ts"

const GONE = "a0000001-0000-4000-8000-00000000000a"
const KEPT = "a0000002-0000-4000-8000-00000000000a"

test("only prompts of sessions that are gone, each session a record", async () => {
  expect(await told(claudePrompts, "gone")).toEqual([
    ["user: Why does the test fail?", "user: Fix it then. 直して 🚀", "user: /compact"],
    ["user: And the docs?"],
  ])
  expect(await told(codexPrompts, "gone")).toEqual([["user: Add a flag.", "user: Now test it."]])
})

test("a pasted text is said too, and a picture is named by its prompt alone", async () => {
  expect(await told(claudePrompts, "pasted")).toEqual([
    ["user: Look: [Pasted text #1 +2 lines] and [Image #2]", "user: line one line two"],
  ])
})

test("nothing is read unless it is asked for by name", () => {
  const environment = { HOME: "/home/nobody" }
  expect(claudePrompts.source.roots(environment, "/home/nobody")).toEqual([])
  const root = rootOf("gone")
  expect(claudePrompts.source.askedRoots?.({ CLAUDE_CONFIG_DIR: root }, "/home/nobody")).toEqual([root])
})

test("a line that is none is said", () => {
  const folder = mkdtempSync(join(tmpdir(), "pond-prompts-"))
  writeFileSync(join(folder, "history.jsonl"), '{"display":"cut')
  expect([...(claudePrompts.source.plan(folder) as Iterable<object>)]).toMatchObject([{ kind: "unparsable_line" }])
  rmSync(folder, { recursive: true })
})

function rootOf(name: string): string {
  return fixturesOf(claudePrompts).find((each) => each.name === name)?.root ?? ""
}

let place: TestPond
beforeAll(() => {
  place = memoryPond()
})
afterAll(() => place[Symbol.dispose]())

async function sync(root: string): Promise<void> {
  const { signal } = new AbortController()
  const options = {
    adapters: ["claude-prompts"],
    path: root,
    only: ["import" as const],
    skip: [],
    isFull: true,
    isPatient: true,
  }
  await syncPond(place.pond, options, { signal })
}

interface Listed {
  readonly sessions: readonly { readonly session_id: string; readonly prompts_only?: boolean }[]
}

test("a session that is stored or erased leaves no prompts; the others are listed as what they are, and go on in no client", async () => {
  const folder = join(place.place.path, "logs")
  mkdirSync(folder, { recursive: true })
  const [log] = [...(await logsOf(claudeCode, rootOf("gone"))).values()]
  if (log === undefined) throw new Error("no log")
  const id = "a0000003-0000-4000-8000-00000000000a"
  const entries = log.entries.map(({ message, parts }) => ({
    message: { ...message, session_id: id },
    parts: parts.map((part) => ({ ...part, session_id: id })),
  }))
  await place.place.sessions.write([{ session: { ...log.session, id }, entries: entries as never }])
  await sync(rootOf("gone"))
  const listed = ((await place.run(sessions, {})) as Listed).sessions
  expect(listed.map(({ session_id, prompts_only }) => [session_id, prompts_only ?? false]).toSorted()).toEqual([
    [`${GONE}:claude-prompts`, true],
    [id, false],
  ])
  expect(listed.map(({ session_id }) => session_id)).not.toContain(`${KEPT}:claude-prompts`)
  const options = { sessionId: `${GONE}:claude-prompts`, to: "codex", cwd: "/work", reasoning: "keep" as const }
  const planned = planRestoreOf(place.pond, { ...options, isForced: false })
  await expect(planned).rejects.toThrow("is a record of prompts")
  await place.run(eraseSessions, { session_ids: [id] })
  await sync(rootOf("gone"))
  const after = ((await place.run(sessions, {})) as Listed).sessions
  expect(after.map(({ session_id }) => session_id)).toEqual([`${GONE}:claude-prompts`])
  rmSync(folder, { recursive: true })
})
