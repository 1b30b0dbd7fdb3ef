/** A session that a newer client wrote than the one that is installed: both versions are said before anything is written. */
import { expect, test } from "bun:test"
import { cpSync } from "node:fs"
import { join } from "node:path"
import { fakePrograms } from "../support/fake-programs.ts"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const SESSION = "0a0fb0f6-d949-4c88-a1ca-9484aeb8c9f8"

test.each([
  ["2.0.65 (Claude Code)", /Claude Code 2\.0\.65 is installed, but 2\.1\.\d+ wrote this session.*--anew/],
  ["2.1.1 (Claude Code)", undefined],
  ["3.0.0", undefined],
  ["no version", undefined],
])("the installed client says %s", async (version, said) => {
  using home = temporaryHome()
  cpSync(join(import.meta.dir, "../../fixtures/claude-code/tools/root"), join(home.path, ".claude"), {
    recursive: true,
  })
  const { path } = fakePrograms(home.path, { claude: `echo '${version}'` })
  const own = { ...home, env: { ...home.env, PATH: path } }
  await runPond(["sync", "claude-code", "--only", "import"], own)
  const { stderr, exitCode } = await runPond(["restore", SESSION, "--dry-run"], own)
  expect(exitCode).toBe(0)
  if (said === undefined) expect(stderr).toBe("")
  else expect(stderr).toMatch(said)
})

test("a session that is written anew is of today's form, and nobody asks the client", async () => {
  using home = temporaryHome()
  cpSync(join(import.meta.dir, "../../fixtures/claude-code/tools/root"), join(home.path, ".claude"), {
    recursive: true,
  })
  const programs = fakePrograms(home.path, { claude: "echo 2.0.65" })
  const own = { ...home, env: { ...home.env, PATH: programs.path } }
  await runPond(["sync", "claude-code", "--only", "import"], own)
  const { stderr } = await runPond(["restore", SESSION, "--anew", "--dry-run"], own)
  expect({ stderr, calls: programs.calls() }).toEqual({ stderr: "", calls: [] })
})
