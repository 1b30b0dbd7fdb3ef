/** `pond init --hooks`: what clients are told, in files that are shared and in files of pond's own, and that all of it goes again. */
import { expect, test } from "bun:test"
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type TemporaryHome, temporaryHome } from "../support/pond-process.ts"
import { runPond } from "../support/warm-pond.ts"

const FIXTURES = join(import.meta.dir, "../../fixtures")
/** A home in which each of these clients has sessions: its fixture, and where it keeps them. */
const CLIENTS = [
  ["claude-code", "basic", ".claude", ".claude/settings.json"],
  ["codex", "basic", ".codex", ".codex/hooks.json"],
  ["opencode", "basic", ".local/share/opencode", ".config/opencode/plugins/pond.js"],
  ["gemini-cli", "plain", ".gemini", ".gemini/settings.json"],
  ["qwen-code", "plain", ".qwen", ".qwen/settings.json"],
  ["copilot-cli", "plain", ".copilot", ".copilot/hooks/pond.json"],
] as const

/** Comments, tabs, a hook of somebody else in a list that pond adds to, an empty list, a number beyond a double. */
const SHARED = `{
\t// mine
\t"hooks": {
\t\t"UserPromptSubmit": [
\t\t\t{ "hooks": [{ "type": "command", "command": "my-own hook" }] }
\t\t],
\t\t"BeforeAgent": [],
\t\t"SessionEnd": [{ "matcher": "x", "hooks": [] }, ],
\t},
\t"big": 12345678901234567890
}
`
const ADDED = ["--yes", "--hooks", "--no-schedule", "--no-sync", "--json"]

function homeOfHookedClients(): TemporaryHome {
  const home = temporaryHome()
  for (const [adapter, fixture, folder] of CLIENTS) {
    const from = [fixture, "plain", "basic", "tools"]
      .map((name) => join(FIXTURES, adapter, name, "root"))
      .find(existsSync)
    cpSync(from ?? "", join(home.path, folder), { recursive: true })
  }
  return home
}

function read(home: TemporaryHome, file: string): string | undefined {
  const path = join(home.path, file)
  return existsSync(path) ? readFileSync(path, "utf8") : undefined
}

function filesIn(home: TemporaryHome): Record<string, string | undefined> {
  return Object.fromEntries(CLIENTS.map(([adapter, , , file]) => [adapter, read(home, file)]))
}

async function document(home: TemporaryHome, ...words: readonly string[]) {
  const { stdout, stderr, exitCode } = await runPond(["init", ...words], { env: home.env })
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 })
  return JSON.parse(stdout)
}

const changes = (steps: readonly { adapter: string; change: string }[]) =>
  steps.map(({ adapter, change }) => `${adapter} ${change}`)

test("hooks come with a flag, once, and --undo gives every file back to the byte", async () => {
  using home = homeOfHookedClients()
  for (const [, , , file] of CLIENTS.filter(([adapter]) => ["claude-code", "gemini-cli", "codex"].includes(adapter))) {
    mkdirSync(dirname(join(home.path, file)), { recursive: true })
    writeFileSync(join(home.path, file), SHARED)
  }
  const before = filesIn(home)
  const without = await document(home, "--yes", "--no-schedule", "--no-sync", "--json")
  expect(without.done.hooks).toEqual([])
  expect(read(home, ".claude/settings.json")).toBe(SHARED)

  const { done, hooks } = await document(home, ...ADDED)
  expect(changes(done.hooks)).toEqual(CLIENTS.map(([adapter]) => `${adapter} added`))
  expect(hooks.find(({ adapter }: { adapter: string }) => adapter === "codex").next).toContain("asks you to review")
  const after = filesIn(home)
  const claude = after["claude-code"] ?? ""
  for (const line of [
    "\t// mine\n",
    '{ "hooks": [{ "type": "command", "command": "my-own hook" }] },\n',
    "12345678901234567890",
  ])
    expect(claude).toContain(line)
  expect([...claude.matchAll(/ hook (\S+) --client claude-code"/g)].map(([, event]) => event)).toEqual([
    "prompt",
    "session-end",
    "session-start",
    "pre-compact",
  ])
  expect(after["gemini-cli"]).toContain('"timeout": 5000')
  expect(JSON.parse(after["copilot-cli"] ?? "").hooks.sessionEnd[0].bash).toEndWith(
    " hook session-end --client copilot-cli",
  )
  expect(after["opencode"]).toContain(`const [PROGRAM, ...WORDS] = ["${process.execPath}",`)

  const again = await document(home, ...ADDED)
  expect(again.hooks.map(({ status }: { status: string }) => status)).toEqual(CLIENTS.map(() => "registered"))
  expect(again.done.hooks).toEqual([])
  expect(filesIn(home)).toEqual(after)

  const undone = await document(home, "--undo", "--json")
  expect(changes(undone.hooks)).toEqual(CLIENTS.map(([adapter]) => `${adapter} removed`))
  expect(changes(undone.registrations)).toContain("gemini-cli removed")
  expect(filesIn(home)).toEqual(before)
  expect(await document(home, "--undo", "--json")).toMatchObject({ hooks: [], registrations: [] })
}, 60_000)

test("of a file that changed since only pond's hooks go; those of a pond that was moved are set right", async () => {
  using home = homeOfHookedClients()
  const settings = ".claude/settings.json"
  writeFileSync(join(home.path, settings), SHARED)
  await document(home, ...ADDED)
  const added = read(home, settings) ?? ""
  writeFileSync(
    join(home.path, settings),
    added.replaceAll(process.execPath, "/old/bin/bun").replace("// mine", "// ours"),
  )
  const { done } = await document(home, "--yes", "--no-schedule", "--no-sync", "--json")
  expect(changes(done.hooks)).toEqual(["claude-code updated"])
  expect(read(home, settings)).not.toContain("/old/bin/bun")
  writeFileSync(join(home.path, settings), (read(home, settings) ?? "").replace("// ours", "// theirs"))
  await document(home, "--undo", "--json")
  const left = read(home, settings) ?? ""
  expect(left).not.toContain("--client claude-code")
  expect(left).toContain("// theirs")
  expect(Bun.JSONC.parse(left)).toEqual(Bun.JSONC.parse(SHARED))
}, 60_000)

test("a file of pond's name that is not pond's is left as it is, and so is one that cannot be read", async () => {
  using home = homeOfHookedClients()
  const [copilot, claude] = [".copilot/hooks/pond.json", ".claude/settings.json"]
  mkdirSync(join(home.path, ".copilot/hooks"))
  writeFileSync(join(home.path, copilot), "{}")
  writeFileSync(join(home.path, claude), '{"hooks": ["not", "an object"]}')
  const { hooks, done } = await document(home, ...ADDED)
  const status = Object.fromEntries(
    hooks.map((each: { adapter: string; status: string }) => [each.adapter, each.status]),
  )
  expect(status).toMatchObject({ "copilot-cli": "taken", "claude-code": "unreadable", codex: "absent" })
  expect(changes(done.hooks)).not.toContain("copilot-cli added")
  await document(home, "--undo", "--json")
  expect([read(home, copilot), read(home, claude)]).toEqual(["{}", '{"hooks": ["not", "an object"]}'])
}, 60_000)
