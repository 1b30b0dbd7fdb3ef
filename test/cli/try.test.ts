import { expect, test } from "bun:test"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { runPond, temporaryHome } from "../support/pond-process.ts"

const main = join(import.meta.dir, "../../build/try.ts")

test("the README's first command finds the sessions of this machine and stores them", async () => {
  using home = temporaryHome()
  mkdirSync(join(home.path, ".claude/projects/-x"), { recursive: true })
  const record = {
    ...{ type: "user", uuid: "a", parentUuid: null, sessionId: "s", cwd: "/x", version: "2.1.0" },
    ...{ timestamp: "2026-01-01T00:00:00.000Z", message: { role: "user", content: "hello" } },
  }
  writeFileSync(join(home.path, ".claude/projects/-x/s.jsonl"), `${JSON.stringify(record)}\n`)
  const { stdout, stderr, exitCode } = await runPond([], { main, env: home.env })
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 })
  expect(stdout).toMatch(/^\$ pond sync\n(.*\n)*claude-code +1 /m)
})

test("on a machine without a session it says so", async () => {
  using home = temporaryHome()
  const { stdout, exitCode } = await runPond([], { main, env: home.env })
  expect(stdout).toContain("No supported client has sessions on this machine.\n")
  expect(exitCode).toBe(0)
})
