/**
 * Tokens of Droid: sums of a session in its settings, which are written anew. What they grew by is a response of pond's
 * reckoning, known by the sum that it leads to.
 */

import { ifAny, objectAt, textAt, tokensAt, without } from "../shared/usage.ts"
import type { UsageReading } from "../usage-reading.ts"

const COUNTS = ["inputTokens", "outputTokens", "thinkingTokens", "cacheReadTokens", "cacheCreationTokens"] as const
const MEMORY = "sums"

export const usage: UsageReading = {
  marks: ['"tokenUsage"'],
  read: ({ record, sessionId }, memory) => {
    const sums = objectAt(record, "tokenUsage")
    if (sums === undefined) return []
    const before = memory[MEMORY] ?? null
    const counts = Object.fromEntries(COUNTS.map((count) => [count, tokensAt(sums, count)]))
    memory[MEMORY] = counts
    const grown = (count: (typeof COUNTS)[number]) => without(counts[count] ?? 0, tokensAt(before, count))
    return ifAny({
      key: [sessionId, ...COUNTS.map((count) => counts[count])].join(" "),
      model: textAt(record, "model"),
      input: grown("inputTokens"),
      output: grown("outputTokens"),
      reasoning: grown("thinkingTokens"),
      cacheRead: grown("cacheReadTokens"),
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      cacheWrite: grown("cacheCreationTokens"),
    })
  },
}
