/** Clients that keep sessions in the directory that they are about: a restore writes there, and beside what lies there. */
import { expect, test } from "bun:test"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { aider } from "../../src/adapters/aider/adapter.ts"
import { claudeCode } from "../../src/adapters/claude-code/adapter.ts"
import type { RestoreReport } from "../../src/operations/machine/restore.ts"
import { restore } from "../../src/operations/machine/restore-operations.ts"
import { logsOf } from "../contract/fixtures.ts"
import { memoryPond } from "../operations/support.ts"

const FIXTURES = join(import.meta.dir, "../../fixtures")
const HISTORY = ".aider.chat.history.md"
const OTHER = "\n# aider chat started at 2026-01-01 01:01:01\n\n#### mine  \n\nanswered\n"

test("a session of another client gets a history for itself, in the directory that it goes on in", async () => {
  using box = memoryPond()
  const project = join(box.place.path, "project")
  mkdirSync(project)
  writeFileSync(join(project, HISTORY), OTHER)
  const [log] = (await logsOf(claudeCode, join(FIXTURES, "claude-code/long/root"))).values()
  if (log === undefined) throw new Error("no fixture")
  await box.place.sessions.write([log])
  const asked = { session: log.session.id, to: "aider", cwd: project }
  const report = (await box.run(restore, asked)) as RestoreReport
  const name = `.aider.chat.history.${report.session_id}.md`
  expect(new Set(readdirSync(project))).toEqual(new Set([HISTORY, name]))
  expect(report.resume).toMatchObject({
    command: ["aider", "--chat-history-file", name, "--restore-chat-history"],
    cwd: project,
  })
  expect(readFileSync(join(project, HISTORY), "utf8")).toBe(OTHER)
})

test("a session of its own is added to the history of its directory, and once", async () => {
  using box = memoryPond()
  const project = join(box.place.path, "project")
  mkdirSync(project)
  writeFileSync(join(project, HISTORY), OTHER)
  const [log] = (await logsOf(aider, join(FIXTURES, "aider/restored/root"))).values()
  if (log === undefined) throw new Error("no fixture")
  const session = { ...log.session, project }
  await box.place.sessions.write([{ ...log, session }])
  for (let times = 0; times < 2; times++) {
    const { resume } = (await box.run(restore, { session: session.id })) as RestoreReport
    expect(resume.command).toEqual(["aider", "--restore-chat-history"])
  }
  const own = readFileSync(join(FIXTURES, "aider/restored/root", HISTORY), "utf8")
  expect(readFileSync(join(project, HISTORY), "utf8")).toBe(`${OTHER}${own}`)
})

test("no directory is made because a session names it", async () => {
  using box = memoryPond()
  const [log] = (await logsOf(aider, join(FIXTURES, "aider/restored/root"))).values()
  if (log === undefined) throw new Error("no fixture")
  const project = join(box.place.path, "nowhere/at/all")
  await box.place.sessions.write([{ ...log, session: { ...log.session, project } }])
  const refused = box.run(restore, { session: log.session.id })
  await expect(refused).rejects.toMatchObject({ code: "not_found", message: expect.stringContaining("--cwd") })
  expect(readdirSync(box.place.path)).not.toContain("nowhere")
})
