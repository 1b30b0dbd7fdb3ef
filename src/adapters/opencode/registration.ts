/** The MCP servers of opencode and Kilo Code: `mcp` of their own settings, JSON with comments. Their `mcp add` writes the same. */
import { join } from "node:path"
import type { Hooks } from "../hooks.ts"
import type { Registration } from "../registration.ts"
import { wholeCommand } from "../shared/server-entries.ts"
import type { Brand } from "./brands.ts"
import PLUGIN from "./plugin.txt" with { type: "text" }

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

/** What the plugin starts where nobody has put another command in. */
const COMMAND = `["pond"]`

/** It has no hooks in its settings: a plugin asks `pond hook` in their place. */
export const hooks: Hooks = {
  file: (environment, home) =>
    join(environment["XDG_CONFIG_HOME"] || join(home, ".config"), "opencode", "plugins", "pond.js"),
  content: { kind: "file", text: (command) => PLUGIN.replace(COMMAND, () => JSON.stringify(command)) },
}
