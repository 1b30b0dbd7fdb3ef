/** Tokens and cost of pi, which every answer has. A fork copies entries as they are, so an answer keeps its moment and id. */

import { valueAt } from "../extract.ts"
import { costAt, ifAny, objectAt, textAt, tokensAt } from "../shared/usage.ts"
import type { UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"usage"'],
  read: ({ record }) => {
    // Of oh-my-pi: what was asked beside the conversation, a title for one.
    const isBeside = valueAt(record, "type") === "model_usage"
    const message = isBeside ? objectAt(record) : objectAt(record, "message")
    const counted = isBeside ? objectAt(record, "usage") : objectAt(record, "message", "usage")
    if (message === undefined || counted === undefined) return []
    if (!isBeside && message["role"] !== "assistant") return []
    const model = textAt(message, "model")
    const moment = valueAt(message, "timestamp")
    const madeAt = typeof moment === "number" ? moment : textAt(record, "timestamp")
    return ifAny({
      key: [textAt(record, "id"), madeAt, textAt(message, "responseId"), model].join(" "),
      model,
      input: tokensAt(counted, "input"),
      output: tokensAt(counted, "output"),
      reasoning: tokensAt(counted, "reasoning"),
      cacheRead: tokensAt(counted, "cacheRead"),
      cacheWrite5m: 0,
      cacheWrite1h: tokensAt(counted, "cacheWrite1h"),
      cacheWrite: Math.max(0, tokensAt(counted, "cacheWrite") - tokensAt(counted, "cacheWrite1h")),
      costUsd: costAt(counted, "cost", "total"),
    })
  },
}
