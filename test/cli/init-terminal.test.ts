/** `pond init` on a terminal: it shows, asks, and does what it was told, and no more. */
import { expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { POND } from "../support/bundled-pond.ts"
import { CLIENT_SETTINGS, homeOfClients } from "../support/clients-home.ts"
import { fakePrograms } from "../support/fake-programs.ts"
import type { TemporaryHome } from "../support/pond-process.ts"

const QUESTION = "[Y/n] "

interface Talk {
  readonly exitCode: number
  readonly screen: string
  readonly questions: readonly string[]
}

/** Answers each question, as it comes, with the next of `answers`: what is typed, line feed included. */
async function talk(home: TemporaryHome, answers: readonly string[]): Promise<Talk> {
  const decoder = new TextDecoder()
  let screen = ""
  let answered = 0
  const child = Bun.spawn([process.execPath, POND, "init", "--no-color"], {
    env: { ...home.env, PATH: fakePrograms(home.path, { systemctl: "exit 0" }).path, TERM: "xterm" },
    terminal: {
      cols: 100,
      rows: 50,
      data: (terminal, bytes) => {
        screen += decoder.decode(bytes, { stream: true })
        while (screen.split(QUESTION).length - 1 > answered) terminal.write(answers[answered++] ?? "\n")
      },
    },
  })
  const exitCode = await child.exited
  const text = screen.replaceAll("\r\n", "\n")
  return {
    exitCode,
    screen: text,
    questions: [...text.matchAll(/^(.*\?) \[Y\/n\] /gm)].map(([, question = ""]) => question),
  }
}

function settingsOf(home: TemporaryHome, client: keyof typeof CLIENT_SETTINGS): string {
  return readFileSync(join(home.path, CLIENT_SETTINGS[client][0]), "utf8")
}

test("what is refused is not done, and the rest is", async () => {
  using home = homeOfClients()
  const { exitCode, screen, questions } = await talk(home, ["y\n", "n\n", "\n", "y\n", "n\n", "no\n", "yes\n"])
  expect(exitCode).toBe(0)
  expect(questions).toEqual([
    "Add pond to Claude Code (~/.claude.json)?",
    "Add pond to Codex (~/.codex/config.toml)?",
    "Add pond to opencode (~/.config/opencode/opencode.jsonc)?",
    "Add pond to pi (~/.pi/agent/mcp.json)?",
    "Let Claude Code, Codex, and opencode call pond before prompts (hooks)?",
    "Sync automatically every 15 minutes (systemd)?",
    expect.stringMatching(/^Sync now \(4 sessions, needs about \d+ KB of disk\)\?$/),
  ])
  expect(screen.indexOf('"command": ')).toBeLessThan(screen.indexOf(QUESTION))
  expect(settingsOf(home, "claude-code")).toContain('"pond"')
  expect(settingsOf(home, "codex")).toBe(CLIENT_SETTINGS.codex[1])
  expect(settingsOf(home, "opencode")).toContain('"pond"')
  expect(existsSync(join(home.path, ".codex/hooks.json"))).toBe(false)
  expect(existsSync(join(home.path, ".config/systemd"))).toBe(false)
  expect(existsSync(join(home.path, ".local/share/pond/store"))).toBe(true)
}, 60_000)

test("what is neither yes nor no is asked again, and a question mark explains", async () => {
  using home = homeOfClients()
  const { exitCode, screen, questions } = await talk(home, ["maybe\n", "?\n", "n\n", "n\n", "n\n", "n\n", "n\n", "n\n"])
  expect(exitCode).toBe(0)
  expect(questions.slice(0, 4)).toEqual([
    ...Array(3).fill("Add pond to Claude Code (~/.claude.json)?"),
    "Add pond to Codex (~/.codex/config.toml)?",
  ])
  expect(screen).toContain("Answer y (yes) or n (no).")
  expect(screen).toContain("Adds pond as an MCP server")
  expect(settingsOf(home, "claude-code")).toBe(CLIENT_SETTINGS["claude-code"][1])
}, 60_000)

test("Ctrl-C at a question ends it with nothing done", async () => {
  using home = homeOfClients()
  const { exitCode } = await talk(home, ["\n", "\u0003"])
  expect(exitCode).toBe(130)
  expect(settingsOf(home, "claude-code")).toBe(CLIENT_SETTINGS["claude-code"][1])
  expect(existsSync(join(home.path, ".config/pond/config.toml"))).toBe(false)
  expect(existsSync(join(home.path, ".local/share/pond"))).toBe(false)
}, 60_000)
