/** Qwen Code's MCP servers: `mcpServers` of its settings, which its own `mcp add --scope user` writes. */
import { join } from "node:path"
import type { Hooks } from "../hooks.ts"
import type { Registration } from "../registration.ts"
import { groupedHooks } from "../shared/hook-entries.ts"
import { programAndArguments } from "../shared/server-entries.ts"
import { homeOf } from "./roots.ts"

export const registration: Registration = {
  files: (environment, home) => [{ path: join(homeOf(environment, home), "settings.json"), form: "json" }],
  servers: ["mcpServers"],
  ...programAndArguments(),
  byHand: (name, command) => ["qwen", "mcp", "add", "--scope", "user", name, ...command],
}

export const hooks: Hooks = {
  file: (environment, home) => join(homeOf(environment, home), "settings.json"),
  content: groupedHooks({
    client: "qwen-code",
    moments: [
      { event: "session-start", name: "SessionStart", matcher: "compact" },
      { event: "prompt", name: "UserPromptSubmit" },
      { event: "pre-compact", name: "PreCompact" },
      { event: "session-end", name: "SessionEnd" },
    ],
    timeoutsIn: "milliseconds",
  }),
}
