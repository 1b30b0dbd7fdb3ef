/**
 * An agent asks pond what was said before: a client with `pond mcp` in its configuration, whose model calls `pond_search` and
 * then `pond_get` with what it found. What the client sends its model next must hold the results.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Client } from "./client.ts"
import type { Item } from "./model/request.ts"
import type { Place } from "./place.ts"
import { REPOSITORY, run } from "./run.ts"

/** Said nowhere else, by the session that is to be found. */
const SAID = "The velociraptor pastry recipe needs nine eggs."
const SESSION = "5f0c7e86-9d0e-4c07-9f8f-4f4f7e1f2a10"

export function recall(place: Place, client: Client): { readonly isGood: boolean; readonly said: string } | undefined {
  const configure = CONFIGURED[client.name]
  if (configure === undefined) return undefined
  const home = join(place.root, "homes", `${client.name}-recall`)
  const log = join(place.root, "logs", `${client.name}-recall.jsonl`)
  for (const stale of [home, log]) rmSync(stale, { recursive: true, force: true })
  for (const folder of [home, dirname(log)]) mkdirSync(folder, { recursive: true })
  storeSession(home)
  const pond = [process.execPath, join(REPOSITORY, "src/main.ts"), "mcp", "--store", join(home, "store")]
  client.configure(home, { model: "gpt-5-codex" })
  const args = configure(home, pond)
  const words = client.begin("[[script:recall]] what do you remember?", { args })
  const environment = { ENABLE_TOOL_SEARCH: "false" }
  const ran = run({ client, place, home, cwd: place.alpha, log, words, environment })
  const results =
    ran.requests.findLast(({ kind }) => kind === "script")?.items.filter(({ role }) => role === "result") ?? []
  const faults = faultsOf(results)
  const tools = ran.requests.find(({ kind }) => kind === "script")?.tools.filter((name) => name.includes("pond")) ?? []
  if (ran.code !== 0) faults.push(`it ended with ${ran.code}: ${ran.complaints.slice(-300)}`)
  if (faults.length > 0) faults.push(`tools: ${tools.join(", ")}`)
  rmSync(home, { recursive: true, force: true })
  return { isGood: faults.length === 0, said: faults.join("; ") || `${results.length} results reached the model` }
}

function faultsOf(results: readonly Item[]): string[] {
  const [search, got] = results.map(({ text = "" }) => text)
  const faults: string[] = []
  if (search === undefined || !search.includes(SESSION)) faults.push(`pond_search did not name the session: ${search}`)
  if (got === undefined || !got.includes(SAID)) faults.push(`pond_get did not give its text: ${got}`)
  return faults
}

function storeSession(home: string): void {
  const folder = join(home, "source/projects/-recall")
  mkdirSync(folder, { recursive: true })
  const shared = { sessionId: SESSION, cwd: "/recall", version: "2.1.0", isSidechain: false, userType: "external" }
  const line = (uuid: string, parentUuid: string | null, role: string, content: unknown) =>
    JSON.stringify({
      ...shared,
      uuid,
      parentUuid,
      type: role,
      timestamp: "2026-01-02T03:04:05.000Z",
      message: { role, content },
    })
  const lines = [
    line("a0000000-0000-4000-8000-000000000001", null, "user", "How many eggs?"),
    line("a0000000-0000-4000-8000-000000000002", "a0000000-0000-4000-8000-000000000001", "assistant", [
      { type: "text", text: SAID },
    ]),
  ]
  writeFileSync(join(folder, `${SESSION}.jsonl`), `${lines.join("\n")}\n`)
  const { exitCode, stdout, stderr } = Bun.spawnSync(
    [
      ...[process.execPath, join(REPOSITORY, "src/main.ts"), "sync", "claude-code", "--path", join(home, "source")],
      ...["--store", join(home, "store")],
    ],
    { env: { PATH: process.env["PATH"] ?? "", HOME: home }, stderr: "pipe" },
  )
  if (exitCode !== 0) throw new Error(`pond sync ended with ${exitCode}: ${stderr}${stdout}`)
}

/** Where each client looks for servers. Gives the words that it needs besides. */
const CONFIGURED: Readonly<Record<string, (home: string, pond: readonly string[]) => readonly string[]>> = {
  claude(home, [command = "", ...args]) {
    const path = join(home, "mcp.json")
    writeFileSync(path, JSON.stringify({ mcpServers: { pond: { command, args } } }))
    return ["--mcp-config", path, "--"]
  },
  codex: (_home, [command = "", ...args]) => [
    ...["-c", `mcp_servers.pond.command=${JSON.stringify(command)}`],
    ...["-c", `mcp_servers.pond.args=${JSON.stringify(args)}`],
    // It would begin without a server that is not there yet.
    ...["-c", "mcp_servers.pond.required=true", "-c", "mcp_servers.pond.startup_timeout_sec=60"],
  ],
  opencode(home, command) {
    const path = join(home, ".config/opencode/opencode.json")
    const config = JSON.parse(readFileSync(path, "utf8")) as object
    writeFileSync(path, JSON.stringify({ ...config, mcp: { pond: { type: "local", command, enabled: true } } }))
    return []
  },
}
