/** The tools of Kiro's command line that other clients know too. */
import type { Vocabulary } from "../shared/vocabulary.ts"

export const vocabulary: Vocabulary = [
  { name: "execute_bash", kind: "shell", keys: { command: "command" } },
  { name: "shell", kind: "shell", keys: { command: "command" }, isRetired: true },
  { name: "web_search", kind: "web_search", keys: { query: "query" } },
  { name: "web_fetch", kind: "fetch", keys: { url: "url" } },
]
