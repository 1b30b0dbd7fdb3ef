/** Tokens and costs of gptme, which an answer says where its telemetry is on. */
import { costAt, ifAny, objectAt, textAt, tokensAt } from "../shared/usage.ts"
import type { UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"metadata"'],
  read: ({ record, sessionId }) => {
    const metadata = objectAt(record, "metadata")
    if (metadata === undefined) return []
    return ifAny({
      key: `${sessionId} ${textAt(record, "timestamp") ?? ""}`,
      model: textAt(metadata, "model"),
      input: tokensAt(metadata, "usage", "input_tokens"),
      output: tokensAt(metadata, "usage", "output_tokens"),
      reasoning: 0,
      cacheRead: tokensAt(metadata, "usage", "cache_read_tokens"),
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      cacheWrite: tokensAt(metadata, "usage", "cache_creation_tokens"),
      costUsd: costAt(metadata, "cost"),
    })
  },
}
