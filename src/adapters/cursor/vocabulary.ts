/** The tools of Cursor that other clients know too: of its editor, and of its command line. */
import { singleEdit, type Vocabulary } from "../shared/vocabulary.ts"

const replaced = singleEdit({ old: "old_string", new: "new_string", all: "replace_all" })

export const vocabulary: Vocabulary = [
  { name: "run_terminal_cmd", kind: "shell", keys: { command: "command", purpose: "explanation" } },
  { name: "run_terminal_command_v2", kind: "shell", keys: { command: "command" }, isRetired: true },
  { name: "Shell", kind: "shell", keys: { command: "command", purpose: "description" }, isRetired: true },
  { name: "read_file", kind: "read", keys: { path: "target_file", offset: "offset", limit: "limit" } },
  { name: "Read", kind: "read", keys: { path: "path", offset: "offset", limit: "limit" }, isRetired: true },
  { name: "write", kind: "write", keys: { path: "file_path", content: "contents" } },
  { name: "Write", kind: "write", keys: { path: "path", content: "contents" }, isRetired: true },
  { name: "search_replace", kind: "edit", keys: { path: "file_path" }, fold: replaced },
  { name: "StrReplace", kind: "edit", keys: { path: "path" }, fold: replaced, isRetired: true },
  { name: "grep", kind: "grep", keys: { pattern: "pattern", path: "path", glob: "glob" } },
  { name: "Grep", kind: "grep", keys: { pattern: "pattern", path: "path", glob: "glob" }, isRetired: true },
  { name: "glob_file_search", kind: "glob", keys: { pattern: "glob_pattern" } },
  { name: "list_dir", kind: "list", keys: { path: "target_directory" } },
  { name: "web_search", kind: "web_search", keys: { query: "search_term" } },
]
