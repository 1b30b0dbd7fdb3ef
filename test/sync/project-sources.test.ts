/** Sessions of clients that keep no list of their directories: found in the projects of others, and where they were named once. */
import { expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { runSync } from "../../src/sync/sync.ts"
import { SESSION, syncPlace, userLine } from "./support.ts"

const HISTORY = "\n# aider chat started at 2026-11-20 13:04:30\n\n#### a question of aider  \n\nan answer\n"

test("a history in the project of another client's session is found in the same sync, and by all that follow", async () => {
  using place = syncPlace()
  const project = mkdtempSync(join(tmpdir(), "pond-project-"))
  try {
    mkdirSync(join(project, "inner"))
    writeFileSync(join(project, ".aider.chat.history.md"), HISTORY)
    place.write(SESSION, [userLine(SESSION, 1, "hello").replace("/home/someone/work", project)])
    const inProjects = ADAPTERS.filter(({ source }) => source.isIn !== undefined)
    expect(inProjects.map(({ id }) => id)).toContain("aider")
    const sync = async () => (await runSync({ ...place.request, inProjects }, place.context)).adapters
    const reports = await sync()
    expect(reports.map(({ adapter, path, sessions }) => [adapter, path === project, sessions.new])).toEqual([
      ["claude-code", false, 1],
      ["aider", true, 1],
    ])
    expect((await sync()).map(({ sessions }) => sessions.unchanged)).toEqual([1, 1])
  } finally {
    rmSync(project, { recursive: true })
  }
})
