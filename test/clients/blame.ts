/**
 * `pond blame` judged by git: a client works in a repository, a person changes the same files in between, and everybody's work
 * is a separate commit. Whatever pond says of a line, git must say too; where pond is silent it is counted, and not wrong.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Client } from "./client.ts"
import { BLAMED } from "./model/script.ts"
import type { Place } from "./place.ts"
import { REPOSITORY, run } from "./run.ts"

/** So many of the lines that agents wrote must be found. */
const FOUND_MIN = 0.5

interface Blamed {
  readonly ranges: readonly {
    readonly from_line: number
    readonly to_line: number
    readonly session_id: string
  }[]
}

interface Tally {
  found: number
  written: number
  readonly wrong: string[]
}

export function blame(place: Place, client: Client): { readonly isGood: boolean; readonly said: string } {
  const home = join(place.root, "homes", `${client.name}-blame`)
  const cwd = join(dirname(place.alpha), `blame-${client.name}`)
  const log = join(place.root, "logs", `${client.name}-blame.jsonl`)
  for (const stale of [home, cwd, log]) rmSync(stale, { recursive: true, force: true })
  for (const folder of [home, cwd, dirname(log)]) mkdirSync(folder, { recursive: true })
  client.configure(home, { model: "gpt-5-codex" })
  git(cwd, "init", "-q")
  person(cwd, "before", () => writeFileSync(join(cwd, "legacy.ts"), BLAMED.legacy))
  const agent = (script: string) => {
    const words = client.begin(`[[script:${script}]] please do your work`, {})
    const ran = run({ client, place, home, cwd, log, words, lingerSeconds: 1 })
    if (ran.code !== 0) throw new Error(`${script} ended with ${ran.code}: ${(ran.complaints || ran.said).slice(-500)}`)
    commit(cwd, `agent:${script}`)
  }
  agent("author")
  person(cwd, "in-between", () => {
    change(cwd, "cart.ts", "  return sum", "  // A person rounds here.\n  return Math.round(sum)")
    change(cwd, "legacy.ts", "export const LIMIT = 10", "export const LIMIT = 12")
  })
  agent("reviser")
  person(cwd, "moved", () => {
    const lines = readFileSync(join(cwd, "cart.ts"), "utf8").split("\n")
    writeFileSync(join(cwd, "cart.ts"), ["// A header by a person.", "", ...lines].join("\n"))
  })
  agent("careless")
  if (client.name !== "pi" && client.name !== "pi-old") agent("delegate")
  pond(home, ["sync", client.adapter, "--path", join(home, client.folder)])
  const tally: Tally = { found: 0, written: 0, wrong: [] }
  for (const file of git(cwd, "ls-files").split("\n").filter(Boolean)) judgeFile(home, cwd, file, tally)
  const share = tally.written === 0 ? 0 : tally.found / tally.written
  const isGood = tally.wrong.length === 0 && share >= FOUND_MIN
  const counts = `${tally.found} of ${tally.written} lines of agents found, ${tally.wrong.length} wrong`
  if (isGood) for (const done of [home, cwd]) rmSync(done, { recursive: true, force: true })
  return { isGood, said: [counts, ...tally.wrong.slice(0, 8)].join("\n     ") }
}

function judgeFile(home: string, cwd: string, file: string, tally: Tally): void {
  const truth = authorsOf(cwd, file)
  const { ranges } = JSON.parse(pond(home, ["blame", join(cwd, file), "--json"])) as Blamed
  tally.written += truth.filter(({ author }) => author.startsWith("agent:")).length
  for (const { from_line: from, to_line: to, session_id: session } of ranges)
    for (let line = from; line <= to; line++) {
      const { author = "", text = "" } = truth[line - 1] ?? {}
      const script = scriptOf(home, session)
      if (author === `agent:${script}`) tally.found += 1
      else tally.wrong.push(`${file}:${line} ${text}: pond says ${script}, git says ${author}`)
    }
}

const scripts = new Map<string, string>()

/** The script that a session was begun with; a sub-agent works for the session that started it. */
function scriptOf(home: string, session: string): string {
  const known = scripts.get(session)
  if (known !== undefined) return known
  const text = pond(home, ["get", session, "--json", "--limit", "3"])
  const script = /\[\[script:([\w-]+)\]\]/.exec(text)?.[1] ?? "nobody"
  const owner = script === "subauthor" ? "delegate" : script
  scripts.set(session, owner)
  return owner
}

/** Of each line, who wrote it by git's word. */
function authorsOf(cwd: string, file: string): readonly { readonly author: string; readonly text: string }[] {
  const lines = git(cwd, "blame", "--line-porcelain", "--", file).split("\n")
  const authors: { author: string; text: string }[] = []
  let author = ""
  for (const line of lines) {
    if (line.startsWith("author ")) author = line.slice("author ".length)
    if (line.startsWith("\t")) authors.push({ author, text: line.slice(1) })
  }
  return authors
}

function person(cwd: string, name: string, act: () => void): void {
  act()
  commit(cwd, `person:${name}`)
}

function commit(cwd: string, author: string): void {
  git(cwd, "add", "-A")
  git(cwd, "-c", `user.name=${author}`, "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", author)
}

function change(cwd: string, file: string, before: string, after: string): void {
  const path = join(cwd, file)
  const text = readFileSync(path, "utf8")
  if (!text.includes(before)) throw new Error(`${file} does not hold ${before}`)
  writeFileSync(path, text.replace(before, after))
}

function git(cwd: string, ...words: readonly string[]): string {
  return output(["git", ...words], { cwd, env: { PATH: process.env["PATH"] ?? "", HOME: cwd } })
}

function pond(home: string, words: readonly string[]): string {
  const command = [process.execPath, join(REPOSITORY, "src/main.ts"), ...words, "--store", join(home, "store"), "-q"]
  return output(command, { env: { PATH: process.env["PATH"] ?? "", HOME: home } })
}

function output(command: string[], options: { readonly cwd?: string; readonly env: Record<string, string> }): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { ...options, stderr: "pipe" })
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}: ${stderr}${stdout}`)
  return stdout.toString()
}
