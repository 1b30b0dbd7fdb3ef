/** The tools of Antigravity that other clients know too. */
import type { Vocabulary } from "../shared/vocabulary.ts"

export const vocabulary: Vocabulary = [
  { name: "run_command", kind: "shell", keys: { command: "CommandLine", directory: "Cwd" } },
  { name: "view_file", kind: "read", keys: { path: "AbsolutePath" } },
  { name: "list_dir", kind: "list", keys: { path: "DirectoryPath" } },
  { name: "grep_search", kind: "grep", keys: { pattern: "Query", path: "SearchPath" } },
  { name: "read_url_content", kind: "fetch", keys: { url: "Url" } },
  { name: "search_web", kind: "web_search", keys: { query: "query" } },
]
