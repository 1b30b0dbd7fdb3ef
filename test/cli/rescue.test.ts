/** `pond rescue`: every session of a client that is gone, in one that is used. */
import { expect, test } from "bun:test"
import { cpSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const FIXTURES = join(import.meta.dir, "../../fixtures")
/** Two sessions of Roo Code, as they lie in a backup of it. */
const SESSIONS = ["words", "condensed"]

test("what a client left is stored and written into another one, once, and can go on there", async () => {
  using home = temporaryHome()
  const backup = join(home.path, "backup")
  for (const name of SESSIONS) cpSync(join(FIXTURES, "roo-code", name, "root"), backup, { recursive: true })
  const run = async (...args: string[]) => await runPond(["rescue", "roo-code", ...args], { env: home.env })
  const document = async (...args: string[]) => JSON.parse((await run(...args, "--json", "-q")).stdout)
  const into = ["--to", "codex", "--root", join(home.path, "there"), "--cwd", home.path]

  const nothing = await run(...into, "--dry-run")
  expect(nothing).toMatchObject({ exitCode: 0 })
  expect(nothing.stdout).toContain("No session of Roo Code is stored. `pond sync roo-code`")

  const written = await document(...into, "--path", backup)
  expect(written.sessions.map(({ state }: { state: string }) => state)).toEqual(["written", "written"])

  // The other client's own reader finds both.
  const verified = await runPond(["verify", "codex", "--path", join(home.path, "there"), "--json"], { env: home.env })
  expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, adapters: [{ sessions: 2, mismatches: [] }] })

  const again = await document(...into)
  expect(again.sessions.map(({ state }: { state: string }) => state)).toEqual(["present", "present"])
  expect(again.losses).toEqual([])
})

test("a session that is refused is named, and the others are written all the same", async () => {
  using home = temporaryHome()
  const backup = join(home.path, "backup")
  for (const name of SESSIONS) cpSync(join(FIXTURES, "roo-code", name, "root"), backup, { recursive: true })
  const there = join(home.path, "there")
  const args = ["rescue", "roo-code", "--to", "codex", "--root", there, "--cwd", home.path]
  const first = JSON.parse((await runPond([...args, "--path", backup, "--json"], { env: home.env })).stdout)
  const [session] = first.sessions
  const files = [...new Bun.Glob("**/*.jsonl").scanSync({ cwd: there })]
  const changed = files.find((file) => file.includes(session.written_id)) ?? ""
  writeFileSync(join(there, changed), readFileSync(join(there, changed), "utf8").replace("\n", "\n{}\n"))

  const { stdout, exitCode } = await runPond(args, { env: home.env })
  expect(exitCode).toBe(4)
  expect(stdout).toContain("An earlier run wrote 1 session.")
  expect(stdout).toContain("Not converted: 1 session.")
  expect(stdout).toContain(session.session_id)
})
