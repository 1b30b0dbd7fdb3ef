/** Tokens of a turn, which `turn.completed` has. No line names the model. */
import { ifAny, objectAt, tokensAt, without } from "../shared/usage.ts"
import type { UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"turn.completed"'],
  read: ({ record, sessionId }, memory) => {
    const counted = objectAt(record, "usage")
    if (counted === undefined) return []
    const turn = Number(memory["turns"] ?? 0) + 1
    memory["turns"] = turn
    const cacheRead = tokensAt(counted, "cached_input_tokens")
    const cacheWrite = tokensAt(counted, "cache_write_input_tokens")
    return ifAny({
      key: `${sessionId} ${turn}`,
      input: without(tokensAt(counted, "input_tokens"), cacheRead, cacheWrite),
      output: tokensAt(counted, "output_tokens"),
      reasoning: tokensAt(counted, "reasoning_output_tokens"),
      cacheRead,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      cacheWrite,
    })
  },
}
