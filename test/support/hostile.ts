/** What somebody writes into a session who means no good: paths and ids, each of them with what it would do. */
import { seededRandom } from "../../src/platform/host/random.ts"

/** What clients obey or log in with, by the names that they look for. */
export const OBEYED: readonly string[] = [
  "commands/deploy.md",
  "skills/deploy/SKILL.md",
  "skills/deploy/notes.txt",
  "agents/reviewer.md",
  "plugins/config.json",
  "hooks/hooks.json",
  "settings.json",
  "settings.local.json",
  ".credentials.json",
  ".claude.json",
  "CLAUDE.md",
  "AGENTS.md",
  "history.jsonl.bak",
  "keybindings.json",
  "projects/-work-alpha/memory/MEMORY.md",
  "projects/-work-alpha/CLAUDE.md",
  "projects/-work-alpha/.claude/settings.json",
  "config.toml",
  "auth.json",
  "mcp-auth.json",
  "prompts/deploy.md",
  "rules/default.rules",
  "opencode.json",
  "plugin/evil.ts",
  "command/deploy.md",
  "storage/permission/global.json",
  "storage/share/x.json",
  "snapshot/x/hooks/post-checkout",
  "extensions/evil.ts",
  "models.json",
  // Gemini CLI, Qwen Code, Copilot CLI, Kilo Code
  "GEMINI.md",
  "QWEN.md",
  "oauth_creds.json",
  "google_accounts.json",
  "trustedFolders.json",
  "commands/deploy.toml",
  "extensions/evil/gemini-extension.json",
  "tmp/alpha/shell_history",
  "mcp-config.json",
  "copilot-instructions.md",
  "session-state/AGENTS.md",
  "kilo.json",
  "kilo.jsonc",
  "settings/mcp_settings.json",
  "todos/../settings.json",
  "shell-snapshots/snapshot-bash-1.sh",
  "file-history/x/settings.json@v1",
  "ide/1.lock",
  "bin/rg",
  "a.sh",
  "package.json",
]

/** What an agent obeys that is started in the directory where it lies, also as disks fold names. */
const OBEYED_ANYWHERE: readonly string[] = [
  "AGENTS.md",
  "AGENT.md",
  "AGENTS.override.md",
  "claude.MD",
  "CLAUDE.local.md",
  "CLAU\u200dDE.md",
  "GEMINI.md",
  "QWEN.md",
  "SKILL.md",
  "S\u212aILL.md",
  "CRUSH.md",
  "opencode.json",
  "OpenCode.jsonc",
  "kilo.json",
  "kilo.jsonc",
  ".mcp.json",
  "\u200d.mcp.json",
  ".envrc",
  ".cursorrules",
]

/** Each makes of a good path one that no client gives. */
const CHANGES: readonly ((path: string, name: string, obeyed: string) => string)[] = [
  (path) => `../${path}`,
  (path) => `/${path}`,
  (path) => `./${path}`,
  (path) => path.replace(/[^/]*$/, (last) => `../../../${last}`),
  (path) => path.replace(/[^/]*$/, (last) => `.hidden/${last}`),
  (path) => path.replace(/[^/]*$/, (last) => `.${last}`),
  (path, _, obeyed) => path.replace(/[^/]*$/, obeyed),
  (path, _, obeyed) => path.replace(/[^/]*$/, (last) => `${last}/${obeyed}`),
  (path, _, obeyed) => `${path.replace(/\.[^./]*$/, "")}/${obeyed}`,
  (path, _, obeyed) => path.replace(/\/[^/]*(?=\/[^/]*$)/, `/${obeyed}`),
  (path) => path.replaceAll(/\/|$/g, "\\"),
  (path) => `${path}\n`,
  (path) => `${path}\0.txt`,
  (path) => `${path}/`,
  (path) => `${path}\u2028x`,
  (path) => `C:\\${path}`,
  (path, name) => `${path}/../../${name}`,
  (path, name) => `${path}\n${name}`,
  (_, name) => name,
  (_, name) => `x/../${name}`,
  (path, name) => `${path.split("/").slice(0, 2).join("/")}/../${name}`,
]

export function* hostilePaths(seed: number, rounds: number, good: readonly string[]): Generator<string> {
  yield* OBEYED
  const random = seededRandom(seed)
  const any = <T>(list: readonly T[]): T => list[Math.trunc(random.next() * list.length)] as T
  for (let round = 0; round < rounds; round++) {
    const path = any(good)
    const changed = any(CHANGES)(path, any(OBEYED), any(OBEYED_ANYWHERE))
    if (changed !== path) yield changed
  }
}

const ID_CHANGES: readonly ((id: string) => string)[] = [
  (id) => `-${id}`,
  (id) => `--${id}`,
  (id) => ` ${id}`,
  (id) => `${id} --dangerously-skip-permissions`,
  (id) => `${id}\n`,
  (id) => `${id}\n-p`,
  (id) => `${id};touch owned`,
  (id) => `${id}$(touch owned)`,
  (id) => `${id}/../x`,
  (id) => `../${id}`,
  (id) => `${id}\0`,
  (id) => `${id}\u202e`,
  (id) => `x\n${id}`,
]

const IDS: readonly string[] = [
  "",
  "-",
  "-p",
  "--dangerously-skip-permissions",
  "--resume=x",
  "commands",
  "skills",
  "agents",
  "settings",
  "memory",
  "$(touch owned)",
  "`touch owned`",
  "x;touch owned;#",
  "x|sh",
  "x y",
  "a\u001b]0;owned\u0007",
]

export function* hostileIds(seed: number, rounds: number, good: readonly string[]): Generator<string> {
  yield* IDS
  const random = seededRandom(seed)
  const any = <T>(list: readonly T[]): T => list[Math.trunc(random.next() * list.length)] as T
  for (let round = 0; round < rounds; round++) yield any(ID_CHANGES)(any(good))
}
