/** Codex's MCP servers: `[mcp_servers.<name>]` of `config.toml`, which its own `mcp add` writes. */
import { join } from "node:path"
import type { Registration } from "../registration.ts"
import { programAndArguments } from "../shared/server-entries.ts"

export const registration: Registration = {
  files: (environment, home) => [
    { path: join(environment["CODEX_HOME"] || join(home, ".codex"), "config.toml"), form: "toml" },
  ],
  servers: ["mcp_servers"],
  ...programAndArguments(),
  byHand: (name, command) => ["codex", "mcp", "add", name, "--", ...command],
}
