/** Qwen Code's MCP servers: `mcpServers` of its settings, which its own `mcp add --scope user` writes. */
import { join } from "node:path"
import type { Registration } from "../registration.ts"
import { programAndArguments } from "../shared/server-entries.ts"
import { homeOf } from "./source.ts"

export const registration: Registration = {
  files: (environment, home) => [{ path: join(homeOf(environment, home), "settings.json"), form: "json" }],
  servers: ["mcpServers"],
  ...programAndArguments(),
  byHand: (name, command) => ["qwen", "mcp", "add", "--scope", "user", name, ...command],
}
