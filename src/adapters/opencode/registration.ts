/** opencode's MCP servers: `mcp` of its own settings, JSON with comments. Its `mcp add` writes the same. */
import { join } from "node:path"
import type { Registration } from "../registration.ts"
import { wholeCommand } from "../shared/server-entries.ts"

export const registration: Registration = {
  files: (environment, home) => {
    const folder = join(environment["XDG_CONFIG_HOME"] || join(home, ".config"), "opencode")
    // All that are there are read, the first of these last.
    const names = ["opencode.jsonc", "opencode.json"]
    const chosen = environment["OPENCODE_CONFIG"]
    return [...(chosen ? [chosen] : []), ...names.map((name) => join(folder, name))].map((path) => ({
      path,
      form: "json",
    }))
  },
  servers: ["mcp"],
  ...wholeCommand({ type: "local" }),
  byHand: (name, command) => ["opencode", "mcp", "add", name, "--", ...command],
}
