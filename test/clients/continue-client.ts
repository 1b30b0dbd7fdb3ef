/** Continue's command line: a document for each session, and a list of them. */
import { basename, join } from "node:path"
import { type Client, filesBelow, MODEL_URL, write } from "./client.ts"

const CONFIG = ".continue/scripted.yaml"
const CN = ["cn", "-p", "--auto"]

export const continued: Client = {
  name: "cn",
  version: "1.5.47",
  packages: ["@continuedev/cli@1.5.47"],
  program: (installed, node) => [node, join(installed, "@continuedev/cli/dist/cn.js")],
  adapter: "continue",
  folder: ".continue",
  environment: { CONTINUE_TELEMETRY_ENABLED: "0", CONTINUE_CLI_DISABLE_COMMIT_SIGNATURE: "1" },
  configure(home) {
    const model = [
      ...["  - name: Scripted", "    provider: openai", "    model: mock-model", `    apiBase: ${MODEL_URL}/v1`],
      ...["    apiKey: none", "    roles: [chat]", "    capabilities: [tool_use, image_input]"],
    ]
    write(join(home, CONFIG), ["name: scripted", "version: 1.0.0", "schema: v1", "models:", ...model, ""].join("\n"))
  },
  begin: (prompt) => inHome(prompt, []),
  // It goes on with the newest session alone.
  resume: (session, prompt) => inHome(prompt, ["--resume"], session),
  fork: (session, prompt) => inHome(prompt, ["--fork", session]),
  list: () => ["cn", "ls", "--json"],
  keeps: [".continue/sessions"],
  sessions: (home) =>
    filesBelow(join(home, ".continue/sessions"))
      .filter((file) => /\/[0-9a-f-]{36}\.json$/.test(file))
      .map((file) => ({ id: basename(file, ".json"), file, isAgent: false })),
}

function inHome(prompt: string, words: readonly string[], touched?: string): readonly string[] {
  const touch = touched === undefined ? "" : `touch "$HOME/.continue/sessions/${touched}.json"; `
  return ["bash", "-c", `${touch}exec "$@" --config "$HOME/${CONFIG}" "$0"`, prompt, ...CN, ...words]
}
