/** OpenHands' MCP servers: `mcp.json` beside its conversations, as its own `mcp add` writes it. */
import { join } from "node:path"
import type { Registration } from "../registration.ts"
import { programAndArguments } from "../shared/server-entries.ts"
import { homeOf } from "./roots.ts"

export const registration: Registration = {
  files: (environment, home) => [{ path: join(homeOf(environment, home), "mcp.json"), form: "json" }],
  servers: ["mcpServers"],
  ...programAndArguments({ transport: "stdio", enabled: true }),
  byHand: (name, command) => ["openhands", "mcp", "add", name, "--transport", "stdio", ...command],
}
