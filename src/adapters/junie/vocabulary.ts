/** What Junie's agent does that other clients have a tool for. */
import type { Vocabulary } from "../shared/vocabulary.ts"

export const vocabulary: Vocabulary = [{ name: "Terminal", kind: "shell", keys: {}, text: "command" }]
