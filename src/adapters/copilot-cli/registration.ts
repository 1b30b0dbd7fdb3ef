/** Copilot's MCP servers: `mcpServers` of `mcp-config.json`, which its own `mcp add` writes. */
import { join } from "node:path"
import { HOOK_TIMEOUT_S, type Hooks } from "../hooks.ts"
import type { Registration } from "../registration.ts"
import { hookLine } from "../shared/hook-entries.ts"
import { programAndArguments } from "../shared/server-entries.ts"

export const registration: Registration = {
  files: (environment, home) => [
    { path: join(environment["COPILOT_HOME"] || join(home, ".copilot"), "mcp-config.json"), form: "json" },
  ],
  servers: ["mcpServers"],
  ...programAndArguments({ tools: ["*"], type: "local" }),
  byHand: (name, command) => ["copilot", "mcp", "add", name, "--", ...command],
}

const MOMENTS = [
  ["prompt", "userPromptSubmitted"],
  ["session-end", "sessionEnd"],
] as const

/** It reads every file of that folder. */
export const hooks: Hooks = {
  file: (environment, home) => join(environment["COPILOT_HOME"] || join(home, ".copilot"), "hooks", "pond.json"),
  content: {
    kind: "file",
    text: (_, line) => {
      const entries = MOMENTS.map(([event, name]) => [
        name,
        [{ type: "command", bash: hookLine(line, event, "copilot-cli"), timeoutSec: HOOK_TIMEOUT_S }],
      ])
      return `${JSON.stringify({ version: 1, hooks: Object.fromEntries(entries) }, null, 2)}\n`
    },
  },
}
