/** Cline's MCP servers: a file of their own among its settings. */
import { join } from "node:path"
import type { Registration } from "../registration.ts"
import { programAndArguments } from "../shared/server-entries.ts"
import { dataOf } from "./roots.ts"

const FILE = "cline_mcp_settings.json"

export const registration: Registration = {
  files: (environment, home) => {
    const path = environment["CLINE_MCP_SETTINGS_PATH"] || join(dataOf(environment, home), "settings", FILE)
    return [{ path, form: "json" }]
  },
  servers: ["mcpServers"],
  ...programAndArguments(),
}
