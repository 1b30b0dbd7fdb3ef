/** Gemini CLI's MCP servers: `mcpServers` of its settings, which its own `mcp add --scope user` writes. */
import { join } from "node:path"
import type { Hooks } from "../hooks.ts"
import type { Registration } from "../registration.ts"
import { groupedHooks } from "../shared/hook-entries.ts"
import { programAndArguments } from "../shared/server-entries.ts"

export const registration: Registration = {
  files: (environment, home) => [
    { path: join(environment["GEMINI_CLI_HOME"] || home, ".gemini", "settings.json"), form: "json" },
  ],
  servers: ["mcpServers"],
  ...programAndArguments(),
  byHand: (name, command) => ["gemini", "mcp", "add", "--scope", "user", name, ...command],
}

export const hooks: Hooks = {
  file: (environment, home) => join(environment["GEMINI_CLI_HOME"] || home, ".gemini", "settings.json"),
  content: groupedHooks({
    client: "gemini-cli",
    // Its PreCompress is not waited for, and nothing of it reaches the model: the next prompt hands back.
    moments: [
      { event: "prompt", name: "BeforeAgent" },
      { event: "pre-compact", name: "PreCompress" },
      { event: "session-end", name: "SessionEnd" },
    ],
    timeoutsIn: "milliseconds",
    isNamed: true,
  }),
}
