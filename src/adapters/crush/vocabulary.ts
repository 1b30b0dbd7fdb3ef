/** The tools of Crush that other clients know too. */
import { listOf, singleEdit, type Vocabulary } from "../shared/vocabulary.ts"

const edits = listOf(["old", "old_string"], ["new", "new_string"], ["all", "replace_all"])
const todoItems = listOf(["text", "content"], ["status", "status"])

export const vocabulary: Vocabulary = [
  { name: "bash", kind: "shell", keys: { command: "command", purpose: "description", directory: "working_dir" } },
  { name: "view", kind: "read", keys: { path: "file_path", offset: "offset", limit: "limit" } },
  { name: "write", kind: "write", keys: { path: "file_path", content: "content" } },
  {
    name: "edit",
    kind: "edit",
    keys: { path: "file_path" },
    fold: singleEdit({ old: "old_string", new: "new_string", all: "replace_all" }),
  },
  { name: "multiedit", kind: "edit", keys: { path: "file_path", edits: ["edits", edits] } },
  { name: "grep", kind: "grep", keys: { pattern: "pattern", path: "path", glob: "include" } },
  { name: "glob", kind: "glob", keys: { pattern: "pattern", path: "path" } },
  { name: "ls", kind: "list", keys: { path: "path" } },
  { name: "fetch", kind: "fetch", keys: { url: "url", format: "format" } },
  { name: "web_search", kind: "web_search", keys: { query: "query" } },
  { name: "todos", kind: "todo", keys: { items: ["todos", todoItems] } },
]
