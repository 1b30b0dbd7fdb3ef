/**
 * Recall by hooks, judged by what a client sends its model: a decision of an old session must be in the request of the
 * task that needs it, and a task that needs none must be sent without a word of pond's.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { hooksOf } from "../../build/plugins/hooks.ts"
import { shellWord } from "../../src/platform/process/shell-word.ts"
import { JUDGED, NOT_NEEDED } from "../search/recall-tasks.ts"
import type { Client } from "./client.ts"
import type { Place } from "./place.ts"
import { REPOSITORY, run } from "./run.ts"

const SAID_BY_POND = "pond: from earlier sessions"

/** The machine that judges may be busy: what takes long is measured elsewhere. */
const PATIENCE_S = 60

export function hooks(place: Place, client: Client): { readonly isGood: boolean; readonly said: string } | undefined {
  const configure = CONFIGURED[client.name]
  if (configure === undefined) return undefined
  const home = join(place.root, "homes", `${client.name}-hooks`)
  const log = join(place.root, "logs", `${client.name}-hooks.jsonl`)
  for (const stale of [home, log]) rmSync(stale, { recursive: true, force: true })
  for (const folder of [home, dirname(log)]) mkdirSync(folder, { recursive: true })
  const pond = [process.execPath, join(REPOSITORY, "src/main.ts"), "--store", join(home, "store")]
  storeDecisions(home, place.alpha, pond)
  client.configure(home, {})
  const args = configure(home, hooksOf(client.adapter, pond.map(shellWord).join(" "), PATIENCE_S))
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
  const ends = endFaults({ client, place, home, log, args, pond })
  rmSync(home, { recursive: true, force: true })
  const told = JUDGED.length - missed.length
  const faults = [
    ...ends,
    ...missed.map(([, task]) => `not told: ${task}`),
    ...loud.map((task) => `told for nothing: ${task}`),
  ]
  const sum = `${told} of ${JUDGED.length} told what they need, ${loud.length} of ${NOT_NEEDED.length} others told anything`
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

/** What ends is stored by the hook alone. */
function endFaults({ client, place, home, log, args, pond }: Ended): string[] {
  const play = (words: readonly string[]) => {
    const environment = { POND_RECALL_TIMEOUT_MS: String(PATIENCE_S * 1_000) }
    return run({ client, place, home, cwd: place.alpha, log, words, environment, lingerSeconds: LINGER_S })
  }
  play(client.begin(SETTLED, { args }))
  const id = client.sessions(home).at(-1)?.id ?? ""
  const got = Bun.spawnSync([...pond, "get", id, "--json"], { env: { PATH: process.env["PATH"] ?? "", HOME: home } })
  return got.exitCode === 0 ? [] : [`the session ${id} was not stored at its end: ${got.stderr.toString()}`]
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

type Configure = (home: string, settings: object) => readonly string[]

/** Where each client reads hooks. Gives the words that it needs besides. */
const CONFIGURED: Readonly<Record<string, Configure>> = {
  claude(home, settings) {
    const path = join(home, "hooks.json")
    writeFileSync(path, JSON.stringify(settings))
    return ["--settings", path, "--"]
  },
  codex(home, settings) {
    writeFileSync(join(home, ".codex/hooks.json"), JSON.stringify(settings))
    // A person reviews hooks on their first run; nobody does here.
    return ["--dangerously-bypass-hook-trust"]
  },
}
