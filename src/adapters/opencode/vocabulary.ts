/** The tools of opencode that other clients know too. */
import { listOf, singleEdit, type Vocabulary } from "../shared/vocabulary.ts"

const todoItems = listOf(["text", "content"], ["status", "status"], ["id", "id"], ["priority", "priority"])

export const vocabulary: Vocabulary = [
  {
    name: "bash",
    kind: "shell",
    keys: { command: "command", directory: "workdir", timeoutMs: "timeout", purpose: "description" },
  },
  { name: "read", kind: "read", keys: { path: "filePath", offset: "offset", limit: "limit" } },
  { name: "read", kind: "view_image", keys: { path: "filePath" } },
  // The tools of the newer sessions, which are read and not written yet.
  { name: "read", kind: "read", keys: { path: "path", offset: "offset", limit: "limit" }, isRetired: true },
  { name: "write", kind: "write", keys: { path: "filePath", content: "content" } },
  { name: "write", kind: "write", keys: { path: "path", content: "content" }, isRetired: true },
  {
    name: "edit",
    kind: "edit",
    keys: { path: "filePath" },
    fold: singleEdit({ old: "oldString", new: "newString", all: "replaceAll" }),
  },
  {
    name: "edit",
    kind: "edit",
    keys: { path: "path" },
    fold: singleEdit({ old: "oldString", new: "newString", all: "replaceAll" }),
    isRetired: true,
  },
  {
    name: "multiedit",
    kind: "edit",
    keys: {
      path: "filePath",
      edits: ["edits", listOf(["old", "oldString"], ["new", "newString"], ["all", "replaceAll"])],
    },
  },
  { name: "apply_patch", kind: "patch", keys: { patch: "patchText" } },
  { name: "patch", kind: "patch", keys: { patch: "patchText" }, isRetired: true },
  { name: "grep", kind: "grep", keys: { pattern: "pattern", path: "path", glob: "include" } },
  { name: "glob", kind: "glob", keys: { pattern: "pattern", path: "path" } },
  { name: "list", kind: "list", keys: { path: "path", ignore: "ignore" } },
  { name: "webfetch", kind: "fetch", keys: { url: "url", format: "format" } },
  { name: "websearch", kind: "web_search", keys: { query: "query", limit: "numResults" } },
  { name: "todowrite", kind: "todo", keys: { items: ["todos", todoItems] } },
  { name: "task", kind: "task", keys: { purpose: "description", prompt: "prompt", agent: "subagent_type" } },
]
