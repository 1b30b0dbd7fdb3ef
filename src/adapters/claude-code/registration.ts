/** Claude Code's MCP servers of a user: `mcpServers` of `.claude.json`, which its own `mcp add -s user` writes. */
import { join } from "node:path"
import type { Registration } from "../registration.ts"
import { programAndArguments } from "../shared/server-entries.ts"

export const registration: Registration = {
  files: (environment, home) => {
    const chosen = environment["CLAUDE_CONFIG_DIR"]
    // The first is where early versions kept it; one that is there still counts alone.
    const paths = [join(chosen || join(home, ".claude"), ".config.json"), join(chosen || home, ".claude.json")]
    return paths.map((path) => ({ path, form: "json" }))
  },
  servers: ["mcpServers"],
  ...programAndArguments({ type: "stdio" }),
  byHand: (name, command) => ["claude", "mcp", "add", "--scope", "user", name, "--", ...command],
}
