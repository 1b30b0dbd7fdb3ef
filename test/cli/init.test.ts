/** `pond init`, as a process, in a home that four clients have lived in. */
import { expect, test } from "bun:test"
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { POND } from "../support/bundled-pond.ts"
import { CLIENT_SETTINGS, homeOfClients } from "../support/clients-home.ts"
import { fakePrograms } from "../support/fake-programs.ts"
import { type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const COMMAND = [process.execPath, POND, "mcp"]

function settingsIn(home: TemporaryHome): Record<string, string> {
  return Object.fromEntries(
    Object.entries(CLIENT_SETTINGS).map(([adapter, [place]]) => [
      adapter,
      readFileSync(join(home.path, place), "utf8"),
    ]),
  )
}

function environmentOf(home: TemporaryHome, scripts: Readonly<Record<string, string>> = { systemctl: "exit 0" }) {
  const programs = fakePrograms(home.path, scripts)
  return { programs, env: { ...home.env, PATH: programs.path } }
}

const BEFORE = Object.fromEntries(Object.entries(CLIENT_SETTINGS).map(([adapter, [, text]]) => [adapter, text]))

test("without a terminal it says what it would do, and does nothing", async () => {
  using home = homeOfClients()
  const { env, programs } = environmentOf(home)
  const [words, json] = await Promise.all([runPond(["init"], { env }), runPond(["init", "--json"], { env })])
  expect([words.exitCode, json.exitCode]).toEqual([0, 0])
  expect(words.stdout).toContain("No changes made. `pond init --yes` does all of this")
  for (const [, [place]] of Object.entries(CLIENT_SETTINGS))
    expect(words.stdout).toContain(`${join(home.path, place)} will get this entry\n`)
  const plan = JSON.parse(json.stdout)
  expect(plan.applied).toBe(false)
  const used = plan.clients.filter(({ sessions }: { sessions: number }) => sessions > 0)
  expect(used.map(({ adapter }: { adapter: string }) => adapter)).toEqual(["claude-code", "codex", "opencode", "pi"])
  expect(plan.registrations.map(({ status }: { status: string }) => status)).toEqual([
    "absent",
    "absent",
    "absent",
    "absent",
  ])
  expect(settingsIn(home)).toEqual(BEFORE)
  expect(programs.calls().filter((call) => !call.includes("show-environment"))).toEqual([])
  expect(readdirSync(join(home.path, ".config/pond"))).toEqual([])
})

test("--yes sets everything up, again changes nothing, and --undo gives every file back to the byte", async () => {
  using home = homeOfClients()
  const { env, programs } = environmentOf(home)
  const first = await runPond(["init", "--yes", "--json", "--store", join(home.path, "archive")], { env })
  expect(
    first.stderr
      .split("\n")
      .filter((line) => line !== "" && !line.includes('"event":"progress"') && !line.includes('"event":"stage"')),
  ).toEqual([])
  expect(first.exitCode).toBe(0)
  const { done, sync } = JSON.parse(first.stdout)
  expect(
    done.registrations.map(({ adapter, change }: { adapter: string; change: string }) => [adapter, change]),
  ).toEqual([
    ["claude-code", "added"],
    ["codex", "added"],
    ["opencode", "added"],
    ["pi", "added"],
  ])
  expect(done.schedule).toMatchObject({ scheduler: "systemd", active: true, every_minutes: 15 })
  expect(sync.adapters.filter(({ sessions }: { sessions: { new: number } }) => sessions.new === 0)).toEqual([])
  expect(readFileSync(join(home.path, ".config/pond/config.toml"), "utf8")).toContain(
    `store = "${join(home.path, "archive")}"\n`,
  )

  expect(done.schedule.command.slice(-2)).toEqual(["sync", "--quiet"])

  const after = settingsIn(home)
  const [program = "", ...args] = COMMAND
  expect(Bun.TOML.parse(after["codex"] ?? "")).toMatchObject({ mcp_servers: { pond: { command: program, args } } })
  expect(after["codex"]?.startsWith(BEFORE["codex"] ?? "-")).toBe(true)
  expect(JSON.parse(after["claude-code"] ?? "").mcpServers).toMatchObject({
    other: { type: "http" },
    pond: { type: "stdio", command: program, args },
  })
  expect(after["claude-code"]).toContain('"numStartups": 12345678901234567890,\n')
  expect(after["opencode"]).toContain("\t// how it looks\n")
  expect(after["opencode"]).toContain(`"command": ${JSON.stringify(COMMAND).replaceAll(",", ", ")}`)

  const again = JSON.parse((await runPond(["init", "--yes", "--json"], { env })).stdout)
  expect(again.registrations.map(({ status }: { status: string }) => status)).toEqual([
    "registered",
    "registered",
    "registered",
    "registered",
  ])
  expect(again.done).toMatchObject({ config: { made: false, changed: false }, registrations: [] })
  expect(settingsIn(home)).toEqual(after)

  const undone = await runPond(["init", "--undo"], { env })
  expect(undone.exitCode).toBe(0)
  expect(settingsIn(home)).toEqual(BEFORE)
  expect(existsSync(join(home.path, ".config/pond/config.toml"))).toBe(false)
  expect(programs.calls()).toContain("systemctl --user disable --now pond-sync.timer")
  expect(existsSync(join(home.path, "archive"))).toBe(true)
  expect((await runPond(["init", "--undo"], { env })).stdout).toContain("Nothing to undo.\n")
}, 60_000)

const [PROGRAM = "", ...ARGUMENTS] = COMMAND
const SERVERS = { mcpServers: { pond: { command: PROGRAM, args: ARGUMENTS } } }

test.each([
  ["gemini-cli", "plain", ".gemini", ".gemini/settings.json", SERVERS],
  ["qwen-code", "plain", ".qwen", ".qwen/settings.json", SERVERS],
  ["cursor", "command-line", ".cursor", ".cursor/mcp.json", SERVERS],
  ["cline", "plain", ".cline/data", ".cline/data/settings/cline_mcp_settings.json", SERVERS],
  [
    "droid",
    "plain",
    ".factory",
    ".factory/mcp.json",
    { mcpServers: { pond: { type: "stdio", ...SERVERS.mcpServers.pond } } },
  ],
  [
    "openhands",
    "branches",
    ".openhands",
    ".openhands/mcp.json",
    { mcpServers: { pond: { transport: "stdio", enabled: true, ...SERVERS.mcpServers.pond } } },
  ],
  ["kimi", "plain", ".kimi-code", ".kimi-code/mcp.json", SERVERS],
  ["openclaw", "plain", ".openclaw", ".openclaw/openclaw.json", { mcp: { servers: SERVERS.mcpServers } }],
  [
    "claude-desktop",
    "tools",
    ".config/Claude/local-agent-mode-sessions",
    ".config/Claude/claude_desktop_config.json",
    SERVERS,
  ],
  [
    "kilo",
    "tools",
    ".local/share/kilo",
    ".config/kilo/kilo.jsonc",
    { mcp: { pond: { type: "local", command: [...COMMAND] } } },
  ],
] as const)(
  "%s is told in its settings, and gets them back to the byte",
  async (adapter, fixture, root, file, servers) => {
    using home = temporaryHome()
    const { env } = environmentOf(home)
    cpSync(join(import.meta.dir, `../../fixtures/${adapter}/${fixture}/root`), join(home.path, root), {
      recursive: true,
    })
    const settings = join(home.path, file)
    mkdirSync(dirname(settings), { recursive: true })
    const before = '{\n  // mine\n  "general": { "vimMode": true }\n}\n'
    writeFileSync(settings, before)
    const first = await runPond(["init", "--yes", "--json", "--no-schedule"], { env })
    const { done } = JSON.parse(first.stdout)
    expect(done.registrations).toMatchObject([{ adapter, change: "added" }])
    const after = readFileSync(settings, "utf8")
    expect(after).toContain('  // mine\n  "general": { "vimMode": true }')
    expect(JSON.parse(after.replace("// mine", ""))).toEqual({ general: { vimMode: true }, ...servers })
    expect((await runPond(["init", "--undo"], { env })).exitCode).toBe(0)
    expect(readFileSync(settings, "utf8")).toBe(before)
  },
  60_000,
)

const YAML = "# mine\nmode: auto # also mine\n\nother:\n- a\n"
const OWN = { command: PROGRAM, args: ARGUMENTS }

test.each([
  [
    "goose",
    "plain",
    ".local/share/goose",
    ".config/goose/config.yaml",
    YAML,
    { extensions: { pond: expect.objectContaining({ enabled: true, type: "stdio", cmd: PROGRAM, args: ARGUMENTS }) } },
  ],
  ["hermes", "plain", ".hermes", ".hermes/config.yaml", YAML, { mcp_servers: { pond: { enabled: true, ...OWN } } }],
  ["continue", "plain", ".continue", ".continue/config.yaml", YAML, { mcpServers: [{ name: "pond", ...OWN }] }],
  [
    "vibe",
    "plain",
    ".vibe/logs/session",
    ".vibe/config.toml",
    '# mine\nmode = "auto" # also mine\nother = ["a"]\n\n[[mcp_servers]]\nname = "z"\n',
    { mcp_servers: [{ name: "z" }, { name: "pond", transport: "stdio", ...OWN }] },
  ],
] as const)(
  "%s is told in its YAML or TOML, comments and all, and gets it back to the byte",
  async (adapter, fixture, root, file, before, servers) => {
    using home = temporaryHome()
    const { env } = environmentOf(home)
    cpSync(join(import.meta.dir, `../../fixtures/${adapter}/${fixture}/root`), join(home.path, root), {
      recursive: true,
    })
    const settings = join(home.path, file)
    const init = async (...words: string[]) =>
      JSON.parse((await runPond(["init", "--yes", "--json", "--no-schedule", "--no-sync", ...words], { env })).stdout)
    mkdirSync(dirname(settings), { recursive: true })
    writeFileSync(settings, before)
    expect((await init()).done.registrations).toMatchObject([{ adapter, change: "added" }])
    const after = readFileSync(settings, "utf8")
    expect(after.startsWith(before)).toBe(true)
    const parse = file.endsWith(".toml") ? Bun.TOML.parse : Bun.YAML.parse
    expect(parse(after)).toEqual({ mode: "auto", other: ["a"], ...servers })
    expect((await init()).registrations).toMatchObject([{ adapter, status: "registered" }])
    expect((await runPond(["init", "--undo"], { env })).exitCode).toBe(0)
    expect(readFileSync(settings, "utf8")).toBe(before)
  },
  60_000,
)

test("settings that a client has not made yet are not made for it, where they would hide its defaults", async () => {
  using home = temporaryHome()
  const { env } = environmentOf(home)
  cpSync(join(import.meta.dir, "../../fixtures/continue/plain/root"), join(home.path, ".continue"), { recursive: true })
  const { stdout } = await runPond(["init", "--yes", "--json", "--no-schedule", "--no-sync"], { env })
  expect(JSON.parse(stdout).registrations).toEqual([])
  expect(existsSync(join(home.path, ".continue/config.yaml"))).toBe(false)
}, 60_000)

test("settings that changed since keep their changes when init is undone", async () => {
  using home = homeOfClients()
  const { env } = environmentOf(home)
  await runPond(["init", "--yes", "--no-sync", "--no-schedule"], { env })
  const [place] = CLIENT_SETTINGS.codex
  const path = join(home.path, place)
  writeFileSync(path, readFileSync(path, "utf8").replace("gpt-6", "gpt-7"))
  await runPond(["init", "--undo"], { env })
  expect(readFileSync(path, "utf8")).toBe((BEFORE["codex"] ?? "").replace("gpt-6", "gpt-7"))
}, 60_000)

test("a pond that was moved is set right, another server of that name stays", async () => {
  using home = homeOfClients()
  const { env } = environmentOf(home)
  const claude = join(home.path, CLIENT_SETTINGS["claude-code"][0])
  const codex = join(home.path, CLIENT_SETTINGS.codex[0])
  writeFileSync(claude, '{"mcpServers": {"pond": {"command": "/old/bin/pond", "args": ["mcp"], "env": {"A": "1"}}}}')
  writeFileSync(codex, '[mcp_servers.pond]\nurl = "https://ducks.example.org"\n')
  const { registrations, done } = JSON.parse(
    (await runPond(["init", "--yes", "--no-sync", "--no-schedule", "--json"], { env })).stdout,
  )
  expect(registrations.map(({ status }: { status: string }) => status)).toEqual([
    "outdated",
    "taken",
    "absent",
    "absent",
  ])
  expect(done.registrations.map(({ change }: { change: string }) => change)).toEqual(["updated", "added", "added"])
  expect(JSON.parse(readFileSync(claude, "utf8")).mcpServers.pond).toEqual({
    command: COMMAND[0],
    args: COMMAND.slice(1),
    env: { A: "1" },
    type: "stdio",
  })
  expect(readFileSync(codex, "utf8")).toBe('[mcp_servers.pond]\nurl = "https://ducks.example.org"\n')
}, 60_000)

test("settings that cannot be changed safely are left alone, the rest is done, and it is said what to add", async () => {
  using home = homeOfClients()
  const { env } = environmentOf(home)
  const codex = join(home.path, CLIENT_SETTINGS.codex[0])
  const opencode = join(home.path, CLIENT_SETTINGS.opencode[0])
  writeFileSync(codex, "model = = 1\n")
  unlinkSync(opencode)
  symlinkSync("/proc/version", opencode) // readable, and nobody's to write
  const words = await runPond(["init", "--dry-run"], { env })
  expect(words.stdout).toContain("Codex: ")
  expect(words.stdout).toMatch(/cannot be edited safely: .*\n {4}By hand: codex mcp add pond -- /)
  const ran = await runPond(["init", "--yes", "--no-sync", "--no-schedule", "--json"], { env })
  const { registrations, done } = JSON.parse(ran.stdout)
  expect(registrations.map(({ status }: { status: string }) => status)).toEqual([
    "absent",
    "unreadable",
    "unreadable",
    "absent",
  ])
  expect(
    done.registrations.map(({ adapter, change }: { adapter: string; change: string }) => [adapter, change]),
  ).toEqual([
    ["claude-code", "added"],
    ["pi", "added"],
  ])
  expect(readFileSync(codex, "utf8")).toBe("model = = 1\n")
}, 60_000)

test("what is not wanted is not done", async () => {
  using home = homeOfClients()
  const { env, programs } = environmentOf(home)
  const { done, sync } = JSON.parse(
    (await runPond(["init", "--yes", "--no-mcp", "--no-schedule", "--no-sync", "--json"], { env })).stdout,
  )
  expect({ registrations: done.registrations, scheduled: done.schedule.scheduled, sync }).toEqual({
    registrations: [],
    scheduled: false,
    sync: null,
  })
  expect(settingsIn(home)).toEqual(BEFORE)
  expect(programs.calls()).toEqual(["systemctl --user show-environment"])
})

test("an empty machine is set up all the same, and says that nothing is there", async () => {
  using home = temporaryHome()
  const { env } = environmentOf(home, {})
  const ran = await runPond(["init", "--yes"], { env })
  expect({ exitCode: ran.exitCode, stderr: ran.stderr }).toEqual({ exitCode: 0, stderr: "" })
  expect(ran.stdout).toContain("no client here supports MCP\n")
  expect(ran.stdout).toContain("No supported client has sessions on this machine.\n")
})

test("what fails is one line, and the code says which kind", async () => {
  using home = homeOfClients()
  const { env } = environmentOf(home)
  writeFileSync(join(home.path, "file"), "")
  const blocked = await runPond(
    ["init", "--yes", "--store", join(home.path, "file/store"), "--no-mcp", "--no-schedule"],
    { env },
  )
  expect(blocked.exitCode).toBe(5)
  const schedule = environmentOf(home, { systemctl: 'case "$2" in restart) exit 1;; esac' })
  const half = await runPond(["init", "--yes", "--no-mcp", "--no-sync", "--json"], { env: schedule.env })
  expect({ exitCode: half.exitCode, failed: JSON.parse(half.stdout).done.schedule_failed }).toMatchObject({
    exitCode: 4,
    failed: expect.stringContaining("`systemctl --user restart pond-sync.timer` failed (1)"),
  })
  const extra = await runPond(["init", "now"], { env })
  expect({ exitCode: extra.exitCode, stderr: extra.stderr }).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Unexpected argument "now"'),
  })
}, 60_000)
