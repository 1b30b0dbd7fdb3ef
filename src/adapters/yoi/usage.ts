/** Tokens of a response: `llm_usage`, one for each request. What was read from a cache or written to one is part of its input. */
import { ifAny, textAt, tokensAt, without } from "../shared/usage.ts"
import type { UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"llm_usage"'],
  read: ({ record, sessionId }, memory) => {
    if (textAt(record, "kind") !== "llm_usage") return []
    const count = Number(memory["responses"] ?? 0) + 1
    memory["responses"] = count
    const cacheRead = tokensAt(record, "cache_read_tokens")
    const cacheWrite = tokensAt(record, "cache_write_tokens")
    return ifAny({
      key: `${sessionId} ${count}`,
      input: without(tokensAt(record, "input_total_tokens"), cacheRead, cacheWrite),
      output: tokensAt(record, "output_tokens"),
      reasoning: 0,
      cacheRead,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      cacheWrite,
    })
  },
}
