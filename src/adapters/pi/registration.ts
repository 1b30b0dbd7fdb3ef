/** The MCP servers of pi from 1.0 on, and of oh-my-pi: `mcp.json` beside their sessions. Neither has a command that adds one. */
import { join } from "node:path"
import type { Registration } from "../registration.ts"
import { programAndArguments } from "../shared/server-entries.ts"
import { expanded } from "./roots.ts"

const shape = { servers: ["mcpServers"], ...programAndArguments() }

export const registration: Registration = {
  files: (environment, home) => [
    {
      path: join(expanded(environment["PI_CODING_AGENT_DIR"], home) ?? join(home, ".pi", "agent"), "mcp.json"),
      form: "json",
    },
  ],
  ...shape,
}

export const ompRegistration: Registration = {
  files: (environment, home) => [
    { path: join(home, environment["PI_CONFIG_DIR"] || ".omp", "agent", "mcp.json"), form: "json" },
  ],
  ...shape,
}
