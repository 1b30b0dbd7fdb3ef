/** Factory's Droid: a log for each session, in a folder for each directory. */
import { basename, join } from "node:path"
import { type Client, filesBelow, MODEL_URL, recordsOf, write } from "./client.ts"

const MODEL = "custom:Scripted-0"

export const droid: Client = {
  name: "droid",
  version: "0.225.2",
  packages: ["@factory/cli-linux-x64@0.225.2"],
  program: (installed) => [join(installed, "@factory/cli-linux-x64/bin/droid")],
  adapter: "droid",
  folder: ".factory",
  environment: {
    FACTORY_API_KEY: "fk-none",
    FACTORYD_DISABLE_AUTO_UPDATE: "1",
    FACTORY_DROID_AUTO_UPDATE_ENABLED: "false",
    FACTORY_API_BASE_URL: MODEL_URL,
  },
  configure(home) {
    const model = {
      ...{ model: "mock-model", id: MODEL, index: 0, displayName: "Scripted", baseUrl: `${MODEL_URL}/v1` },
      ...{ apiKey: "none", provider: "generic-chat-completion-api", maxOutputTokens: 8192 },
    }
    write(join(home, ".factory/settings.json"), JSON.stringify({ customModels: [model], cloudSessionSync: false }))
  },
  begin: (prompt) => [...DROID, prompt],
  resume: (session, prompt) => [...DROID, "-s", session, prompt],
  fork: (session, prompt) => [...DROID, "--fork", session, prompt],
  // It has no list but in a terminal, and finds what it would list: all prompts of the scenarios have this word.
  list: () => ["droid", "search", "script"],
  keeps: [".factory/sessions", ".factory/state/task-invocations.json"],
  sessions: (home) =>
    filesBelow(join(home, ".factory/sessions"))
      .filter((file) => file.endsWith(".jsonl"))
      .map((file) => {
        const [start] = recordsOf<{ readonly callingSessionId?: string }>(file)
        return { id: basename(file, ".jsonl"), file, isAgent: start?.callingSessionId !== undefined }
      }),
}
const DROID = ["droid", "exec", "-m", MODEL, "--skip-permissions-unsafe"]
