/** Tasks of Cowork in Claude desktop: what is looked at below its folder, what is left alone, and where a restore goes. */
import { expect, test } from "bun:test"
import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { SourceUnit } from "../../../src/adapters/adapter.ts"
import { claudeDesktop } from "../../../src/adapters/claude-code/adapter.ts"
import { isAllowedPath } from "../../../src/restore/allowed-output.ts"
import { logsOf } from "../../contract/fixtures.ts"
import { tempFolder } from "../../support/temp-folder.ts"

const FIXTURES = join(import.meta.dir, "../../../fixtures/claude-desktop")
const PLACE = "0b6c1a52-3f1d-4a7e-9c55-6a1f2b3c4d5e/7d2e9f10-88a1-4c3b-b1d4-0f9e8d7c6b5a"
const TASK = `${PLACE}/local_33b35c18-1111-4222-8333-444455556666`
const NOBODY = "00000000-0000-4000-8000-000000000000"

async function planOf(root: string) {
  const files: string[] = []
  const issues: string[] = []
  for await (const found of claudeDesktop.source.plan(root)) {
    if ("files" in found) files.push(...(found as SourceUnit).files.map(({ relativePath }) => relativePath))
    else issues.push(`${found.kind} ${found.file}`)
  }
  return { files, issues }
}

test("a task is its log and its record; the audit beside a log, keys, logins and files of the person are not read", async () => {
  using root = tempFolder()
  cpSync(join(FIXTURES, "tools/root"), root.path, { recursive: true })
  for (const place of [".audit-key", ".claude/.claude.json", ".claude/.credentials.json", ".claude/history.jsonl"])
    writeFileSync(join(root.path, TASK, place), "{}")
  for (const folder of ["uploads", "outputs", ".claude/projects/-work-alpha/memory"]) {
    mkdirSync(join(root.path, TASK, folder))
    writeFileSync(join(root.path, TASK, folder, "own.jsonl"), "{}\n")
  }
  writeFileSync(join(root.path, PLACE, "cowork_settings.json"), "{}")
  expect(await planOf(root.path)).toEqual({
    files: [`${TASK}/.claude/projects/-work-alpha/48868705-d949-4c88-a1ca-9484aeb8c9f8.jsonl`, `${TASK}.json`],
    issues: [],
  })
})

test("a link in the place of the settings of a task leads nowhere", async () => {
  using root = tempFolder()
  cpSync(join(FIXTURES, "tools/root"), root.path, { recursive: true })
  renameSync(join(root.path, TASK, ".claude"), join(root.path, "elsewhere"))
  symlinkSync(join(root.path, "elsewhere"), join(root.path, TASK, ".claude"))
  expect((await planOf(root.path)).files).toEqual([`${TASK}/audit.jsonl`, `${TASK}.json`])
})

test("a task of which nothing is left on this disk is named", async () => {
  using root = tempFolder()
  cpSync(join(FIXTURES, "tools/root"), root.path, { recursive: true })
  rmSync(join(root.path, TASK), { recursive: true })
  expect(await planOf(root.path)).toEqual({ files: [], issues: [`orphan_file ${TASK}.json`] })
})

test("the folder that the person chose is the project, and the title is that of the record", async () => {
  const [log] = [...(await logsOf(claudeDesktop, join(FIXTURES, "audit/root"))).values()]
  expect(log?.session).toMatchObject({ project: "/work/alpha", title: "Cowork: in its first machines" })
  expect(log?.session.id).toBe("3c1d5e7f-9a0b-4c2d-8e4f-1a2b3c4d5e6f")
})

test("what is written for nobody goes to the account that was at work last", () => {
  using root = tempFolder()
  const older = "aaaaaaaa-3f1d-4a7e-9c55-6a1f2b3c4d5e/bbbbbbbb-3f1d-4a7e-9c55-6a1f2b3c4d5e"
  for (const [place, at] of [
    [PLACE, 2_000_000],
    [older, 1_000_000],
    [`${NOBODY}/${NOBODY}`, 3_000_000],
  ] as const) {
    mkdirSync(join(root.path, place), { recursive: true })
    utimesSync(join(root.path, place), at, at)
  }
  const current = claudeDesktop.relocation?.currentPath?.(root.path)
  expect(current?.(`${NOBODY}/${NOBODY}/local_x.json`)).toBe(`${PLACE}/local_x.json`)
  expect(current?.(`${older}/local_x.json`)).toBe(`${older}/local_x.json`)
})

test.each([
  `${TASK}/.audit-key`,
  `${TASK}/.claude/.claude.json`,
  `${TASK}/.claude/settings.json`,
  `${TASK}/.claude/commands/deploy.md`,
  `${TASK}/.claude/projects/-work-alpha/memory/MEMORY.md`,
  `${TASK}/.claude/projects/-work-alpha/.claude/settings.json`,
  `${TASK}/.claude/projects/.claude/48868705-d949-4c88-a1ca-9484aeb8c9f8.jsonl`,
  `${PLACE}/cowork_settings.json`,
  `.claude/projects/-work-alpha/48868705-d949-4c88-a1ca-9484aeb8c9f8.jsonl`,
])("nothing of a session is written to %s", (place) => {
  expect(isAllowedPath(claudeDesktop, place)).toBe(false)
})
