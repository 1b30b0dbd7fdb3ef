import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { SourceUnit } from "../../../src/adapters/adapter.ts"
import { claudeCode } from "../../../src/adapters/claude-code/adapter.ts"
import { claudePrompts, codexPrompts } from "../../../src/adapters/prompts/adapter.ts"
import type { Issue } from "../../../src/model/report.ts"
import { planRestoreOf } from "../../../src/operations/machine/restore.ts"
import { syncPond } from "../../../src/operations/machine/sync.ts"
import { eraseSessions } from "../../../src/operations/wire/erase-sessions.ts"
import { sessions } from "../../../src/operations/wire/sessions.ts"
import { fixturesOf, logsOf } from "../../contract/fixtures.ts"
import { memoryPond, type TestPond } from "../../operations/support.ts"
import { logsOfFixture, told } from "../told.ts"

const GONE = "a0000001-0000-4000-8000-00000000000a"
const OF_A_DAY = "2025-11-20-ec057b83:claude-prompts"
const KEPT = "a0000002-0000-4000-8000-00000000000a"

test("only prompts of sessions that are gone, each session a record", async () => {
  expect(await told(claudePrompts, "gone")).toEqual([
    ["user: an old prompt"],
    ["user: Why does the test fail?", "user: Fix it then. 直して 🚀", "user: /compact"],
    ["user: And the docs?"],
  ])
  expect(await told(codexPrompts, "gone")).toEqual([["user: Add a flag.", "user: Now test it."]])
})

test("a pasted text is said too, and a picture is named by its prompt alone", async () => {
  expect(await told(claudePrompts, "pasted")).toEqual([
    [
      "user: Look: [Pasted text #1 +2 lines] and [Image #2]",
      "user: line one line two",
      "user: And this: [Pasted text #1 +2 lines]",
      "user: a long text of many lines",
    ],
  ])
})

test("prompts of 2025, which name no session, are a record for each day of a project", async () => {
  const logs = await logsOfFixture(claudePrompts, "of-2025")
  const days = logs.map(({ session }) => session.id.replace(/-[0-9a-f]{8}:claude-prompts$/, ""))
  expect(days).toEqual(["2025-09-01", "2025-10-09", "2025-10-09", "2025-10-10", "undated"])
  expect(logs.map(({ session }) => session.parent_session_id)).toEqual(Array(5).fill(undefined))
  expect(await told(claudePrompts, "of-2025")).toContainEqual(["user: first", "user: second 🚀"])
})

test("pasted texts that are no longer there are counted, and nothing but a file of the cache is opened for one", () => {
  const folder = mkdtempSync(join(tmpdir(), "pond-prompts-"))
  mkdirSync(join(folder, "paste-cache"))
  writeFileSync(join(folder, "0123456789abcdef.txt"), "elsewhere")
  symlinkSync(join(folder, "0123456789abcdef.txt"), join(folder, "paste-cache", "0123456789abcdef.txt"))
  const pastedContents = Object.fromEntries(
    ["fedcba9876543210", "../0123456789abcdef", "0123456789abcdef"].map((contentHash, at) => [at, { contentHash }]),
  )
  const line = { display: "Look", pastedContents, timestamp: 1, sessionId: GONE }
  writeFileSync(join(folder, "history.jsonl"), JSON.stringify(line))
  const [unit, issue, ...others] = [...(claudePrompts.source.plan(folder) as Iterable<SourceUnit | Issue>)]
  expect(issue).toMatchObject({ kind: "missing_paste", found: "pasted texts gone: 3" })
  expect(others).toEqual([])
  const [file] = (unit as SourceUnit).files
  expect(file && claudePrompts.assemble?.(file)).not.toContain("elsewhere")
  rmSync(folder, { recursive: true })
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
  writeFileSync(join(folder, "history.jsonl"), '{"apiKey":"of nobody"}')
  expect([...(claudePrompts.source.plan(folder) as Iterable<object>)]).toMatchObject([
    { kind: "unknown_record", found: "lines that hold no prompt: 1" },
  ])
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
    [OF_A_DAY, true],
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
  expect(new Set(after.map(({ session_id }) => session_id))).toEqual(new Set([OF_A_DAY, `${GONE}:claude-prompts`]))
  rmSync(folder, { recursive: true })
})
