/** The MCP servers of opencode and Kilo Code: `mcp` of their own settings, JSON with comments. Their `mcp add` writes the same. */
import { join } from "node:path"
import type { Registration } from "../registration.ts"
import { wholeCommand } from "../shared/server-entries.ts"
import type { Brand } from "./brands.ts"

export function registrationOf({ id, prefix }: Brand): Registration {
  return {
    files: (environment, home) => {
      const folder = join(environment["XDG_CONFIG_HOME"] || join(home, ".config"), id)
      // All that are there are read, the first of these last.
      const names = [`${id}.jsonc`, `${id}.json`]
      const chosen = environment[`${prefix}_CONFIG`]
      return [...(chosen ? [chosen] : []), ...names.map((name) => join(folder, name))].map((path) => ({
        path,
        form: "json",
      }))
    },
    servers: ["mcp"],
    ...wholeCommand({ type: "local" }),
    byHand: (name, command) => [id, "mcp", "add", name, "--", ...command],
  }
}
