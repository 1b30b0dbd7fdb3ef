/** Tokens of Zed: a thread counts them under the id of each prompt, beside its messages. Its model is the one that it has now. */
import { ifAny, objectAt, textAt, tokensAt } from "../shared/usage.ts"
import type { UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"request_token_usage"'],
  read: ({ record, sessionId }) => {
    const thread = objectAt(record, "thread")
    const requests = thread && objectAt(thread, "request_token_usage")
    if (thread === undefined || requests === undefined) return []
    const model = textAt(thread, "model", "model")
    return Object.entries(requests).flatMap(([id, counts]) =>
      ifAny({
        key: `${sessionId} ${id}`,
        model,
        input: tokensAt(counts, "input_tokens"),
        output: tokensAt(counts, "output_tokens"),
        reasoning: 0,
        cacheRead: tokensAt(counts, "cache_read_input_tokens"),
        cacheWrite5m: 0,
        cacheWrite1h: 0,
        cacheWrite: tokensAt(counts, "cache_creation_input_tokens"),
      }),
    )
  },
}
