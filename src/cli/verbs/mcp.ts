/** `pond mcp`: the tools for agents, over stdin and stdout. */
import { NO_FLAGS } from "../flags.ts"
import { defineVerb } from "../verb.ts"

export const mcp = defineVerb({
  flags: NO_FLAGS,
  positionals: [],
  examples: ["mcp"],
  lifetime: () => "server",
  run: async ({ pond, signal }) => {
    await pond.surfaces.speakMcp(signal)
    return { exitCode: 0, isEndedBySignal: true }
  },
})
