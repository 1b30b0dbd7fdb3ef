/** The tools of Copilot in Visual Studio Code that other clients know too. */
import { listOf, singleEdit, type Vocabulary } from "../shared/vocabulary.ts"

const todoItems = listOf(["text", "title"], ["status", "status"])

export const vocabulary: Vocabulary = [
  {
    name: "run_in_terminal",
    kind: "shell",
    keys: { command: "command", timeoutMs: "timeout", purpose: "explanation" },
  },
  { name: "read_file", kind: "read", keys: { path: "filePath" } },
  { name: "create_file", kind: "write", keys: { path: "filePath", content: "content" } },
  {
    name: "replace_string_in_file",
    kind: "edit",
    keys: { path: "filePath" },
    fold: singleEdit({ old: "oldString", new: "newString" }),
  },
  { name: "grep_search", kind: "grep", keys: { pattern: "query", glob: "includePattern" } },
  { name: "file_search", kind: "glob", keys: { pattern: "query" } },
  { name: "list_dir", kind: "list", keys: { path: "path" } },
  { name: "manage_todo_list", kind: "todo", keys: { items: ["todoList", todoItems] } },
]
