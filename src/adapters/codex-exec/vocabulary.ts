/** The items of an output that other clients have tools for. */
import type { Vocabulary } from "../shared/vocabulary.ts"

export const vocabulary: Vocabulary = [
  { name: "command_execution", kind: "shell", keys: { command: "command" } },
  { name: "web_search", kind: "web_search", keys: { query: "query" } },
]
