/** The tools of pi and of oh-my-pi that other clients know too. */
import { listOf, seconds, singleEdit, type Vocabulary } from "../shared/vocabulary.ts"
import { type Brand, PI } from "./brands.ts"

const edits = listOf(["old", "oldText"], ["new", "newText"])

export function vocabularyOf(brand: Brand): Vocabulary {
  return brand === PI ? vocabulary : OH_MY_PIS
}

const vocabulary: Vocabulary = [
  { name: "bash", kind: "shell", keys: { command: "command", timeoutMs: ["timeout", seconds] } },
  { name: "read", kind: "read", keys: { path: "path", offset: "offset", limit: "limit" } },
  { name: "read", kind: "view_image", keys: { path: "path" } },
  { name: "write", kind: "write", keys: { path: "path", content: "content" } },
  { name: "edit", kind: "edit", keys: { path: "path", edits: ["edits", edits] } },
  {
    name: "edit",
    kind: "edit",
    keys: { path: "path" },
    fold: singleEdit({ old: "oldText", new: "newText" }),
    isRetired: true,
  },
  {
    name: "grep",
    kind: "grep",
    keys: {
      pattern: "pattern",
      path: "path",
      glob: "glob",
      ignoreCase: "ignoreCase",
      limit: "limit",
      context: "context",
    },
  },
  { name: "find", kind: "glob", keys: { pattern: "pattern", path: "path", limit: "limit" } },
  { name: "ls", kind: "list", keys: { path: "path", limit: "limit" } },
]

const OH_MY_PIS: Vocabulary = [
  { name: "bash", kind: "shell", keys: { command: "command", timeoutMs: ["timeout", seconds], directory: "cwd" } },
  { name: "read", kind: "read", keys: { path: "path" } },
  { name: "read", kind: "view_image", keys: { path: "path" } },
  { name: "write", kind: "write", keys: { path: "path", content: "content" } },
  {
    name: "edit",
    kind: "edit",
    keys: { path: "path" },
    fold: singleEdit({ old: "old_string", new: "new_string", all: "replace_all" }),
  },
  { name: "edit", kind: "edit", keys: { path: "path", edits: ["edits", edits] }, isRetired: true },
  { name: "grep", kind: "grep", keys: { pattern: "pattern", path: "path" } },
  { name: "glob", kind: "glob", keys: { pattern: "path", limit: "limit" } },
  { name: "find", kind: "glob", keys: { pattern: "pattern", path: "path", limit: "limit" }, isRetired: true },
  { name: "ls", kind: "list", keys: { path: "path", limit: "limit" }, isRetired: true },
  { name: "web_search", kind: "web_search", keys: { query: "query" } },
  { name: "task", kind: "task", keys: { prompt: "task", agent: "agent", purpose: "name" } },
]
