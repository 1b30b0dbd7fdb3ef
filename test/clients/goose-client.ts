/** Goose: all sessions in one database. */
import { Database } from "bun:sqlite"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { type Client, MODEL_URL, type StoredSession, write } from "./client.ts"

const DATABASE = ".local/share/goose/sessions/sessions.db"

export const goose: Client = {
  name: "goose",
  version: "1.52.0",
  packages: ["@aaif/goose-binary-linux-x64@1.52.0"],
  program: (installed) => [join(installed, "@aaif/goose-binary-linux-x64/bin/goose")],
  adapter: "goose",
  folder: ".local/share/goose",
  environment: {
    GOOSE_PROVIDER: "openai",
    GOOSE_MODEL: "gpt-4o",
    GOOSE_MODE: "auto",
    GOOSE_DISABLE_KEYRING: "1",
    GOOSE_TELEMETRY_ENABLED: "false",
    OPENAI_HOST: MODEL_URL,
    OPENAI_API_KEY: "none",
  },
  configure: (home) =>
    write(
      join(home, ".config/goose/config.yaml"),
      "extensions:\n  developer:\n    enabled: true\n    type: builtin\n    name: developer\n    timeout: 300\n",
    ),
  begin: (prompt) => ["goose", "run", "-t", prompt],
  resume: (session, prompt) => ["goose", "run", "--resume", "--session-id", session, "-t", prompt],
  fork: () => [],
  list: () => ["goose", "session", "list", "--format", "json"],
  keeps: [DATABASE, `${DATABASE}-wal`],
  sessions: (home) => rowsOf(join(home, DATABASE)),
}

function rowsOf(file: string): StoredSession[] {
  if (!existsSync(file)) return []
  const database = new Database(file, { readonly: true })
  const rows = database.query("SELECT id, session_type FROM sessions ORDER BY created_at, id").all() as StoredRow[]
  database.close()
  return rows.map(({ id, session_type: type }) => ({ id, file, isAgent: type === "sub_agent" }))
}

interface StoredRow {
  readonly id: string
  readonly session_type: string
}
