/** Cline's MCP servers: a file of their own among its settings. */
import { join } from "node:path"
import type { Registration } from "../registration.ts"
import { programAndArguments } from "../shared/server-entries.ts"
import { dataOf } from "./roots.ts"

export const registration: Registration = {
  files: (environment, home) => [
    { path: join(dataOf(environment, home), "settings", "cline_mcp_settings.json"), form: "json" },
  ],
  servers: ["mcpServers"],
  ...programAndArguments(),
}
