/** Cursor's MCP servers of a user: `mcpServers` of `mcp.json`, which its editor and its command line both read. */
import { join } from "node:path"
import type { Registration } from "../registration.ts"
import { programAndArguments } from "../shared/server-entries.ts"

export const registration: Registration = {
  files: (_, home) => [{ path: join(home, ".cursor", "mcp.json"), form: "json" }],
  servers: ["mcpServers"],
  ...programAndArguments(),
}
