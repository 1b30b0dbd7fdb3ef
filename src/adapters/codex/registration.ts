/** Codex's MCP servers: `[mcp_servers.<name>]` of `config.toml`, which its own `mcp add` writes. */
import { join } from "node:path"
import type { Hooks } from "../hooks.ts"
import type { Registration } from "../registration.ts"
import { groupedHooks } from "../shared/hook-entries.ts"
import { programAndArguments } from "../shared/server-entries.ts"

export const registration: Registration = {
  files: (environment, home) => [
    { path: join(environment["CODEX_HOME"] || join(home, ".codex"), "config.toml"), form: "toml" },
  ],
  servers: ["mcp_servers"],
  ...programAndArguments(),
  byHand: (name, command) => ["codex", "mcp", "add", name, "--", ...command],
}

export const hooks: Hooks = {
  file: (environment, home) => join(environment["CODEX_HOME"] || join(home, ".codex"), "hooks.json"),
  content: groupedHooks({
    client: "codex",
    moments: [
      { event: "prompt", name: "UserPromptSubmit" },
      { event: "pre-compact", name: "PreCompact" },
      { event: "session-end", name: "SessionEnd" },
    ],
  }),
  next: "Codex asks you to review them at its next start, and runs none before that.",
}
