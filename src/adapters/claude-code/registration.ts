/**
 * Claude Code's MCP servers of a user: `mcpServers` of `.claude.json`, which its own `mcp add -s user` writes. Claude desktop
 * has the same in a separate file, as its maker documents it.
 */
import { join } from "node:path"
import type { Hooks } from "../hooks.ts"
import type { Registration } from "../registration.ts"
import { groupedHooks } from "../shared/hook-entries.ts"
import { programAndArguments } from "../shared/server-entries.ts"
import { desktopData } from "./roots.ts"

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

export const desktopRegistration: Registration = {
  files: (environment, home) => {
    const [data = home] = desktopData(environment, home)
    return [{ path: join(data, "claude_desktop_config.json"), form: "json" }]
  },
  servers: ["mcpServers"],
  ...programAndArguments(),
}

/** In its settings. It reads no hooks that change while it runs: a new session has them. */
export const hooks: Hooks = {
  file: (environment, home) => join(environment["CLAUDE_CONFIG_DIR"] || join(home, ".claude"), "settings.json"),
  content: groupedHooks({
    client: "claude-code",
    moments: [
      { event: "session-start", name: "SessionStart", matcher: "compact" },
      { event: "prompt", name: "UserPromptSubmit" },
      { event: "pre-compact", name: "PreCompact" },
      { event: "session-end", name: "SessionEnd" },
    ],
  }),
}
