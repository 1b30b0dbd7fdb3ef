/** Grok's MCP servers: `[mcp_servers.<name>]` of `config.toml`, as its own guide has it. */
import { join } from "node:path"
import type { Registration } from "../registration.ts"
import { programAndArguments } from "../shared/server-entries.ts"

export const registration: Registration = {
  files: (environment, home) => [
    { path: join(environment["GROK_HOME"] || join(home, ".grok"), "config.toml"), form: "toml" },
  ],
  servers: ["mcp_servers"],
  ...programAndArguments(),
}
