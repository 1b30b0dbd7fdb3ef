/** Gemini CLI's MCP servers: `mcpServers` of its settings, which its own `mcp add --scope user` writes. */
import { join } from "node:path"
import type { Registration } from "../registration.ts"
import { programAndArguments } from "../shared/server-entries.ts"

export const registration: Registration = {
  files: (environment, home) => [
    { path: join(environment["GEMINI_CLI_HOME"] || home, ".gemini", "settings.json"), form: "json" },
  ],
  servers: ["mcpServers"],
  ...programAndArguments(),
  byHand: (name, command) => ["gemini", "mcp", "add", "--scope", "user", name, ...command],
}
