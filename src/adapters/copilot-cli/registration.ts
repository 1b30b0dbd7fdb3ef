/** Copilot's MCP servers: `mcpServers` of `mcp-config.json`, which its own `mcp add` writes. */
import { join } from "node:path"
import type { Registration } from "../registration.ts"
import { programAndArguments } from "../shared/server-entries.ts"

export const registration: Registration = {
  files: (environment, home) => [
    { path: join(environment["COPILOT_HOME"] || join(home, ".copilot"), "mcp-config.json"), form: "json" },
  ],
  servers: ["mcpServers"],
  ...programAndArguments({ tools: ["*"], type: "local" }),
  byHand: (name, command) => ["copilot", "mcp", "add", name, "--", ...command],
}
