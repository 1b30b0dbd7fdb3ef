/** Hermes Agent: all sessions in one database. Summing up and forks are for editors alone, and for sessions of editors. */
import { Database } from "bun:sqlite"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { type Client, MODEL_URL, type StoredSession, write } from "./client.ts"
import { asEditor } from "./editor.ts"

export const hermes: Client = {
  name: "hermes",
  version: "0.19.0",
  packages: ["hermes-agent[acp]==0.19.0"],
  isPython: true,
  program: (installed) => [join(installed, "bin/hermes")],
  adapter: "hermes",
  folder: ".hermes",
  // After an edit of TypeScript it asks npm for a compiler and a language server: without a network, for 100 s.
  environment: { HERMES_ACCEPT_HOOKS: "1", npm_config_offline: "true" },
  configure(home) {
    const model = ["default: mock-model", "provider: custom", `base_url: ${MODEL_URL}/v1`, "api_key: none"]
    const lines = ["model:", ...[...model, "context_length: 200000"].map((line) => `  ${line}`), ""]
    write(join(home, ".hermes/config.yaml"), lines.join("\n"))
  },
  begin: (prompt) => [...HERMES, "-q", prompt],
  resume: (session, prompt) => [...HERMES, "--resume", session, "-q", prompt],
  fork: () => [],
  compact: (session) => [
    // It loads no session for an editor that did not begin in one.
    ...["bash", "-c", '"$0" "$1" "$2" && shift 2 && exec "$@"', process.execPath, AS_EDITORS, session],
    ...asEditor({ session, prompt: "/compact", lingerMs: 3000 }, ["hermes", "acp"]),
  ],
  list: () => ["hermes", "sessions", "list"],
  keeps: [".hermes/state.db", ".hermes/state.db-wal"],
  sessions: (home) => rowsOf(join(home, ".hermes/state.db")),
}
const HERMES = ["hermes", "chat", "-Q", "--yolo"]
const AS_EDITORS = join(import.meta.dir, "hermes-editors.ts")

function rowsOf(file: string): StoredSession[] {
  if (!existsSync(file)) return []
  const database = new Database(file, { readonly: true })
  const rows = database.query("SELECT id, source FROM sessions ORDER BY started_at").all() as StoredRow[]
  database.close()
  return rows.map(({ id, source }) => ({ id, file, isAgent: source === "subagent" }))
}

interface StoredRow {
  readonly id: string
  readonly source: string
}
