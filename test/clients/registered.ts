/**
 * `pond init` tells a client of pond, and the client says so itself: its own list of servers has pond, connected. What its own
 * command adds pond takes for done, and what `pond init --undo` takes back the client does not list any more.
 */
import { cpSync, mkdirSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Client } from "./client.ts"
import type { Place } from "./place.ts"
import { REPOSITORY, run } from "./run.ts"

interface State {
  readonly adapter: string
  readonly status: string
  readonly by_hand: readonly string[] | null
}

/** What a list says of a server that is well. codex does not try it. */
const WELL: Readonly<Record<string, RegExp>> = {
  claude: /pond: .* ✔ Connected/,
  codex: /^pond .* enabled/m,
  opencode: /✓ pond .*connected/,
  kilo: /✓ pond .*connected/,
  // It does not try it either.
  hermes: /^\s*pond .*✓ enabled/m,
  // Started with a prompt it offers its model no tools of servers.
  cline: /^\s*pond \[stdio\]/m,
  droid: /^\s*pond .*connected/m,
  // These two do not try it, and hide its tools behind a search.
  grok: /^\s*pond: /m,
  openclaw: /^- pond$/m,
}
const LIST: Readonly<Record<string, readonly string[]>> = { cline: ["cline", "config", "mcp"] }

export function registered(
  place: Place,
  client: Client,
): { readonly isGood: boolean; readonly said: string } | undefined {
  const well = WELL[client.name]
  if (OFFERING.has(client.name)) return offered(place, client)
  if (well === undefined) return undefined
  const home = join(place.root, "homes", `${client.name}-registered`)
  const log = join(place.root, "logs", `${client.name}-registered.jsonl`)
  for (const stale of [home, log]) rmSync(stale, { recursive: true, force: true })
  for (const folder of [join(home, client.folder), dirname(log)]) mkdirSync(folder, { recursive: true })
  client.configure(home, {})
  const ask = (words: readonly string[]) => run({ client, place, home, cwd: place.alpha, log, words }).said
  const list = () => Bun.stripANSI(ask(LIST[client.name] ?? [client.name, "mcp", "list"]))
  const faults: string[] = []
  pond(home, "init", "--yes", "--no-sync", "--no-schedule")
  if (!well.test(list())) faults.push(`after pond init its list says: ${list()}`)
  pond(home, "init", "--undo")
  if (/^\W*pond\b/m.test(list())) faults.push(`after pond init --undo its list says: ${list()}`)
  const byHand = stateIn(home, client)?.by_hand ?? []
  if (byHand.length > 0) ask(byHand)
  const status = stateIn(home, client)?.status
  if (byHand.length > 0 && status !== "registered") faults.push(`after its own ${byHand.join(" ")} pond says ${status}`)
  rmSync(home, { recursive: true, force: true })
  return {
    isGood: faults.length === 0,
    said: faults.join("; ") || "added, listed, taken back; its own command is known",
  }
}

/** Clients whose list does not start the servers, or that have none: what their model is offered, or finds, tells. */
const OFFERING = new Set(["goose", "cn", "vibe", "gemini", "qwen", "copilot", "kimi", "omp", "amp"])
const TOOL_NAME = /\b[\w.]*pond_[a-z_]+/g

function offered(place: Place, client: Client): { readonly isGood: boolean; readonly said: string } {
  const home = join(place.root, "homes", `${client.name}-registered`)
  const log = join(place.root, "logs", `${client.name}-registered.jsonl`)
  for (const stale of [home, log]) rmSync(stale, { recursive: true, force: true })
  for (const folder of [join(home, client.folder), dirname(log)]) mkdirSync(folder, { recursive: true })
  client.configure(home, {})
  const own = join(home, ".continue/scripted.yaml")
  // It is started with settings under another name here.
  const usual = join(home, ".continue/config.yaml")
  if (client.name === "cn") cpSync(own, usual)
  const tools = (): readonly string[] => {
    if (client.name === "cn") cpSync(usual, own)
    const words = client.begin("[[script:discover]] Hello", {})
    const { requests } = run({ client, place, home, cwd: place.alpha, log, words })
    // oh-my-pi names them to its model beside its tools.
    const found = requests.flatMap(({ system, items }) => [
      system,
      ...items.flatMap(({ role, text = "" }) => (role === "result" ? [text] : [])),
    ])
    return [...new Set([...requests.flatMap((each) => each.tools), ...(found.join("\n").match(TOOL_NAME) ?? [])])]
  }
  const isPond = (name: string) => /pond/.test(name)
  const faults: string[] = []
  pond(home, "init", "--yes", "--no-sync", "--no-schedule")
  const after = tools()
  if (!after.some(isPond)) faults.push(`after pond init its model is offered: ${after.join(" ")}`)
  pond(home, "init", "--undo")
  const undone = tools()
  if (undone.some(isPond)) faults.push("after pond init --undo its model is still offered pond")
  rmSync(home, { recursive: true, force: true })
  return {
    isGood: faults.length === 0,
    said:
      faults.join("; ") ||
      `added, ${after.filter(isPond).length} tools of pond offered beside ${undone.length}, taken back`,
  }
}

function stateIn(home: string, client: Client): State | undefined {
  const { registrations } = JSON.parse(pond(home, "init", "--dry-run", "--json")) as { readonly registrations: State[] }
  return registrations.find(({ adapter }) => adapter === client.adapter)
}

function pond(home: string, ...args: readonly string[]): string {
  const main = join(REPOSITORY, "src/main.ts")
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, main, ...args], {
    env: { PATH: "/nowhere", HOME: home },
    stderr: "pipe",
  })
  if (exitCode !== 0) throw new Error(`pond ${args.join(" ")} ended with ${exitCode}: ${stderr}${stdout}`)
  return stdout.toString()
}
