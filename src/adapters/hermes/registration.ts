/** Hermes' MCP servers: `mcp_servers` of `config.yaml`, as its own `mcp add` writes them. */
import { join } from "node:path"
import type { Registration } from "../registration.ts"
import { programAndArguments } from "../shared/server-entries.ts"
import { roots } from "./roots.ts"

export const registration: Registration = {
  files: (environment, home) =>
    [environment["HERMES_HOME"] || (roots(environment, home)[0] ?? home)].map((folder) => ({
      path: join(folder, "config.yaml"),
      form: "yaml",
    })),
  servers: ["mcp_servers"],
  ...programAndArguments({ enabled: true }),
}
