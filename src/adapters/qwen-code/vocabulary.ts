/** The tools of Qwen Code that other clients know too. */
import { type Conversion, listOf, singleEdit, type Vocabulary } from "../shared/vocabulary.ts"

const todoItems = listOf(["text", "content"], ["status", "status"])

/** Lines are counted from zero. */
const fromZero: Conversion = {
  read: (value) => (typeof value === "number" ? value + 1 : undefined),
  write: (value) => (typeof value === "number" && value >= 1 ? value - 1 : undefined),
}

const readKeys = { offset: ["offset", fromZero], limit: "limit" } as const
const grepKeys = { pattern: "pattern", path: "path", glob: "glob", limit: "limit" }
const taskKeys = { purpose: "description", prompt: "prompt", agent: "subagent_type", isBackground: "run_in_background" }
const editFold = singleEdit({ old: "old_string", new: "new_string", all: "replace_all" })

export const vocabulary: Vocabulary = [
  {
    name: "run_shell_command",
    kind: "shell",
    keys: {
      command: "command",
      timeoutMs: "timeout",
      purpose: "description",
      directory: "directory",
      isBackground: "is_background",
    },
  },
  { name: "read_file", kind: "read", keys: { path: "file_path", ...readKeys } },
  { name: "read_file", kind: "read", keys: { path: "absolute_path", ...readKeys }, isRetired: true },
  { name: "read_file", kind: "view_image", keys: { path: "file_path" } },
  { name: "write_file", kind: "write", keys: { path: "file_path", content: "content" } },
  { name: "edit", kind: "edit", keys: { path: "file_path" }, fold: editFold },
  { name: "replace", kind: "edit", keys: { path: "file_path" }, fold: editFold, isRetired: true },
  { name: "grep_search", kind: "grep", keys: grepKeys },
  { name: "search_file_content", kind: "grep", keys: grepKeys, isRetired: true },
  { name: "glob", kind: "glob", keys: { pattern: "pattern", path: "path" } },
  { name: "list_directory", kind: "list", keys: { path: "path", ignore: "ignore" } },
  { name: "web_fetch", kind: "fetch", keys: { url: "url", prompt: "prompt", format: "format" } },
  { name: "web_search", kind: "web_search", keys: { query: "query" } },
  { name: "todo_write", kind: "todo", keys: { items: ["todos", todoItems] } },
  { name: "agent", kind: "task", keys: taskKeys },
  { name: "task", kind: "task", keys: taskKeys, isRetired: true },
]
