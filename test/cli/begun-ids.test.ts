/** A session by the beginning of its id, where nothing has that id itself. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { cpSync } from "node:fs"
import { join } from "node:path"
import { writeDemo } from "../../build/corpus/demo.ts"
import { SAMPLE_SESSION_ID, writeSampleSession } from "../../build/corpus/sample-session.ts"
import { type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

let home: TemporaryHome
beforeAll(async () => {
  home = temporaryHome()
  writeSampleSession(home.path)
  writeDemo(home.path)
  expect(await runPond(["sync", "-q"], home)).toMatchObject({ exitCode: 0 })
})
afterAll(() => home[Symbol.dispose]())

test.each([
  ["get 5b1e", "pond resume"],
  ["get 5b1e8f2c-7a94 --tree", "claude-code, 2 messages"],
  ["get 5b1e8f2c --format md", "Session: `"],
  ["restore 5b1e8f2c --to pi --dry-run", "Would convert 1 session to pi"],
  ["search the --session 5b1e8f2c", "pond resume 5b1e8f2c"],
  ["export -o HOME/one.pond --session 5b1e8f2c", "Exported 1 session, 2 messages"],
])("pond %s is of the session that begins so", async (line, said) => {
  const { exitCode, stdout } = await runPond(line.replace("HOME", home.path).split(" "), home)
  expect({ exitCode, isSaid: stdout.includes(said) }).toEqual({ exitCode: 0, isSaid: true })
  if (line.startsWith("get")) expect(stdout).toContain(SAMPLE_SESSION_ID)
})

test("a session with agents is meant by its beginning, and an agent by more of it", async () => {
  using own = temporaryHome()
  const [fixture, session] = ["claude-code/v2.0-flat-agents/root", "9876cc5e-d24a-4bbf-b731-68dd88ef6059"]
  cpSync(join(import.meta.dir, "../../fixtures", fixture), join(own.path, ".claude"), { recursive: true })
  expect(await runPond(["sync", "-q"], own)).toMatchObject({ exitCode: 0 })
  const [meant, agent, agents] = await Promise.all(
    ["9876", `${session}:agent-0c`, `${session}:agent-0`].map((id) => runPond(["get", id, "--json"], own)),
  )
  expect(JSON.parse(meant?.stdout ?? "")).toMatchObject({ session: { id: session } })
  expect(JSON.parse(agent?.stdout ?? "")).toMatchObject({ session: { id: `${session}:agent-0c8cd0cc` } })
  expect(agents?.stdout).toContain("is ambiguous. It matches")
})

test("several that begin so are named, and a few signs are no beginning", async () => {
  const [several, few, none, found] = await Promise.all([
    runPond(["get", "de30000"], home),
    runPond(["get", "5b1"], home),
    runPond(["restore", "5b1e8f2d\nx", "--to", "pi"], home),
    runPond(["search", "the", "--session", "5b1e8f2d"], home),
  ])
  expect(several.exitCode).toBe(3)
  expect(several.stderr).toStartWith("pond: The id de30000 is ambiguous. It matches: de300000-")
  expect(few).toMatchObject({ exitCode: 3, stdout: "" })
  expect(few.stderr).toContain("No session or message 5b1 in this store.")
  expect(none.stderr).toContain("No session 5b1e8f2d x in this store.")
  expect(found.stdout).toContain("No matches: no session has the id 5b1e8f2d (--session)")
})
