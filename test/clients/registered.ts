/**
 * `pond init` tells a client of pond, and the client says so itself: its own list of servers has pond, connected. What its own
 * command adds pond takes for done, and what `pond init --undo` takes back the client does not list any more.
 */
import { mkdirSync, rmSync } from "node:fs"
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
}

export function registered(
  place: Place,
  client: Client,
): { readonly isGood: boolean; readonly said: string } | undefined {
  const well = WELL[client.name]
  if (well === undefined) return undefined
  const home = join(place.root, "homes", `${client.name}-registered`)
  const log = join(place.root, "logs", `${client.name}-registered.jsonl`)
  for (const stale of [home, log]) rmSync(stale, { recursive: true, force: true })
  for (const folder of [join(home, client.folder), dirname(log)]) mkdirSync(folder, { recursive: true })
  client.configure(home, {})
  const ask = (words: readonly string[]) => run({ client, place, home, cwd: place.alpha, log, words }).said
  const list = () => Bun.stripANSI(ask([client.name, "mcp", "list"]))
  const faults: string[] = []
  pond(home, "init", "--yes", "--no-sync", "--no-schedule")
  if (!well.test(list())) faults.push(`after pond init its list says: ${list()}`)
  pond(home, "init", "--undo")
  if (/^\W*pond\b/m.test(list())) faults.push(`after pond init --undo its list says: ${list()}`)
  const byHand = stateIn(home, client)?.by_hand ?? []
  ask(byHand)
  const status = stateIn(home, client)?.status
  if (status !== "registered") faults.push(`after its own ${byHand.join(" ")} pond says ${status}`)
  rmSync(home, { recursive: true, force: true })
  return {
    isGood: faults.length === 0,
    said: faults.join("; ") || "added, listed, taken back; its own command is known",
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
