/** A home as four clients left it: their fixtures where each client keeps its sessions, and settings of its own. */
import { cpSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { type TemporaryHome, temporaryHome } from "./pond-process.ts"

const FIXTURES = join(import.meta.dir, "../../fixtures")

const ROOTS: Readonly<Record<string, string>> = {
  "claude-code": ".claude",
  codex: ".codex",
  opencode: ".local/share/opencode",
  pi: ".pi/agent/sessions",
}

/** Settings as somebody wrote them by hand, comments and all. */
export const CLIENT_SETTINGS = {
  "claude-code": [
    ".claude.json",
    '{\n  "numStartups": 12345678901234567890,\n  "mcpServers": {\n    "other": { "type": "http", "url": "https://example.org" }\n  }\n}',
  ],
  codex: [".codex/config.toml", 'model = "gpt-6" # mine\n\n[projects."/home/a b"]\ntrust_level = "trusted"\n'],
  opencode: [".config/opencode/opencode.jsonc", '{\n\t// how it looks\n\t"theme": "dark",\n}\n'],
} as const

export function homeOfClients(): TemporaryHome {
  const home = temporaryHome()
  for (const [adapter, root] of Object.entries(ROOTS)) {
    cpSync(join(FIXTURES, adapter, "tools/root"), join(home.path, root), { recursive: true })
  }
  for (const [place, text] of Object.values(CLIENT_SETTINGS)) {
    mkdirSync(dirname(join(home.path, place)), { recursive: true })
    writeFileSync(join(home.path, place), text)
  }
  return home
}
