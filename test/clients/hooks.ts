/**
 * Recall by hooks, judged by what a client sends its model: a decision of an old session must be in the request of the
 * task that needs it, a task that needs none must be sent without a word of pond's, and what a compaction dropped must be
 * in the request that follows it.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { hooksOf } from "../../build/plugins/hooks.ts"
import { adapterById } from "../../src/adapters/registry.ts"
import { shellWord } from "../../src/platform/process/shell-word.ts"
import { JUDGED, NOT_NEEDED } from "../search/recall-tasks.ts"
import { type Client, write } from "./client.ts"
import { SCRIPTS, SUMMARY } from "./model/script.ts"
import type { Place } from "./place.ts"
import { type Ran, REPOSITORY, run } from "./run.ts"

const SAID_BY_POND = "pond: from earlier sessions"

/** The machine that judges may be busy: what takes long is measured elsewhere. */
const PATIENCE_S = 60

export function hooks(place: Place, client: Client): { readonly isGood: boolean; readonly said: string } | undefined {
  const args = CONFIGURED[client.name]
  if (args === undefined) return undefined
  const home = join(place.root, "homes", `${client.name}-hooks`)
  const log = join(place.root, "logs", `${client.name}-hooks.jsonl`)
  for (const stale of [home, log]) rmSync(stale, { recursive: true, force: true })
  for (const folder of [home, dirname(log)]) mkdirSync(folder, { recursive: true })
  const pond = [process.execPath, join(REPOSITORY, "src/main.ts"), "--store", join(home, "store")]
  storeDecisions(home, place.alpha, pond)
  client.configure(home, {})
  writeHooks(client, home, pond)
  const ask = (prompt: string): string => {
    const words = client.begin(prompt, { args })
    const environment = { POND_RECALL_TIMEOUT_MS: String(PATIENCE_S * 1_000) }
    const { requests, code, complaints } = run({ client, place, home, cwd: place.alpha, log, words, environment })
    if (code !== 0 || requests.length === 0)
      throw new Error(`${client.name} ended with ${code}: ${complaints.slice(-300)}`)
    return requests.flatMap(({ items, system }) => [system, ...items.map(({ text = "" }) => text)]).join("\n")
  }
  const missed = JUDGED.filter(([decision, task]) => !ask(task).includes(decision))
  const loud = NOT_NEEDED.filter((task) => ask(task).includes(SAID_BY_POND))
  // Last: what it plays is another session of the project.
  const played = { client, place, home, log, args, pond }
  const ends = [...endFaults(played), ...compactionFaults(played)]
  rmSync(home, { recursive: true, force: true })
  const told = JUDGED.length - missed.length
  const faults = [
    ...ends,
    ...missed.map(([, task]) => `not told: ${task}`),
    ...loud.map((task) => `told for nothing: ${task}`),
  ]
  const sum = `${told} of ${JUDGED.length} told what they need, ${loud.length} of ${NOT_NEEDED.length} others told anything, ${ends.length} faults at the end of a session and after a compaction`
  return { isGood: faults.length === 0, said: [sum, ...faults].join("; ") }
}

interface Ended {
  readonly client: Client
  readonly place: Place
  readonly home: string
  readonly log: string
  readonly args: readonly string[]
  readonly pond: readonly string[]
}

/** Long enough for the sync that the end of a session starts and leaves behind. */
const LINGER_S = 10
const SETTLED = "We decided: amounts are kept in cents as integers, never as floats. Remember that."

function play({ client, place, home, log }: Ended, words: readonly string[], lingerSeconds = LINGER_S): Ran {
  const environment = { POND_RECALL_TIMEOUT_MS: String(PATIENCE_S * 1_000) }
  const ran = run({ client, place, home, cwd: place.alpha, log, words, environment, lingerSeconds })
  if (ran.code === 0) return ran
  throw new Error(`${client.name} ended with ${ran.code}: ${(ran.complaints || ran.said).slice(-300)}`)
}

/** What ends is stored by the hook alone. */
function endFaults(ended: Ended): string[] {
  const { client, home, args, pond } = ended
  play(ended, client.begin(SETTLED, { args }))
  const id = client.sessions(home).at(-1)?.id ?? ""
  const got = Bun.spawnSync([...pond, "get", id, "--json"], { env: { PATH: process.env["PATH"] ?? "", HOME: home } })
  return got.exitCode === 0 ? [] : [`the session ${id} was not stored at its end: ${got.stderr.toString()}`]
}

const HANDED_BACK = "pond: from this session before it was compacted"
const RULE = "From now on the ledger must be exported by tools/ledger.sh alone, never by hand."
/** What the model runs in the script of tools and a summary drops; it ends with 0. */
const COMMAND = SCRIPTS["tools"]?.flatMap(({ deeds = [] }) => deeds).findLast(({ kind }) => kind === "shell")
const COMPACTED: Readonly<Record<string, (ended: Ended, session: string) => void>> = {
  claude(ended, session) {
    play(ended, ended.client.resume(session, "/compact", { args: ended.args }))
  },
  // It compacts before the next prompt, whose turn before said of itself that it fills the context.
  codex(ended, session) {
    play(ended, ended.client.resume(session, "[[script:big]] fill the context", { args: ended.args }))
  },
}

/** The decision and the command of a session whose history a summary replaced must be in what its model is asked next. */
function compactionFaults(ended: Ended): string[] {
  const { client, home } = ended
  const compact = COMPACTED[client.name]
  if (compact === undefined) return []
  const before = new Set(client.sessions(home).map(({ id }) => id))
  play(ended, client.begin(`${RULE} [[script:tools]] go`, { args: ended.args }))
  const session = client.sessions(home).find(({ id }) => !before.has(id))?.id ?? ""
  compact(ended, session)
  const smaller = client.name === "codex" ? ["-c", "model_auto_compact_token_limit=20000"] : []
  const args = [...ended.args, ...smaller]
  const { requests } = play(ended, client.resume(session, "[[script:plain2]] go on", { args }))
  const asked = requests.findLast(({ script }) => script === "plain2")
  const texts = [asked?.system ?? "", ...(asked?.items ?? []).map(({ text = "" }) => text)]
  const handed = texts.find((text) => text.includes(HANDED_BACK)) ?? ""
  const command = COMMAND?.kind === "shell" ? COMMAND.command : "no command"
  const faults = [
    ...(texts.some((text) => text.includes(SUMMARY)) ? [] : ["no summary was sent: it was not compacted"]),
    ...(asked?.items.some(({ role }) => role === "result") === true ? ["the results of tools are still sent"] : []),
    ...(handed === "" ? ["nothing was handed back"] : []),
    ...[`| ${RULE}`, `| ${command}`].filter((line) => !handed.includes(line)).map((line) => `not handed back: ${line}`),
    ...(/^message [\w-]{8,}:$/m.test(handed) ? [] : ["no message is cited"]),
  ]
  return faults.map((fault) => `after a compaction: ${fault}`)
}

/** A session of Claude Code with all of them, and as many answers. */
function storeDecisions(home: string, project: string, pond: readonly string[]): void {
  const folder = join(home, "source/projects/-planted")
  mkdirSync(folder, { recursive: true })
  const sessionId = "5f0c7e86-9d0e-4c07-9f8f-4f4f7e1f2a12"
  const uuid = (at: number) => `a0000000-0000-4000-8000-${String(at).padStart(12, "0")}`
  const texts = JUDGED.flatMap(([decision]) => [decision, "Understood, I will do it that way."])
  const lines = texts.map((text, at) => {
    const type = at % 2 === 0 ? "user" : "assistant"
    return JSON.stringify({
      ...{ sessionId, cwd: project, version: "2.1.0", isSidechain: false, userType: "external", type, uuid: uuid(at) },
      ...{ parentUuid: at === 0 ? null : uuid(at - 1), timestamp: "2026-01-02T03:04:05.000Z" },
      message: { role: type, content: type === "user" ? text : [{ type: "text", text }] },
    })
  })
  writeFileSync(join(folder, `${sessionId}.jsonl`), `${lines.join("\n")}\n`)
  const { exitCode, stderr } = Bun.spawnSync([...pond, "sync", "claude-code", "--path", join(home, "source")], {
    env: { PATH: process.env["PATH"] ?? "", HOME: home },
    stderr: "pipe",
  })
  if (exitCode !== 0) throw new Error(`pond sync ended with ${exitCode}: ${stderr}`)
}

/** Words that each client needs besides its hooks. */
const CONFIGURED: Readonly<Record<string, readonly string[]>> = {
  claude: [],
  // A person reviews hooks on their first run; nobody does here.
  codex: ["--dangerously-bypass-hook-trust"],
  opencode: [],
  qwen: [],
}

/** As `pond init --hooks` leaves them, but for the patience. */
function writeHooks({ adapter }: Client, home: string, pond: readonly string[]): void {
  const hooked = adapterById(adapter)?.hooks
  if (hooked === undefined) throw new Error(`${adapter} has no hooks.`)
  const { file, content } = hooked
  const path = file({}, home)
  const line = pond.map(shellWord).join(" ")
  const known = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as object) : {}
  const text =
    content.kind === "file"
      ? content.text(pond, line).replace("5_000", `${PATIENCE_S}_000`)
      : JSON.stringify({ ...known, ...hooksOf(adapter, line, PATIENCE_S) })
  write(path, text)
}
