/** Kimi's MCP servers: `mcp.json` beside its sessions. It has no command that adds one. */
import { join } from "node:path"
import type { Registration } from "../registration.ts"
import { programAndArguments } from "../shared/server-entries.ts"

export const registration: Registration = {
  files: (environment, home) => [
    { path: join(environment["KIMI_CODE_HOME"] || join(home, ".kimi-code"), "mcp.json"), form: "json" },
  ],
  servers: ["mcpServers"],
  ...programAndArguments(),
}
