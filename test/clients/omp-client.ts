/** oh-my-pi: pi's sessions in folders of its own, run by Bun. */
import { join } from "node:path"
import { type Client, filesBelow, MODEL_URL, recordsOf, write } from "./client.ts"
import { placeOf } from "./place.ts"

const MODEL = {
  ...{ id: "mock-model", name: "Scripted", reasoning: true, input: ["text", "image"] },
  ...{ contextWindow: 200_000, maxTokens: 32_000 },
  cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
}
const PROVIDERS = { mock: { baseUrl: MODEL_URL, api: "anthropic-messages", apiKey: "none", models: [MODEL] } }
const WORDS = ["omp", "-p", "--auto-approve", "--no-lsp", "--model", "mock/mock-model", "--thinking", "medium"]

const LIST = `
const { SessionManager } = await import(process.argv[1])
console.log((await SessionManager.listAll()).map(({ id }) => id).join("\\n"))
process.exit(0)`

function packageAt(file: string): string {
  return join(placeOf().root, "pkgs/omp/node_modules/@oh-my-pi/pi-coding-agent", file)
}

export const omp: Client = {
  name: "omp",
  version: "18.2.3",
  packages: ["@oh-my-pi/pi-coding-agent@18.2.3"],
  program: (installed) => [process.execPath, join(installed, "@oh-my-pi/pi-coding-agent/dist/cli.js")],
  adapter: "oh-my-pi",
  folder: ".omp/agent",
  // Else it names lines by hashes of them, which a scripted model does not know.
  environment: { PI_NO_TITLE: "1", PI_EDIT_VARIANT: "replace" },
  // A JSON document is YAML.
  configure: (home) => write(join(home, ".omp/agent/models.yml"), JSON.stringify({ providers: PROVIDERS })),
  begin: (prompt, { image }) => [...WORDS, ...(image === undefined ? [] : [`@${image}`]), prompt],
  resume: (session, prompt) => [...WORDS, "--resume", session, prompt],
  fork: (session, prompt) => [...WORDS, "--fork", session, prompt],
  list: () => [process.execPath, "-e", LIST, packageAt("src/session/session-manager.ts")],
  keeps: [".omp/agent/sessions", ".omp/agent/blobs"],
  sessions: (home) =>
    filesBelow(join(home, ".omp/agent/sessions"))
      .filter((file) => file.endsWith(".jsonl"))
      .map((file) => ({
        id: recordsOf<{ type?: string; id?: string }>(file).find(({ type }) => type === "session")?.id ?? "",
        file,
        isAgent: !/\/sessions\/[^/]+\/[^/]+$/.test(file),
      })),
}
