/** Cline's command line: a folder for each session, which it goes on with in an editor alone. */
import { readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { type Client, filesBelow, MODEL_URL, write } from "./client.ts"
import { asEditor } from "./editor.ts"

const MESSAGES = ".messages.json"
/** As an editor starts it. With `--id` it wants a terminal. */
const AGENT = ["cline", "--acp", "--auto-approve", "true"]

export const cline: Client = {
  name: "cline",
  version: "3.0.65",
  packages: ["@cline/cli-linux-x64@3.0.65"],
  program: (installed) => [join(installed, "@cline/cli-linux-x64/bin/cline")],
  adapter: "cline",
  folder: ".cline/data",
  environment: {
    CLINE_NO_AUTO_UPDATE: "1",
    CLINE_NO_INTERACTIVE: "1",
    CLINE_DISABLE_CLINE_PASS_NOTICE: "1",
    // To an editor they stand for a login.
    CLINE_API_KEY: "none",
    CLINE_PROVIDER: "openai-compatible",
    CLINE_MODEL: "mock-model",
  },
  configure(home) {
    const provider = "openai-compatible"
    const settings = { provider, apiKey: "none", model: "mock-model", baseUrl: `${MODEL_URL}/v1` }
    const described = { settings, updatedAt: "2026-01-01T00:00:00.000Z", tokenSource: "manual" }
    const all = { version: 1, lastUsedProvider: provider, modes: {}, providers: { [provider]: described } }
    write(join(home, ".cline/data/settings/providers.json"), JSON.stringify(all))
  },
  begin: (prompt) => ["cline", prompt],
  resume: (session, prompt) => asEditor({ session, prompt }, AGENT),
  fork: () => [],
  list: () => ["cline", "history", "--json"],
  // It sends what its tools say as the JSON that it is, in a list of one.
  withoutAdded: (text) => text.replace(/^\[(\{.*\})\]$/s, "$1"),
  keeps: [".cline/data/sessions"],
  sessions: (home) =>
    filesBelow(join(home, ".cline/data/sessions"))
      .filter((file) => file.endsWith(MESSAGES))
      .map((file) => {
        const id = basename(file, MESSAGES)
        const isAgent = id !== basename(dirname(file))
        return { id: isAgent ? sessionIn(file) : id, file, isAgent }
      }),
}

function sessionIn(file: string): string {
  const { sessionId } = JSON.parse(readFileSync(file, "utf8")) as { readonly sessionId?: string }
  return sessionId ?? basename(file, MESSAGES)
}
