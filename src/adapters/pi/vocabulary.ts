/** The tools of pi that other clients know too. */
import { listOf, seconds, singleEdit, type Vocabulary } from "../shared/vocabulary.ts"

const edits = listOf(["old", "oldText"], ["new", "newText"])

export const vocabulary: Vocabulary = [
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
