/** Clients that `pond blame` is judged with, and nothing else yet: how they are started, and where their sessions lie. */
import { basename, dirname, join } from "node:path"
import { type Client, filesBelow, MODEL_URL, recordsOf, write } from "./client.ts"

const qwen: Client = {
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
      }),
    ),
  begin: (prompt) => ["qwen", "--yolo", prompt],
  resume: (session, prompt) => ["qwen", "--yolo", "--resume", session, prompt],
  fork: (session, prompt) => ["qwen", "--yolo", "--resume", session, "--fork-session", prompt],
  keeps: [".qwen/projects"],
  sessions: (home) =>
    filesBelow(join(home, ".qwen/projects"))
      .filter((file) => /chats\/[^/]*\.jsonl$/.test(file))
      .map((file) => ({ id: basename(file, ".jsonl"), file, isAgent: false })),
}

const copilot: Client = {
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
  begin: (prompt) => [...COPILOT, "-p", prompt],
  resume: (session, prompt) => [...COPILOT, `--resume=${session}`, "-p", prompt],
  fork: (session, prompt) => [...COPILOT, `--resume=${session}`, "-p", prompt],
  keeps: [".copilot/session-state"],
  sessions: (home) =>
    filesBelow(join(home, ".copilot/session-state"))
      .filter((file) => file.endsWith("events.jsonl"))
      .map((file) => ({ id: basename(dirname(file)), file, isAgent: false })),
}
const COPILOT = ["copilot", "--allow-all-tools", "--allow-all-paths"]

const gemini: Client = {
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
  begin: (prompt) => [...GEMINI, "-p", prompt],
  resume: (session, prompt) => [...GEMINI, "-r", session, "-p", prompt],
  fork: () => [],
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

export const EDITING_CLIENTS: readonly Client[] = [qwen, copilot, gemini]
