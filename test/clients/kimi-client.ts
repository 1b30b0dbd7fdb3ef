/** Kimi Code: a folder for each session, with a log for each of its agents. */
import { basename, dirname, join } from "node:path"
import { type Client, filesBelow, MODEL_URL } from "./client.ts"
import { asEditor } from "./editor.ts"

/** As an editor starts it. */
const AGENT = ["kimi", "acp"]
/** What it puts around a result for its model alone: how long a call took, that it failed, what it knows of a file. */
const ADDED = /^Wall time: .*\n?|<system>[^<]*<\/system>\n?/gm

export const kimi: Client = {
  name: "kimi",
  version: "2.1.0",
  packages: ["@moonshot-ai/kimi-code@2.1.0"],
  program: (installed, node) => [node, join(installed, "@moonshot-ai/kimi-code/dist/main.mjs")],
  adapter: "kimi",
  folder: ".kimi-code",
  environment: {
    KIMI_MODEL_NAME: "mock-model",
    KIMI_MODEL_API_KEY: "none",
    KIMI_MODEL_BASE_URL: `${MODEL_URL}/v1`,
    KIMI_MODEL_PROVIDER_TYPE: "openai",
    KIMI_MODEL_MAX_CONTEXT_SIZE: "200000",
    KIMI_MODEL_CAPABILITIES: "thinking,image_in,tool_use",
    KIMI_DISABLE_TELEMETRY: "1",
    KIMI_CODE_NO_AUTO_UPDATE: "1",
    KIMI_DISABLE_CRON: "1",
  },
  configure: () => undefined,
  begin: (prompt, { image }) => (image === undefined ? ["kimi", "-p", prompt] : asEditor({ prompt, image }, AGENT)),
  // A session that another client left names no model: the one of the settings, or of the environment, is meant.
  resume: (session, prompt) => ["kimi", "-S", session, "-m", "__kimi_env_model__", "-p", prompt],
  fork: (session, prompt) => [
    ...["bash", "-c", 'new=$(kimi fork "$0" -y | grep -o "session_[0-9a-f-]*" | head -1); kimi -S "$new" -p "$1"'],
    ...[session, prompt],
  ],
  compact: (session) => asEditor({ session, prompt: "/compact", lingerMs: 9000 }, AGENT),
  list: () => ["kimi", "session", "list"],
  withoutAdded: (text) => text.replace(ADDED, ""),
  keeps: [".kimi-code/sessions"],
  sessions: (home) =>
    filesBelow(join(home, ".kimi-code/sessions"))
      .filter((file) => file.endsWith("/wire.jsonl"))
      .map((file) => {
        const agent = basename(dirname(file))
        const session = basename(dirname(dirname(dirname(file))))
        return { id: agent === "main" ? session : `${session}:${agent}`, file, isAgent: agent !== "main" }
      }),
}
