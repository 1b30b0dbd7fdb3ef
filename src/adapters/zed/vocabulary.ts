/** The tools of Zed's agent that other clients know too. */
import type { Vocabulary } from "../shared/vocabulary.ts"

export const vocabulary: Vocabulary = [
  { name: "terminal", kind: "shell", keys: { command: "command", directory: "cd" } },
  { name: "read_file", kind: "read", keys: { path: "path" } },
  { name: "grep", kind: "grep", keys: { pattern: "regex", glob: "include_pattern" } },
  { name: "find_path", kind: "glob", keys: { pattern: "glob" } },
  { name: "list_directory", kind: "list", keys: { path: "path" } },
  { name: "fetch", kind: "fetch", keys: { url: "url" } },
  { name: "web_search", kind: "web_search", keys: { query: "query" } },
]
