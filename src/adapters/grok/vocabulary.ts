/** The tools of Grok that other clients know too. */
import { singleEdit, type Vocabulary } from "../shared/vocabulary.ts"

export const vocabulary: Vocabulary = [
  { name: "run_terminal_command", kind: "shell", keys: { command: "command", timeoutMs: "timeout" } },
  { name: "read_file", kind: "read", keys: { path: "target_file", offset: "offset", limit: "limit" } },
  { name: "write", kind: "write", keys: { path: "file_path", content: "content" } },
  {
    name: "search_replace",
    kind: "edit",
    keys: { path: "file_path" },
    fold: singleEdit({ old: "old_string", new: "new_string", all: "replace_all" }),
  },
  { name: "list_dir", kind: "list", keys: { path: "target_directory" } },
  {
    name: "grep",
    kind: "grep",
    keys: { pattern: "pattern", path: "path", glob: "glob", ignoreCase: "-i", limit: "head_limit" },
  },
  { name: "spawn_subagent", kind: "task", keys: { prompt: "prompt", purpose: "description" } },
]
