/** Tokens of Amp, which each answer has. A number names an answer in its thread alone, and a fork copies answers as they are. */

import { valueAt } from "../extract.ts"
import { ifAny, objectAt, textAt, tokensAt } from "../shared/usage.ts"
import type { UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"usage"'],
  read: ({ record, sessionId }) => {
    const counted = objectAt(record, "usage")
    if (counted === undefined) return []
    return ifAny({
      key: `${sessionId} ${String(valueAt(record, "messageId"))}`,
      model: textAt(counted, "model"),
      input: tokensAt(counted, "inputTokens"),
      output: tokensAt(counted, "outputTokens"),
      reasoning: 0,
      cacheRead: tokensAt(counted, "cacheReadInputTokens"),
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      cacheWrite: tokensAt(counted, "cacheCreationInputTokens"),
    })
  },
}
