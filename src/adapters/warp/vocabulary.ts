/** The tools of Warp's agent that other clients know too. */
import type { Vocabulary } from "../shared/vocabulary.ts"

export const vocabulary: Vocabulary = [
  { name: "run_shell_command", kind: "shell", keys: { command: "command" } },
  { name: "start_agent", kind: "task", keys: { prompt: "prompt", purpose: "name" } },
  { name: "subagent", kind: "task", keys: { prompt: "payload" } },
]
