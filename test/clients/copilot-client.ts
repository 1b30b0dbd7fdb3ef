/** GitHub's Copilot CLI: a folder of events for each session. */
import { basename, dirname, join } from "node:path"
import { type Client, filesBelow, MODEL_URL } from "./client.ts"

export const copilot: Client = {
  name: "copilot",
  version: "1.0.102",
  packages: ["@github/copilot@1.0.102", "@github/copilot-linux-x64@1.0.102"],
  program: (installed) => [join(installed, "@github/copilot-linux-x64/copilot")],
  adapter: "copilot-cli",
  folder: ".copilot",
  environment: {
    COPILOT_OFFLINE: "true",
    COPILOT_AUTO_UPDATE: "false",
    COPILOT_PROVIDER_BASE_URL: `${MODEL_URL}/v1`,
    COPILOT_PROVIDER_TYPE: "openai",
    COPILOT_PROVIDER_API_KEY: "none",
    COPILOT_MODEL: "mock-model",
    COPILOT_PROVIDER_MAX_PROMPT_TOKENS: "200000",
    COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: "32000",
  },
  configure: () => undefined,
  begin: (prompt, { image }) => [...COPILOT, ...(image === undefined ? [] : ["--attachment", image]), "-p", prompt],
  resume: (session, prompt) => [...COPILOT, `--resume=${session}`, "-p", prompt],
  // In a terminal alone.
  fork: () => [],
  // It tells its model the whole sentence, and stores the beginning.
  asStored: (text) => text.replace(/^Path .* does not exist\. Please provide a valid path\.$/, "Path does not exist"),
  compact: (session) => [...COPILOT, `--resume=${session}`, "-p", "/compact"],
  latest: (prompt) => [...COPILOT, "--continue", "-p", prompt],
  keeps: [".copilot/session-state"],
  sessions: (home) =>
    filesBelow(join(home, ".copilot/session-state"))
      .filter((file) => file.endsWith("events.jsonl"))
      .map((file) => ({ id: basename(dirname(file)), file, isAgent: false })),
}
const COPILOT = ["copilot", "--allow-all-tools", "--allow-all-paths"]
