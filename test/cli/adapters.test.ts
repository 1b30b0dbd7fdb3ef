/** `pond adapters`, as a process. */
import { expect, test } from "bun:test"
import { cpSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { homeOfClients } from "../support/clients-home.ts"
import { fakePrograms } from "../support/fake-programs.ts"
import { temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

test("list says which clients are here, discover what of them", async () => {
  using home = homeOfClients()
  const env = { ...home.env, PATH: fakePrograms(home.path, { codex: "exit 0" }).path }
  const [list, discover] = await Promise.all([
    runPond(["adapters", "list", "--json"], { env }),
    runPond(["adapters", "discover", "--json"], { env }),
  ])
  const { adapters } = JSON.parse(list.stdout)
  const ofCodex = adapters.find(({ adapter }: { adapter: string }) => adapter === "codex")
  expect(ofCodex).toMatchObject({
    enabled: true,
    found: true,
    mcp: true,
    program: join(home.path, "fake-bin/codex"),
    roots: [{ path: join(home.path, ".codex"), exists: true }],
  })
  const found = JSON.parse(discover.stdout).adapters.find(({ adapter }: { adapter: string }) => adapter === "codex")
  expect(found).toMatchObject({ ...ofCodex, sessions: 1, faults: 0 })
  expect(found.bytes).toBeGreaterThan(1000)
})

test("of a database that sessions share all of it is counted", async () => {
  using home = homeOfClients()
  const data = join(home.path, "data")
  cpSync(join(import.meta.dir, "../../fixtures/opencode/subagent/root"), join(data, "opencode"), { recursive: true })
  const { stdout } = await runPond(["adapters", "discover", "--json"], { env: { ...home.env, XDG_DATA_HOME: data } })
  const { sessions, bytes } = JSON.parse(stdout).adapters.find(
    ({ adapter }: { adapter: string }) => adapter === "opencode",
  )
  const { size } = statSync(join(data, "opencode/opencode.db"))
  expect(sessions).toBeGreaterThan(1)
  expect(Math.abs(bytes - size)).toBeLessThan(size / 20)
})

test("a client that is disabled is not read until it is named or enabled again, and the settings keep their comments", async () => {
  using home = homeOfClients()
  const env = { ...home.env, PATH: fakePrograms(home.path, {}).path }
  const config = join(home.path, ".config/pond/config.toml")
  const text = "# mine\n\n[adapters] # these\ndisabled = [] # none yet\n"
  writeFileSync(config, text)
  const disabled = await runPond(["adapters", "disable", "codex", "opencode", "codex"], { env })
  expect(disabled.stdout).toStartWith(`codex, opencode are disabled in ${config}.`)
  expect(readFileSync(config, "utf8")).toBe(text.replace("[] #", '["codex", "opencode"] #'))
  const read = JSON.parse((await runPond(["sync", "--dry-run", "--json"], { env })).stdout).adapters
  expect(read.map(({ adapter }: { adapter: string }) => adapter)).toEqual(["claude-code", "pi"])
  const named = JSON.parse((await runPond(["sync", "codex", "--dry-run", "--json"], { env })).stdout).adapters
  expect(named.map(({ adapter }: { adapter: string }) => adapter)).toEqual(["codex"])
  expect((await runPond(["adapters", "enable", "codex", "opencode"], { env })).exitCode).toBe(0)
  expect(readFileSync(config, "utf8")).toBe(text)
  expect((await runPond(["adapters", "enable", "codex"], { env })).stdout).toBe("No changes: already enabled.\n")
})

const MISTAKES: readonly (readonly [args: readonly string[], exitCode: number, line: string])[] = [
  [["enable"], 2, "Missing CLIENT"],
  [["disable", "codxe"], 2, 'Unknown client "codxe". Did you mean codex?'],
  [["list", "codex"], 2, 'Unexpected argument "codex"'],
  [["lst"], 2, 'Unknown verb "adapters lst". Did you mean list?'],
]

test.each(MISTAKES.map(([args, exitCode, line]) => ({ args, exitCode, line })))(
  "adapters $args: exit code $exitCode",
  async ({ args, exitCode, line }) => {
    using home = temporaryHome()
    const ran = await runPond(["adapters", ...args], { env: home.env })
    expect({ exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ exitCode, stdout: "" })
    expect(ran.stderr).toContain(line)
  },
)

test("settings that cannot be changed without changing more are named", async () => {
  using home = temporaryHome()
  const config = join(home.path, ".config/pond/config.toml")
  writeFileSync(config, 'adapters = { disabled = ["pi"] }\n')
  const inline = await runPond(["adapters", "disable", "codex"], { env: home.env })
  expect(inline.exitCode).toBe(2)
  expect(inline.stderr).toContain(`Cannot set adapters.disabled in ${config}`)
  expect(readFileSync(config, "utf8")).toBe('adapters = { disabled = ["pi"] }\n')
})
