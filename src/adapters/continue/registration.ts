/** Continue's MCP servers: a list in `config.yaml`. Where it has none yet, older settings count, and nothing is made. */
import { join } from "node:path"
import type { Registration } from "../registration.ts"
import { programAndArguments } from "../shared/server-entries.ts"
import { roots } from "./roots.ts"

export const registration: Registration = {
  files: (environment, home) =>
    roots(environment, home).map((folder) => ({ path: join(folder, "config.yaml"), form: "yaml" })),
  isOnlyChanged: true,
  servers: ["mcpServers"],
  named: "name",
  ...programAndArguments(),
}
