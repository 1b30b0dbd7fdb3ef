/** Tokens of Cursor's editor: the last bubble of a turn counts them, on machines that are told them at all. Of money nothing is said. */
import { ifAny, objectAt, textAt, tokensAt } from "../shared/usage.ts"
import type { UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"tokenCount"'],
  read: ({ record, sessionId }) => {
    const bubble = objectAt(record, "value") ?? objectAt(record)
    if (bubble === undefined) return []
    return ifAny({
      key: `${sessionId} ${textAt(bubble, "bubbleId") ?? textAt(record, "key") ?? ""}`,
      model: textAt(bubble, "modelInfo", "modelName") ?? textAt(bubble, "modelType"),
      input: tokensAt(bubble, "tokenCount", "inputTokens"),
      output: tokensAt(bubble, "tokenCount", "outputTokens"),
      reasoning: 0,
      cacheRead: 0,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      cacheWrite: 0,
    })
  },
}
