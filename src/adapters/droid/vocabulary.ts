/** The tools of Droid that other clients know too. */
import { type Conversion, listOf, seconds, singleEdit, type Vocabulary } from "../shared/vocabulary.ts"

const todoItems = listOf(["text", "content"], ["status", "status"], ["id", "id"], ["priority", "priority"])
/** A list of patterns, of which there is mostly one. */
const onlyOne: Conversion = {
  read: (value) => (Array.isArray(value) && value.length === 1 ? value[0] : undefined),
  write: (value) => [value],
}

export const vocabulary: Vocabulary = [
  {
    name: "Execute",
    kind: "shell",
    keys: { command: "command", timeoutMs: ["timeout", seconds], purpose: "summary", isBackground: "fireAndForget" },
  },
  { name: "Read", kind: "read", keys: { path: "file_path", offset: "offset", limit: "limit" } },
  { name: "Read", kind: "view_image", keys: { path: "file_path" } },
  { name: "Create", kind: "write", keys: { path: "file_path", content: "content" } },
  {
    name: "Edit",
    kind: "edit",
    keys: { path: "file_path" },
    fold: singleEdit({ old: "old_str", new: "new_str", all: "change_all" }),
  },
  {
    name: "MultiEdit",
    kind: "edit",
    keys: {
      path: "file_path",
      edits: ["changes", listOf(["old", "old_str"], ["new", "new_str"], ["all", "change_all"])],
    },
  },
  { name: "ApplyPatch", kind: "patch", keys: { patch: "input" } },
  {
    name: "Grep",
    kind: "grep",
    keys: {
      pattern: "pattern",
      path: "path",
      glob: "glob_pattern",
      ignoreCase: "case_insensitive",
      limit: "head_limit",
    },
  },
  { name: "Glob", kind: "glob", keys: { pattern: ["patterns", onlyOne], path: "folder" } },
  { name: "LS", kind: "list", keys: { path: "directory_path", ignore: "ignorePatterns" } },
  { name: "FetchUrl", kind: "fetch", keys: { url: "url" } },
  { name: "WebSearch", kind: "web_search", keys: { query: "query", limit: "numResults" } },
  { name: "TodoWrite", kind: "todo", keys: { items: ["todos", todoItems] } },
  { name: "Task", kind: "task", keys: { purpose: "description", prompt: "prompt", agent: "subagent_type" } },
]
