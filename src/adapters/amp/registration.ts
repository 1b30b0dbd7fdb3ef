/** Amp's MCP servers: a setting of one key with a dot in it, for its command line and its extension alike. */
import { join } from "node:path"
import type { Registration } from "../registration.ts"
import { programAndArguments } from "../shared/server-entries.ts"

export const registration: Registration = {
  files: (environment, home) => {
    const folder = join(environment["XDG_CONFIG_HOME"] || join(home, ".config"), "amp")
    const settings = join(folder, "settings.json")
    // Where there is none, it reads the other one, and writes this one.
    return [settings, join(folder, "settings.jsonc"), settings].map((path) => ({ path, form: "json" }))
  },
  servers: ["amp.mcpServers"],
  ...programAndArguments(),
  byHand: (name, command) => ["amp", "mcp", "add", name, "--", ...command],
}
