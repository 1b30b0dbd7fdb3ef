/** The tools of pi, of oh-my-pi and of OpenClaw that other clients know too. */
import { listOf, seconds, singleEdit, type Vocabulary } from "../shared/vocabulary.ts"
import { type Brand, OPENCLAW, PI } from "./brands.ts"

const edits = listOf(["old", "oldText"], ["new", "newText"])

export function vocabularyOf(brand: Brand): Vocabulary {
  if (brand === OPENCLAW) return OPENCLAWS
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

const OPENCLAWS: Vocabulary = [
  { name: "exec", kind: "shell", keys: { command: "command", timeoutMs: ["timeout", seconds], directory: "workdir" } },
  { name: "read", kind: "read", keys: { path: "path", offset: "offset", limit: "limit" } },
  { name: "image", kind: "view_image", keys: { path: "image" } },
  { name: "write", kind: "write", keys: { path: "path", content: "content" } },
  { name: "edit", kind: "edit", keys: { path: "path", edits: ["edits", edits] } },
  { name: "web_search", kind: "web_search", keys: { query: "query" } },
  { name: "sessions_spawn", kind: "task", keys: { prompt: "task", agent: "agentId", purpose: "label" } },
]
