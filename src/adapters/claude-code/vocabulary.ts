/** The tools of Claude Code that other clients know too. */
import { listOf, singleEdit, type Vocabulary } from "../shared/vocabulary.ts"

const taskKeys = { purpose: "description", prompt: "prompt", agent: "subagent_type", isBackground: "run_in_background" }
const todoItems = listOf(["text", "content"], ["status", "status"], ["active", "activeForm"])

export const vocabulary: Vocabulary = [
  {
    name: "Bash",
    kind: "shell",
    keys: {
      command: "command",
      timeoutMs: "timeout",
      purpose: "description",
      isBackground: "run_in_background",
    },
  },
  { name: "Read", kind: "read", keys: { path: "file_path", offset: "offset", limit: "limit" } },
  { name: "Read", kind: "view_image", keys: { path: "file_path" } },
  { name: "Write", kind: "write", keys: { path: "file_path", content: "content" } },
  {
    name: "Edit",
    kind: "edit",
    keys: { path: "file_path" },
    fold: singleEdit({ old: "old_string", new: "new_string", all: "replace_all" }),
  },
  {
    name: "MultiEdit",
    kind: "edit",
    keys: {
      path: "file_path",
      edits: ["edits", listOf(["old", "old_string"], ["new", "new_string"], ["all", "replace_all"])],
    },
  },
  {
    name: "Grep",
    kind: "grep",
    keys: { pattern: "pattern", path: "path", glob: "glob", ignoreCase: "-i", limit: "head_limit", context: "-C" },
  },
  { name: "Glob", kind: "glob", keys: { pattern: "pattern", path: "path" } },
  { name: "LS", kind: "list", keys: { path: "path", ignore: "ignore" } },
  { name: "WebFetch", kind: "fetch", keys: { url: "url", prompt: "prompt" } },
  { name: "WebSearch", kind: "web_search", keys: { query: "query" } },
  { name: "TodoWrite", kind: "todo", keys: { items: ["todos", todoItems] } },
  { name: "Agent", kind: "task", keys: taskKeys },
  { name: "Task", kind: "task", keys: taskKeys, isRetired: true },
]
