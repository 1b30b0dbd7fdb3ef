/** The tools of Amp that other clients know too. */
import { listOf, singleEdit, type Vocabulary } from "../shared/vocabulary.ts"

const todoItems = listOf(["text", "content"], ["status", "status"])

export const vocabulary: Vocabulary = [
  { name: "Bash", kind: "shell", keys: { command: "cmd", directory: "cwd" } },
  { name: "Read", kind: "read", keys: { path: "path" } },
  { name: "look_at", kind: "view_image", keys: { path: "path" } },
  { name: "create_file", kind: "write", keys: { path: "path", content: "content" } },
  {
    name: "edit_file",
    kind: "edit",
    keys: { path: "path" },
    fold: singleEdit({ old: "old_str", new: "new_str", all: "replace_all" }),
  },
  { name: "Grep", kind: "grep", keys: { pattern: "pattern", path: "path", glob: "glob" } },
  { name: "glob", kind: "glob", keys: { pattern: "filePattern", limit: "limit" } },
  { name: "read_web_page", kind: "fetch", keys: { url: "url", prompt: "objective" } },
  { name: "web_search", kind: "web_search", keys: { query: "objective" } },
  { name: "todo_write", kind: "todo", keys: { items: ["todos", todoItems] } },
  { name: "Task", kind: "task", keys: { purpose: "description", prompt: "prompt" } },
]
