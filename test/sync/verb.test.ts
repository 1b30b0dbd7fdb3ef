/** The verb as people run it: a process, a home, a store in it. */
import { expect, test } from "bun:test"
import { existsSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { writeSampleSession } from "../../build/sample-session.ts"
import { runPond, temporaryHome } from "../support/pond-process.ts"

const STORE = ".local/share/pond/store"

async function sync(home: { readonly env: Readonly<Record<string, string>> }) {
  const { stdout } = await runPond(["sync", "--json", "--only", "import"], home)
  const document = JSON.parse(stdout) as {
    adapters: { sessions: { new: number; unchanged: number }; messages: { new: number } }[]
  }
  return document.adapters[0]
}

test("a store that was deleted is filled again, whatever is remembered of the sources", async () => {
  using home = temporaryHome()
  writeSampleSession(home.path)
  expect(await sync(home)).toMatchObject({ sessions: { new: 1 }, messages: { new: 2 } })
  expect(await sync(home)).toMatchObject({ sessions: { new: 0, unchanged: 1 }, messages: { new: 0 } })
  expect(existsSync(join(home.path, STORE))).toBe(true)
  rmSync(join(home.path, STORE), { recursive: true })
  expect(await sync(home)).toMatchObject({ sessions: { new: 1 }, messages: { new: 2 } })
  expect(await sync(home)).toMatchObject({ sessions: { new: 0, unchanged: 1 }, messages: { new: 0 } })
})

test.each([
  ["nothing, which is thirty days", undefined, "for 30 days"],
  ["a week", '{"cleanupPeriodDays":7}', "for 7 days"],
  ["for ever, nearly", '{"cleanupPeriodDays":99999}', undefined],
  ["what cannot be read", '{"cleanupPeriodDays":', "for 30 days"],
])("a client whose settings say %s deletes by that, and a sync says so", async (_, settings, want) => {
  using home = temporaryHome()
  writeSampleSession(home.path)
  if (settings !== undefined) writeFileSync(join(home.path, ".claude/settings.json"), settings)
  const { stdout } = await runPond(["sync", "--only", "import"], home)
  expect(stdout).toContain("claude-code")
  if (want === undefined) expect(stdout).not.toContain("deletes sessions")
  else expect(stdout).toContain(`it deletes sessions that nothing touched ${want}`)
})
