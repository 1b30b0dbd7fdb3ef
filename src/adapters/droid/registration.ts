/** Droid's MCP servers: `mcp.json` of its home, which its own `mcp add` writes. */
import { join } from "node:path"
import type { Registration } from "../registration.ts"
import { programAndArguments } from "../shared/server-entries.ts"
import { homeOf } from "./roots.ts"

export const registration: Registration = {
  files: (environment, home) => [{ path: join(homeOf(environment, home), "mcp.json"), form: "json" }],
  servers: ["mcpServers"],
  ...programAndArguments({ type: "stdio" }),
  byHand: (name, command) => ["droid", "mcp", "add", name, ...command],
}
