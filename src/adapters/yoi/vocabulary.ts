/** The tools of yoi that other clients know too. Their parameters are those of Claude Code by name; the source says no more. */
import type { Vocabulary } from "../shared/vocabulary.ts"

export const vocabulary: Vocabulary = [
  { name: "Bash", kind: "shell", keys: { command: "command" } },
  { name: "WebSearch", kind: "web_search", keys: { query: "query" } },
  { name: "SubWorkerSpawn", kind: "task", keys: { prompt: "prompt" } },
]
