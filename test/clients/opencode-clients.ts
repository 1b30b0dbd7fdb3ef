/** opencode, and Kilo Code, which is made of it: each calls its program, its folders and its database by its own name. */
import { Database } from "bun:sqlite"
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Client, MODEL_URL, type StoredSession, write } from "./client.ts"
import type { Step } from "./drive.ts"

const SCRIPTED = {
  ...{ name: "Scripted", reasoning: true, tool_call: true, attachment: true },
  ...{ cost: { input: 3, output: 15 }, limit: { context: 200_000, output: 32_000 } },
  modalities: { input: ["text", "image"], output: ["text"] },
}

export const opencode: Client = {
  ...madeOf("opencode", ["opencode", "run"]),
  version: "1.18.33",
  packages: ["opencode-ai@1.18.33", "opencode-linux-x64@1.18.33"],
  program: (installed) => [join(installed, "opencode-linux-x64/bin/opencode")],
  environment: off("OPENCODE", ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"]),
  served(session, prompt) {
    const path = `/api/session/${session}`
    const steps: Step[] = [
      { ask: "/api/model", until: "mock-model" },
      { ask: `${path}/prompt`, params: { prompt: { text: prompt } } },
      { ask: `${path}/context`, until: "CHECK-OK" },
    ]
    return [process.execPath, join(import.meta.dir, "drive.ts"), "opencode", JSON.stringify(steps)]
  },
}

export const kilo: Client = {
  ...madeOf("kilo", ["kilo", "run", "--auto"]),
  version: "7.7.9",
  packages: ["@kilocode/cli-linux-x64@7.7.9"],
  program: (installed) => [join(installed, "@kilocode/cli-linux-x64/bin/kilo")],
  environment: {
    ...off("KILO", ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SESSION_INGEST"]),
    ...off("KILO", ["PRESENCE", "CODEBASE_INDEXING", "SHARE"]),
    ...{ KILO_NO_DAEMON: "1", KILO_TELEMETRY_LEVEL: "off" },
  },
}

function off(prefix: string, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [`${prefix}_DISABLE_${name}`, "1"]))
}

function madeOf(
  name: string,
  run: readonly string[],
): Omit<Client, "version" | "packages" | "program" | "environment"> {
  const folder = `.local/share/${name}`
  const database = `${folder}/${name}.db`
  return {
    ...{ name, adapter: name, folder },
    configure(home) {
      const scripted = {
        ...{ npm: "@ai-sdk/openai-compatible", name: "Scripted" },
        options: { baseURL: `${MODEL_URL}/v1`, apiKey: "none" },
        models: { "mock-model": SCRIPTED },
      }
      const config = {
        ...{ autoupdate: false, share: "disabled", permission: "allow" },
        ...{ model: "mock/mock-model", small_model: "mock/mock-model", provider: { mock: scripted } },
      }
      write(join(home, `.config/${name}/${name}.json`), JSON.stringify(config))
    },
    begin: (prompt, { image, args = [] }) => [...run, prompt, ...(image === undefined ? [] : ["-f", image]), ...args],
    resume: (session, prompt) => [...run, "-s", session, prompt],
    fork: (session, prompt) => [...run, "-s", session, "--fork", prompt],
    list: () => [name, "session", "list", "--format", "json"],
    keeps: [
      ...["", "-wal", "-shm"].map((end) => `${database}${end}`),
      ...["storage", "tool-output"].map((each) => `${folder}/${each}`),
    ],
    sessions: (home) => sessionsIn(join(home, database)),
  }
}

function sessionsIn(file: string): readonly StoredSession[] {
  if (!existsSync(file)) return []
  // Opening it where it lies would take in and drop the -wal file that the client has left.
  const folder = mkdtempSync(join(tmpdir(), "pond-clients-db-"))
  try {
    for (const end of ["", "-wal"]) if (existsSync(file + end)) copyFileSync(file + end, join(folder, `copy.db${end}`))
    using database = new Database(join(folder, "copy.db"))
    const rows = database.query("select id, parent_id from session order by time_created, id").all()
    return (rows as { id: string; parent_id: string | null }[]).map(({ id, parent_id }) => ({
      ...{ id, file, isAgent: parent_id !== null },
    }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
