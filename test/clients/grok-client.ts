/** Grok Build: a folder for each session, one log for its model and one for whoever watches. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { brotliDecompressSync } from "node:zlib"
import { type Client, filesBelow, MODEL_URL, write } from "./client.ts"

const PROGRAM = "@xai-official/grok-linux-x64/bin/grok"

export const grok: Client = {
  name: "grok",
  version: "1.0.41",
  packages: ["@xai-official/grok@1.0.41"],
  program: (installed) => [join(installed, PROGRAM)],
  unpack(installed) {
    const path = join(installed, PROGRAM)
    if (existsSync(path)) return
    writeFileSync(path, brotliDecompressSync(readFileSync(`${path}.br`)))
    chmodSync(path, 0o755)
  },
  adapter: "grok",
  folder: ".grok",
  environment: {
    GROK_DISABLE_AUTOUPDATER: "1",
    GROK_SUBAGENTS: "1",
    GROK_FEEDBACK_ENABLED: "0",
    GROK_ERROR_REPORTING: "0",
  },
  configure(home) {
    const model = ['model = "mock-model"', 'name = "Scripted"', `base_url = "${MODEL_URL}/v1"`, 'api_key = "none"']
    const lines = ["[models]", 'default = "mock"', "[model.mock]", ...model, "context_window = 200000"]
    write(join(home, ".grok/config.toml"), [...lines, "[cli]", "auto_update = false", ""].join("\n"))
  },
  begin: (prompt, { image }) => [...GROK, ...(image === undefined ? ["-p", prompt] : withPicture(image, prompt))],
  resume: (session, prompt) => [...GROK, "--resume", session, "-p", prompt],
  fork: (session, prompt) => [...GROK, "--resume", session, "--fork-session", "-p", prompt],
  compact: (session) => [...GROK, "--resume", session, "-p", "/compact"],
  list: () => ["grok", "sessions", "list"],
  keeps: [".grok/sessions"],
  sessions: (home) =>
    filesBelow(join(home, ".grok/sessions"))
      .filter((file) => file.endsWith("/summary.json"))
      .map((file) => {
        const { session_kind: kind = "" } = JSON.parse(readFileSync(file, "utf8")) as { session_kind?: string }
        return { id: basename(dirname(file)), file, isAgent: kind.startsWith("subagent") }
      }),
}
const GROK = ["grok", "-m", "mock", "--always-approve"]

function withPicture(image: string, text: string): string[] {
  const picture = { type: "image", mimeType: "image/png", data: readFileSync(image).toString("base64") }
  return ["--prompt-json", JSON.stringify([picture, { type: "text", text }])]
}
