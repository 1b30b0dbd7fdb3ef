/** OpenClaw: one database for each agent, led here without its Gateway. */
import { Database } from "bun:sqlite"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { type Client, MODEL_URL, type StoredSession, write } from "./client.ts"

const DATABASE = ".openclaw/agents/main/agent/openclaw-agent.sqlite"
const MODEL = {
  ...{ id: "mock-model", name: "Scripted", reasoning: true, input: ["text", "image"] },
  ...{ contextWindow: 200_000, maxTokens: 32_000 },
  cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
}

export const openclaw: Client = {
  name: "openclaw",
  version: "2026.9.6",
  packages: ["openclaw@2026.9.6"],
  program: (installed, node) => [node, join(installed, "openclaw/openclaw.mjs")],
  adapter: "openclaw",
  folder: ".openclaw",
  environment: { OPENCLAW_SKIP_CHANNELS: "1", OPENCLAW_NO_UPDATE_CHECK: "1" },
  configure(home) {
    const mock = { baseUrl: `${MODEL_URL}/v1`, apiKey: "none", api: "openai-completions", models: [MODEL] }
    // The directory that it is started in.
    const workspace = "$" + "{PWD}"
    const defaults = { model: { primary: "mock/mock-model" }, workspace, skipBootstrap: true }
    const settings = { models: { mode: "merge", providers: { mock } }, agents: { defaults } }
    write(join(home, ".openclaw/openclaw.json"), JSON.stringify(settings))
  },
  begin: (prompt) => [...OPENCLAW, "--session-key", `agent:main:s${crypto.randomUUID().slice(0, 8)}`, "-m", prompt],
  resume: (session, prompt) => [...OPENCLAW, "--session-id", session, "-m", prompt],
  fork: () => [],
  list: () => ["openclaw", "sessions", "--json"],
  // Logs it takes over into its database, and then puts them away.
  broughtBack: (home) => (existsSync(join(home, INDEX)) ? [...IMPORT] : undefined),
  keeps: [".openclaw/agents/main/agent"],
  sessions: (home) => rowsOf(join(home, DATABASE)),
}
const INDEX = ".openclaw/agents/main/sessions/sessions.json"
const IMPORT = ["openclaw", "doctor", "--session-sqlite", "import"]
const OPENCLAW = ["openclaw", "agent", "--local", "--agent", "main"]

function rowsOf(file: string): StoredSession[] {
  if (!existsSync(file)) return []
  const database = new Database(file, { readonly: true })
  const sql = "SELECT session_id, session_key FROM session_windows ORDER BY created_at"
  const rows = database.query(sql).all() as StoredRow[]
  database.close()
  return rows.map(({ session_id: id, session_key: key }) => ({ id, file, isAgent: key.includes(":subagent:") }))
}

interface StoredRow {
  readonly session_id: string
  readonly session_key: string
}
