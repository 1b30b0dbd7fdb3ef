/** Tokens of iFlow, which stand in the last record of a step; in all others they are zero. */

import { ifAny, objectAt, textAt, tokensAt } from "../shared/usage.ts"
import type { UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"usage"'],
  read: ({ record, sessionId }) => {
    const counted = objectAt(record, "message", "usage")
    if (counted === undefined) return []
    return ifAny({
      key: textAt(record, "uuid") ?? sessionId,
      model: textAt(record, "message", "model"),
      input: tokensAt(counted, "input_tokens"),
      output: tokensAt(counted, "output_tokens"),
      reasoning: 0,
      cacheRead: 0,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      cacheWrite: 0,
    })
  },
}
