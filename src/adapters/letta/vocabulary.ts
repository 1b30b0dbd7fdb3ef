/** The tools of Letta Code that other clients know too. */
import type { Vocabulary } from "../shared/vocabulary.ts"

export const vocabulary: Vocabulary = [
  { name: "Bash", kind: "shell", keys: { command: "command", purpose: "description" } },
  { name: "Read", kind: "read", keys: { path: "file_path" } },
  { name: "Write", kind: "write", keys: { path: "file_path", content: "content" } },
  { name: "Grep", kind: "grep", keys: { pattern: "pattern", path: "path", glob: "glob" } },
  { name: "Glob", kind: "glob", keys: { pattern: "pattern", path: "path" } },
]
