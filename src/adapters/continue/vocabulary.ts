/** The tools of Continue that other clients know too: first those of its command line, then those of its editors. */
import { listOf, singleEdit, type Vocabulary } from "../shared/vocabulary.ts"

const edits = listOf(["old", "old_string"], ["new", "new_string"], ["all", "replace_all"])
const editFold = singleEdit({ old: "old_string", new: "new_string", all: "replace_all" })

export const vocabulary: Vocabulary = [
  { name: "Bash", kind: "shell", keys: { command: "command", timeoutMs: "timeout" } },
  { name: "run_terminal_command", kind: "shell", keys: { command: "command" }, isRetired: true },
  { name: "Read", kind: "read", keys: { path: "filepath" } },
  { name: "read_file", kind: "read", keys: { path: "filepath" }, isRetired: true },
  { name: "Write", kind: "write", keys: { path: "filepath", content: "content" } },
  { name: "create_new_file", kind: "write", keys: { path: "filepath", content: "contents" }, isRetired: true },
  { name: "Edit", kind: "edit", keys: { path: "file_path" }, fold: editFold },
  { name: "single_find_and_replace", kind: "edit", keys: { path: "filepath" }, fold: editFold, isRetired: true },
  { name: "MultiEdit", kind: "edit", keys: { path: "file_path", edits: ["edits", edits] } },
  { name: "multi_edit", kind: "edit", keys: { path: "filepath", edits: ["edits", edits] }, isRetired: true },
  { name: "Search", kind: "grep", keys: { pattern: "pattern", path: "path", glob: "file_pattern" } },
  { name: "grep_search", kind: "grep", keys: { pattern: "query" }, isRetired: true },
  { name: "file_glob_search", kind: "glob", keys: { pattern: "pattern" }, isRetired: true },
  { name: "List", kind: "list", keys: { path: "dirpath" } },
  { name: "ls", kind: "list", keys: { path: "dirPath" }, isRetired: true },
  { name: "Fetch", kind: "fetch", keys: { url: "url" } },
  { name: "fetch_url_content", kind: "fetch", keys: { url: "url" }, isRetired: true },
  { name: "search_web", kind: "web_search", keys: { query: "query" }, isRetired: true },
]
