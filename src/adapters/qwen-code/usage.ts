/** Tokens of Qwen Code, in the words of Google's API. A fork gives its copies new ids and names the old ones. */
import type { JsonValue } from "../../model/json.ts"
import { ifAny, objectAt, textAt, tokensAt, without } from "../shared/usage.ts"
import type { UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"usageMetadata"'],
  read: ({ record, sessionId }) => {
    const counted = objectAt(record, "usageMetadata")
    if (counted === undefined) return []
    const cacheRead = tokensAt(counted, "cachedContentTokenCount")
    const reasoning = tokensAt(counted, "thoughtsTokenCount")
    return ifAny({
      key: textAt(record, "forkedFrom", "messageUuid") ?? textAt(record, "uuid") ?? sessionId,
      model: textAt(record, "model"),
      input: without(tokensAt(counted, "promptTokenCount"), cacheRead) + tokensAt(counted, "toolUsePromptTokenCount"),
      output: tokensAt(counted, "candidatesTokenCount") + (isReasoningWithin(counted) ? 0 : reasoning),
      reasoning,
      cacheRead,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      cacheWrite: 0,
    })
  },
}

/** Google counts thoughts apart from candidates, other providers within them. The sum tells. */
function isReasoningWithin(counted: JsonValue): boolean {
  const sum = tokensAt(counted, "promptTokenCount") + tokensAt(counted, "candidatesTokenCount")
  return tokensAt(counted, "totalTokenCount") === sum
}
