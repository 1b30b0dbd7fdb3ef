/** The tools of Codex that other clients know too. */
import type { JsonValue } from "../../model/json.ts"
import { type Conversion, listOf, type Vocabulary } from "../shared/vocabulary.ts"

/** `["bash", "-lc", script]` is the script; any other list of arguments is quoteWord into one. */
const argv: Conversion = {
  read(value) {
    if (!Array.isArray(value) || !value.every((word): word is string => typeof word === "string")) return undefined
    const [shell = "", flag = "", script, ...more] = value
    const isScript = /(?:^|[\\/])(?:ba|z|da)?sh(?:\.exe)?$/.test(shell) && /^-l?c$/.test(flag) && more.length === 0
    return isScript && script !== undefined ? script : value.map(quoteWord).join(" ")
  },
  write: (value) => (typeof value === "string" ? ["bash", "-lc", value] : undefined),
}

const shellKeys = { directory: "workdir", timeoutMs: "timeout_ms", purpose: "justification" }
const planItems = listOf(["text", "step"], ["status", "status"])

export const vocabulary: Vocabulary = [
  {
    name: "exec_command",
    kind: "shell",
    keys: { command: "cmd", directory: "workdir", purpose: "justification" },
  },
  { name: "shell_command", kind: "shell", keys: { command: "command", ...shellKeys } },
  { name: "shell", kind: "shell", keys: { command: ["command", argv], ...shellKeys } },
  { name: "local_shell", kind: "shell", keys: { command: ["command", argv], directory: "working_directory" } },
  { name: "apply_patch", kind: "patch", keys: {}, text: "patch" },
  { name: "apply_patch", kind: "patch", keys: { patch: "input" } },
  { name: "view_image", kind: "view_image", keys: { path: "path" } },
  { name: "read_file", kind: "read", keys: { path: "file_path", offset: "offset", limit: "limit" }, isRetired: true },
  {
    name: "grep_files",
    kind: "grep",
    keys: { pattern: "pattern", path: "path", glob: "include", limit: "limit" },
    isRetired: true,
  },
  { name: "list_dir", kind: "list", keys: { path: "dir_path", limit: "limit" }, isRetired: true },
  { name: "update_plan", kind: "todo", keys: { items: ["plan", planItems], note: "explanation" } },
  { name: "web_search", kind: "web_search", keys: { query: "query" } },
  { name: "spawn_agent", kind: "task", keys: { prompt: "message", agent: "agent_type" } },
]

function quoteWord(word: JsonValue): string {
  const text = String(word)
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
