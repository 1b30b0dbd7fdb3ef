/** A client that is to go on in a directory that it does not look into by itself is told of it, as the real ones understand it. */
import { expect, test } from "bun:test"
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const FIXTURE = join(import.meta.dir, "../../fixtures/claude-code/tools/root")
const TOOLS = "0a0fb0f6-d949-4c88-a1ca-9484aeb8c9f8"
/** With what a shell takes apart, what a line is cut at, and what cannot be seen. */
const ODD_NAME = 'two  spaces \u00a0\u3000\t\n\u202e\u001b[31m it\'s \\ "$HOME" `id` é'
const TOLD = ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCODE_DB"]

/** Says what it was told. */
const CLIENT = `#!/bin/sh
{ ${TOLD.map((name) => `[ -z "$${name}" ] || echo "${name}=$${name}"`).join("; ")}; for each in "$@"; do echo "$each"; done; } > "$HOME/told"
`

interface Machine extends TemporaryHome {
  readonly pond: (...words: readonly string[]) => ReturnType<typeof runPond>
  readonly told: () => string
}

/** A home with every client on its PATH, and a session of Claude Code in its store; a variable names a place of the person's. */
async function machine(variable?: string): Promise<Machine> {
  const home = temporaryHome()
  const bin = join(home.path, "bin")
  mkdirSync(bin)
  for (const name of ["claude", "codex", "opencode", "pi"]) {
    writeFileSync(join(bin, name), CLIENT)
    chmodSync(join(bin, name), 0o755)
  }
  cpSync(FIXTURE, join(home.path, ".claude"), { recursive: true })
  const own = variable === undefined ? {} : { [variable]: join(home.path, "own") }
  const env = { ...home.env, ...own, PATH: `${bin}:${process.env["PATH"] ?? ""}` }
  const pond = (...words: readonly string[]) => runPond(words, { env })
  expect(await pond("sync", "claude-code", "--only", "import")).toMatchObject({ exitCode: 0 })
  return {
    ...home,
    pond,
    told: () => readFileSync(join(home.path, "told"), "utf8"),
    [Symbol.dispose]: () => home[Symbol.dispose](),
  }
}

const WAYS: readonly (readonly [client: string, told: (root: string) => RegExp, asksToLogIn: boolean])[] = [
  ["claude-code", (root) => new RegExp(`^CLAUDE_CONFIG_DIR=${root}\n--resume\n${TOOLS}\n$`), true],
  ["codex", (root) => new RegExp(`^CODEX_HOME=${root}\nresume\n[0-9a-f-]{36}\n$`), true],
  ["opencode", (root) => new RegExp(`^OPENCODE_DB=${root}/opencode.db\n--session\nses_\\w+\n$`), false],
  ["pi", (root) => new RegExp(`^--session\n${root}/--.*--/\\S+\\.jsonl\n$`), false],
]

test.each(WAYS)("%s goes on where it does not look by itself", async (to, told, asksToLogIn) => {
  using home = await machine()
  const root = join(home.path, "another root")
  const words = [TOOLS, "--to", to, "--root", root, "--cwd", home.path]
  const note = "also reads its settings and login there, and may ask you to log in."

  const restored = await home.pond("restore", ...words)
  const [command = ""] = restored.stdout.match(/(?<=^Resume with: ).*$/m) ?? []
  expect(
    Bun.spawnSync(["sh", "-c", command], { env: { ...home.env, PATH: `${home.path}/bin:/usr/bin:/bin` } }).exitCode,
  ).toBe(0)
  expect(home.told()).toMatch(told(root))
  expect(restored.stdout.includes(note)).toBe(asksToLogIn)

  writeFileSync(join(home.path, "told"), "")
  const resumed = await home.pond("resume", ...words)
  expect(resumed).toMatchObject({ exitCode: 0 })
  expect(home.told()).toMatch(told(root))
  expect(resumed.stderr.includes(note)).toBe(asksToLogIn)
})

test("where a client looks by itself it is told nothing, however that directory is named", async () => {
  using home = await machine()
  for (const root of [[], ["--root", join(home.path, ".claude")], ["--root", join(home.path, "bin/../.claude/")]]) {
    const { stdout } = await home.pond("resume", TOOLS, ...root, "--cwd", home.path, "--dry-run", "--json")
    expect(JSON.parse(stdout).resume).toEqual({ command: ["claude", "--resume", TOOLS], cwd: home.path })
  }
})

test.each(["claude-code", "codex", "opencode", "pi"])(
  "%s: the command can be copied, whatever a directory is called",
  async (to) => {
    using home = await machine()
    const root = join(home.path, ODD_NAME)
    mkdirSync(root)
    const { stdout } = await home.pond("restore", TOOLS, "--to", to, "--root", root, "--cwd", root)
    const [command = ""] = stdout.match(/(?<=^Resume with: ).*$/m) ?? []
    const env = { ...home.env, PATH: `${home.path}/bin:/usr/bin:/bin` }
    expect(Bun.spawnSync(["bash", "-c", `${command} && pwd > "$HOME/directory"`], { env }).exitCode).toBe(0)
    expect(readFileSync(join(home.path, "directory"), "utf8")).toBe(`${root}\n`)
    expect(home.told()).toContain(root)
  },
)

test("a directory that a variable names from where pond runs is told whole, as the client is started elsewhere", async () => {
  using home = await machine()
  const env = { ...home.env, CODEX_HOME: "own", PATH: `${home.path}/bin:${process.env["PATH"] ?? ""}` }
  const words = ["resume", TOOLS, "--to", "codex", "--cwd", join(home.path, "bin")]
  expect(await runPond(words, { env, cwd: home.path })).toMatchObject({ exitCode: 0 })
  expect(home.told()).toStartWith(`CODEX_HOME=${join(home.path, "own")}\n`)
})

const DIVERTED: readonly (readonly [client: string, variable: string, told: (home: string) => RegExp])[] = [
  [
    "opencode",
    "OPENCODE_DB",
    (home) => new RegExp(`^OPENCODE_DB=${home}/.local/share/opencode/opencode.db\n--session\n`),
  ],
  ["pi", "PI_CODING_AGENT_SESSION_DIR", (home) => new RegExp(`^--session\n${home}/own/--.*--/\\S+\\.jsonl\n$`)],
]

test.each(DIVERTED)("%s is told of its session where %s has it look elsewhere", async (to, variable, told) => {
  using home = await machine(variable)
  const resumed = await home.pond("resume", TOOLS, "--to", to, "--cwd", home.path)
  expect(resumed).toMatchObject({ exitCode: 0 })
  expect(home.told()).toMatch(told(home.path))
})
