/** Vibe's MCP servers: a list of tables in `config.toml`. Its own `mcp add` adds servers on the network alone. */
import { join } from "node:path"
import type { Registration } from "../registration.ts"
import { programAndArguments } from "../shared/server-entries.ts"

export const registration: Registration = {
  files: (environment, home) => [
    { path: join(environment["VIBE_HOME"] || join(home, ".vibe"), "config.toml"), form: "toml" },
  ],
  isOnlyChanged: true,
  servers: ["mcp_servers"],
  named: "name",
  ...programAndArguments({ transport: "stdio" }),
}
