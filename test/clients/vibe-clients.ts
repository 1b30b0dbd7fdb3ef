/** Mistral Vibe: the store of 3.x, which takes over the logs of 2.x. Lists and sums up for editors alone. */

import { existsSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { type Client, filesBelow, MODEL_URL, type StoredSession, write } from "./client.ts"
import { asEditor } from "./editor.ts"

const SESSIONS = ".vibe/logs/session"
const AGENT = ["vibe", "acp"]
const CONFIG = [
  ...['active_model = "mock"', "enable_telemetry = false", "enable_update_checks = false", ""],
  ...["[[providers]]", 'name = "mock"', `api_base = "${MODEL_URL}/v1"`, 'api_key_env_var = "MOCK_KEY"'],
  ...['api_style = "openai"', 'backend = "generic"', ""],
  ...["[[models]]", 'name = "mock-model"', 'provider = "mock"', 'alias = "mock"', "supports_images = true", ""],
]
const shared = {
  isPython: "3.12",
  hasLooseVersions: true,
  adapter: "vibe",
  folder: SESSIONS,
  environment: { MOCK_KEY: "none", MISTRAL_API_KEY: "none" },
  configure: (home: string) => write(join(home, ".vibe/config.toml"), CONFIG.join("\n")),
  fork: () => [],
  keeps: [SESSIONS],
  sessions,
} as const

export const vibe: Client = {
  ...shared,
  name: "vibe",
  version: "3.0.3",
  packages: ["mistral-vibe==3.0.3"],
  program: (installed) => ["bash", "-c", WITH_LIBRARY + ACP_OR_NOT, join(installed, "bin/vibe")],
  begin: (prompt) => [...VIBE, "-p", prompt],
  resume: (session, prompt) => [...VIBE, "--resume", session, "-p", prompt],
  // It goes on with no session whose skills it has not laid out in this home: it does so when it begins one.
  broughtBack: (home) =>
    existsSync(join(home, SESSIONS, "plugins")) ? undefined : [...VIBE, "-p", "[[script:plain]] a first one"],
  compact: (session) => asEditor({ session, prompt: "/compact", lingerMs: 3000 }, AGENT),
  list: () => asEditor({ isListing: true, prompt: "" }, AGENT),
}
const VIBE = ["vibe", "--auto-approve"]
/** Its Python may be a copy, which looks for its library where it was. */
export const WITH_LIBRARY = 'export LD_LIBRARY_PATH="$(dirname "$0")/../../../python3.12/lib"; '
const ACP_OR_NOT = 'if [ "$1" = acp ]; then shift; exec "$0-acp" "$@"; fi; exec "$0" "$@"'

/** The last but a few that kept logs. */
export const oldVibe: Client = {
  ...shared,
  name: "vibe-old",
  version: "2.14.0",
  packages: ["mistral-vibe==2.14.0"],
  program: (installed) => ["bash", "-c", WITH_LIBRARY + ACP_OR_NOT, join(installed, "bin/vibe")],
  begin: (prompt) => [...OLD, "-p", prompt],
  resume: (session, prompt) => [...OLD, "--resume", session, "-p", prompt],
  list: () => asEditor({ isListing: true, prompt: "" }, ["vibe-old", "acp"]),
}
const OLD = ["vibe-old", "--agent", "auto-approve"]

function sessions(home: string): readonly StoredSession[] {
  return filesBelow(join(home, SESSIONS)).flatMap((file): StoredSession[] => {
    if (basename(file) === "CURRENT") return [{ id: basename(dirname(file)), file, isAgent: false }]
    if (!file.endsWith("/meta.json") || file.includes("/unified/")) return []
    const { session_id: id } = JSON.parse(readFileSync(file, "utf8")) as { session_id: string }
    return [{ id, file, isAgent: false }]
  })
}
