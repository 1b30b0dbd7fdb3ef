/**
 * `bun run walk`: a new user's first half hour on a real terminal (tmux), in a home with the sessions of four clients:
 * init, sync, search, browse, get, resume, status, export. Each screen is compared with `fixtures/golden/walk.txt`, at 80 and at
 * 120 columns, with its colours, but for times, sizes and places; `--update` writes that file anew, to be looked at. A colour that
 * cannot be read on a light or on a dark ground ends the walk. Needs tmux and less, which any Linux has or installs.
 */
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ADAPTERS } from "../src/adapters/registry.ts"
import { ROOT } from "./release/packages.ts"
import { BuildFailure, orFailure } from "./release/targets.ts"

const GOLDEN = join(ROOT, "fixtures/golden/walk.txt")
const WIDTHS = [80, 120]
const ROWS = 20
const PROMPT = "$"
const PATIENCE_MS = 60_000

const SCENARIOS: Readonly<Record<string, string>> = {
  "claude-code": "agent",
  codex: "forked",
  opencode: "tools",
  pi: "branches",
}

interface Step {
  /** What is typed; a separate line where it is a command. */
  readonly keys: string
  /** What the screen must show before it is taken; the prompt, where nothing is said. */
  readonly until?: string
  /** Typed into the program that is shown by then; each leads to its own screen. */
  readonly inside?: readonly { readonly keys: string; readonly until: string }[]
  /** Typed after the screens were taken, to leave a program. */
  readonly after?: string
}

/** Bold, dim, red, green, magenta, cyan, the terminal's own ground, the reverse of a pager's prompt, and their ends. */
const READABLE = new Set(["0", "", "1", "2", "22", "31", "32", "35", "36", "39", "49", "7", "27"])

const STEPS: readonly Step[] = [
  { keys: "pond init --yes --no-schedule --no-sync" },
  { keys: "pond sync" },
  { keys: "pond search file" },
  { keys: "pond list" },
  { keys: "pond cost" },
  { keys: "pond label SESSION --name 'My session' --star" },
  { keys: "pond search --mode exact 'no such words anywhere'" },
  { keys: "pond get SESSION", until: ":", after: "q" },
  {
    keys: "pond browse",
    until: "Esc: quit",
    inside: [
      { keys: "readme", until: "said" },
      { keys: "\r", until: "q: back" },
      { keys: "c", until: "Continue in" },
    ],
    after: "\u0003",
  },
  { keys: "pond resume --cwd .", until: "Esc: cancel", after: "\r" },
  { keys: "pond status" },
  { keys: "pond export -o everything.pond" },
  { keys: "pond import everything.pond --store ./elsewhere" },
]

interface Stage {
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  tmux(...words: readonly string[]): string
}

function openStage(): Stage {
  const home = mkdtempSync(join(tmpdir(), "pond-walk-"))
  for (const adapter of ADAPTERS) {
    const scenario = SCENARIOS[adapter.id]
    const [root] = adapter.source.roots({ HOME: home }, home)
    if (scenario === undefined || root === undefined) continue
    cpSync(join(ROOT, "fixtures", adapter.id, scenario, "root"), root, { recursive: true })
  }
  const bin = join(home, "bin")
  mkdirSync(bin)
  writeProgram(join(bin, "pond"), `exec "${process.execPath}" "${join(ROOT, "src/main.ts")}" "$@"`)
  for (const client of ["claude", "codex", "opencode", "pi"]) {
    writeProgram(join(bin, client), `echo "${client} runs in $(pwd) with: $*"`)
  }
  const env = {
    HOME: home,
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    TERM: "screen",
    PS1: `${PROMPT} `,
    LANG: "C.UTF-8",
  }
  const socket = join(home, "tmux")
  const tmux = (...words: readonly string[]) => {
    const ran = Bun.spawnSync(["tmux", "-S", socket, ...words], { env: { ...env, TERM: "screen" } })
    if (ran.exitCode !== 0) throw new BuildFailure(`tmux ${words[0]} failed: ${ran.stderr}`)
    return ran.stdout.toString()
  }
  return { home, env, tmux }
}

function writeProgram(path: string, line: string): void {
  writeFileSync(path, `#!/bin/sh\n${line}\n`)
  chmodSync(path, 0o755)
}

async function screens(stage: Stage, columns: number): Promise<string> {
  const { home, tmux } = stage
  const variables = Object.entries(stage.env).map(([name, value]) => `${name}=${value}`)
  const shell = ["env", "-i", ...variables, "sh"]
  tmux("new-session", "-d", "-x", String(columns), "-y", String(ROWS), "-c", home, ...shell)
  tmux("set-option", "-g", "status", "off")
  await shown(stage, PROMPT)
  let session = ""
  let text = `##### ${columns} columns #####\n\n`
  for (const { keys, until = PROMPT, inside = [], after } of STEPS) {
    tmux("send-keys", "-R")
    tmux("clear-history")
    tmux("send-keys", "Enter")
    await shown(stage, PROMPT)
    const typed = keys.replace("SESSION", session)
    tmux("send-keys", "-l", typed)
    tmux("send-keys", "Enter")
    const screen = await shown(stage, until, typed)
    text += section(keys, await colored(stage), home)
    session ||= /pond resume (\S+)/.exec(screen)?.[1] ?? ""
    for (const { keys: pressed, until: shows } of inside) {
      tmux("send-keys", "-l", pressed)
      await shown(stage, shows, "")
      text += section(`${keys}, and ${JSON.stringify(pressed)}`, await colored(stage), home)
    }
    if (after === undefined) continue
    tmux("send-keys", "-l", after)
    await shown(stage, PROMPT, after === "\r" ? "runs in" : typed)
    if (after === "\r") text += section(`${keys}, and Enter`, await colored(stage), home)
  }
  return text
}

/** The screen once nothing more comes to it, with a mark for each change of colour or weight. */
async function colored({ tmux }: Stage): Promise<string> {
  const capture = () => tmux("capture-pane", "-p", "-e", "-J", "-S", "-").trimEnd()
  let screen = ""
  for (let next = capture(); next !== screen; next = capture()) {
    screen = next
    await Bun.sleep(STILL_MS)
  }
  return screen
    .replace(SGR, (_, codes: string) => {
      const strange = codes.split(";").find((code) => !READABLE.has(code))
      if (strange !== undefined) throw new BuildFailure(`colour ${strange} cannot be read on every ground`)
      return codes === "" || codes === "0" ? "‹›" : `‹${codes}›`
    })
    .replaceAll("\u001b(B", "")
}

const STILL_MS = 700

const ESCAPE = String.fromCharCode(27)
const SGR = new RegExp(`${ESCAPE}\\[([0-9;]*)m`, "g")

/** The whole screen, once its last line begins so below what was typed; or the screen with nothing but the prompt. */
async function shown({ tmux }: Stage, until: string, typed = ""): Promise<string> {
  const endMs = performance.now() + PATIENCE_MS
  for (;;) {
    const screen = tmux("capture-pane", "-p", "-J", "-S", "-").trim()
    const last = screen.split("\n").at(-1)?.trimEnd() ?? ""
    const isDone = typed === "" ? screen === until : last === until && screen.includes(typed)
    if (isDone || (until.length > 1 && screen.includes(until))) return screen
    if (performance.now() > endMs) {
      throw new BuildFailure(`after "${typed}" the terminal never showed ${until}:\n${screen}`)
    }
    await Bun.sleep(50)
  }
}

function section(keys: string, screen: string, home: string): string {
  const lines = screen.split("\n").filter((line) => line.trim() !== PROMPT)
  return `=== ${keys} ===\n${lines.map((line) => settled(line, home)).join("\n")}\n\n`
}

const WHEN =
  /just now|\d+ min ago|\d+ h ago|yesterday \d\d:\d\d|\d+ days ago|\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day )?\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b(?: \d{4})?/g

/** Without what another day or another machine would make of it. */
function settled(line: string, home: string): string {
  return line
    .replaceAll(home, "HOME")
    .replaceAll(process.execPath, "BUN")
    .replaceAll(ROOT, "POND")
    .replace(/^Schedule .*/, "Schedule  as this machine has it")
    .replace(WHEN, "WHEN")
    .replace(/\b\d\d:\d\d\b/g, "CLOCK")
    .replace(/\b[0-9a-f]{64}\b/g, "SHA256")
    .replace(/\b\d+(?:\.\d+)? (?:bytes|KB|MB|GB)\b/g, "SIZE")
    .replace(/\b\d+(?:\.\d+)? (?:ms|s)\b/g, "TIME")
    .replace(/ {2,}/g, "  ")
    .trimEnd()
}

async function main(args: readonly string[]): Promise<number> {
  if (Bun.which("tmux") === null || Bun.which("less") === null)
    throw new BuildFailure("tmux and less are needed: install them.")
  let found = ""
  for (const columns of WIDTHS) found += await walked(columns)
  if (args.includes("--update")) {
    writeFileSync(GOLDEN, found)
    console.log(`Written: ${GOLDEN}. Look at it.`)
    return 0
  }
  const wanted = readFileSync(GOLDEN, "utf8")
  if (found === wanted) {
    console.log(`${STEPS.length} steps at ${WIDTHS.join(" and ")} columns, every screen as it should be.`)
    return 0
  }
  const theirs = wanted.split("\n")
  const at = found.split("\n").findIndex((line, index) => line !== theirs[index])
  console.error(`The walk differs at line ${at + 1}. It should be:\n${theirs.slice(at, at + 5).join("\n")}\nIt is:`)
  console.error(
    `${found
      .split("\n")
      .slice(at, at + 5)
      .join("\n")}\nIf that is right: bun run walk --update`,
  )
  return 1
}

/** A home for each width: what one walk writes the other would find. */
async function walked(columns: number): Promise<string> {
  const stage = openStage()
  try {
    return await screens(stage, columns)
  } finally {
    Bun.spawnSync(["tmux", "-S", join(stage.home, "tmux"), "kill-server"])
    rmSync(stage.home, { recursive: true, force: true })
  }
}

process.exitCode = await orFailure("walk", () => main(Bun.argv.slice(2)))
