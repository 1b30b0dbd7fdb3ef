/**
 * Tokens of Copilot CLI. Since 1.0.9 each call has its own record; before, a session's end says the sum of each model,
 * and a later end the sum so far. What it calls cost counts premium requests, not dollars.
 */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import { ifAny, objectAt, textAt, tokensAt, without } from "../shared/usage.ts"
import type { ResponseUsage, UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"session.usage_record"', '"session.shutdown"'],
  read: ({ record, sessionId }, memory) => {
    if (textAt(record, "type") === "session.usage_record") {
      memory["recorded"] = true
      return ofCall(objectAt(record, "data", "usage") ?? {}, textAt(record, "id") ?? sessionId)
    }
    if (textAt(record, "type") !== "session.shutdown" || memory["recorded"] === true) return []
    return Object.entries(objectAt(record, "data", "modelMetrics") ?? {}).flatMap(([model, metrics]) =>
      ofCounts(objectAt(metrics, "usage") ?? {}, `${sessionId} ${model}`, model),
    )
  },
}

function ofCall(counted: JsonValue, id: string): readonly ResponseUsage[] {
  if (!isJsonObject(counted)) return []
  const key = textAt(counted, "accounting", "usageId") ?? textAt(counted, "apiCallId") ?? id
  return ofCounts(counted, key, textAt(counted, "model"))
}

function ofCounts(counted: JsonValue, key: string, model: string | undefined): readonly ResponseUsage[] {
  const cacheRead = tokensAt(counted, "cacheReadTokens")
  const cacheWrite = tokensAt(counted, "cacheWriteTokens")
  return ifAny({
    key,
    model,
    input: without(tokensAt(counted, "inputTokens"), cacheRead, cacheWrite),
    output: tokensAt(counted, "outputTokens"),
    reasoning: tokensAt(counted, "reasoningTokens"),
    cacheRead,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    cacheWrite,
  })
}
