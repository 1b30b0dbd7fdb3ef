/** Gemini CLI, and Qwen Code that came of it. */
import { basename, join } from "node:path"
import { type Client, filesBelow, MODEL_URL, recordsOf, write } from "./client.ts"

export const qwen: Client = {
  name: "qwen",
  version: "0.24.4",
  packages: ["@qwen-code/qwen-code@0.24.4"],
  program: (installed, node) => [node, join(installed, "@qwen-code/qwen-code/cli-entry.js")],
  adapter: "qwen-code",
  folder: ".qwen",
  environment: { OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${MODEL_URL}/v1`, OPENAI_MODEL: "mock-model" },
  configure: (home) =>
    write(
      join(home, ".qwen/settings.json"),
      JSON.stringify({
        security: { auth: { selectedType: "openai" } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false },
        model: { generationConfig: { modalities: { image: true }, contextWindowSize: 200_000 } },
      }),
    ),
  begin: (prompt, { image }) => ["qwen", "--yolo", (image === undefined ? "" : `@${image} `) + prompt],
  resume: (session, prompt) => ["qwen", "--yolo", "--resume", session, prompt],
  fork: (session, prompt) => ["qwen", "--yolo", "--resume", session, "--fork-session", prompt],
  compact: (session) => ["qwen", "--yolo", "--resume", session, "/compress"],
  list: () => ["qwen", "sessions", "list"],
  keeps: [".qwen/projects"],
  sessions: (home) =>
    filesBelow(join(home, ".qwen/projects"))
      .filter((file) => /chats\/[^/]*\.jsonl$/.test(file))
      .map((file) => ({ id: basename(file, ".jsonl"), file, isAgent: false })),
}

export const gemini: Client = {
  name: "gemini",
  version: "0.61.0",
  packages: ["@google/gemini-cli@0.61.0"],
  program: (installed, node) => [node, join(installed, "@google/gemini-cli/bundle/gemini.js")],
  adapter: "gemini-cli",
  folder: ".gemini",
  environment: {
    GEMINI_API_KEY: "none",
    GOOGLE_GEMINI_BASE_URL: MODEL_URL,
    GEMINI_CLI_NO_RELAUNCH: "true",
    GEMINI_CLI_TRUST_WORKSPACE: "true",
  },
  configure: (home) =>
    write(
      join(home, ".gemini/settings.json"),
      JSON.stringify({
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { disableAutoUpdate: true, enableAutoUpdate: false, enableAutoUpdateNotification: false },
      }),
    ),
  begin: (prompt, { image }) => [...GEMINI, "-p", (image === undefined ? "" : `@${image} `) + prompt],
  resume: (session, prompt) => [...GEMINI, "-r", session, "-p", prompt],
  fork: () => [],
  repeatsResults: true,
  list: () => ["gemini", "--list-sessions"],
  keeps: [".gemini/tmp", ".gemini/projects.json"],
  sessions: (home) =>
    filesBelow(join(home, ".gemini/tmp"))
      .filter((file) => /\/chats\/.*\.jsonl$/.test(file))
      .map((file) => {
        const [header] = recordsOf<{ readonly sessionId?: string; readonly kind?: string }>(file)
        return { id: header?.sessionId ?? "", file, isAgent: header?.kind === "subagent" }
      }),
}
const GEMINI = ["gemini", "--yolo", "-m", "gemini-2.5-pro"]
