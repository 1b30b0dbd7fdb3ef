/** The tools of iFlow that other clients know too. Some were seen in real sessions; the others are those of the client that it comes from. */
import { listOf, singleEdit, type Vocabulary } from "../shared/vocabulary.ts"

const edits = listOf(["old", "old_string"], ["new", "new_string"])
const todoItems = listOf(["text", "content"], ["status", "status"])

export const vocabulary: Vocabulary = [
  {
    name: "run_shell_command",
    kind: "shell",
    keys: { command: "command", timeoutMs: "timeout", purpose: "description", directory: "directory" },
  },
  { name: "read_file", kind: "read", keys: { path: "absolute_path", offset: "offset", limit: "limit" } },
  { name: "read_file", kind: "view_image", keys: { path: "absolute_path" } },
  { name: "write_file", kind: "write", keys: { path: "file_path", content: "content" } },
  {
    name: "replace",
    kind: "edit",
    keys: { path: "file_path" },
    fold: singleEdit({ old: "old_string", new: "new_string" }),
  },
  { name: "multi_edit", kind: "edit", keys: { path: "file_path", edits: ["edits", edits] } },
  { name: "search_file_content", kind: "grep", keys: { pattern: "pattern", path: "path", glob: "include" } },
  { name: "glob", kind: "glob", keys: { pattern: "pattern", path: "path" } },
  { name: "list_directory", kind: "list", keys: { path: "path" } },
  { name: "web_search", kind: "web_search", keys: { query: "query" } },
  { name: "todo_write", kind: "todo", keys: { items: ["todos", todoItems] } },
  { name: "task", kind: "task", keys: { purpose: "description", prompt: "prompt", agent: "subagent_type" } },
]
