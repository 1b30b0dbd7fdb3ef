/** Tokens of a request: the span of its end. Classes of tokens do not overlap there. */
import { ifAny, objectAt, textAt, tokensAt } from "../shared/usage.ts"
import type { UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"span.model_request_end"'],
  read: ({ record }) => {
    const counted = objectAt(record, "model_usage")
    const id = textAt(record, "id")
    if (textAt(record, "type") !== "span.model_request_end" || counted === undefined || id === undefined) return []
    return ifAny({
      key: id,
      model: textAt(record, "model"),
      input: tokensAt(counted, "input_tokens"),
      output: tokensAt(counted, "output_tokens"),
      reasoning: 0,
      cacheRead: tokensAt(counted, "cache_read_input_tokens"),
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      cacheWrite: tokensAt(counted, "cache_creation_input_tokens"),
    })
  },
}
