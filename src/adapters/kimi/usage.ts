/**
 * Tokens of Kimi: Kimi Code says them when a step ends, under the id that its provider gave the answer, which a fork has too;
 * kimi-cli in what it shows behind each step.
 */
import type { JsonValue } from "../../model/json.ts"
import { ifAny, objectAt, textAt, tokensAt } from "../shared/usage.ts"
import type { ResponseUsage, UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"step.end"', '"llm.request"', '"StatusUpdate"'],
  read: ({ record, sessionId }, memory) => {
    const type = textAt(record, "type") ?? textAt(record, "message", "type")
    if (type === "llm.request") memory["model"] = textAt(record, "model") ?? null
    if (type === "StatusUpdate") return ofStatus(objectAt(record, "message", "payload") ?? {}, sessionId)
    const event = objectAt(record, "event")
    const counted = objectAt(record, "event", "usage")
    if (event === undefined || counted === undefined || textAt(event, "type") !== "step.end") return []
    const { model } = memory
    return ifAny({
      key: textAt(event, "messageId") ?? textAt(event, "uuid") ?? sessionId,
      model: typeof model === "string" ? model : undefined,
      input: tokensAt(counted, "inputOther"),
      output: tokensAt(counted, "output"),
      reasoning: 0,
      cacheRead: tokensAt(counted, "inputCacheRead"),
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      cacheWrite: tokensAt(counted, "inputCacheCreation"),
    })
  },
}

function ofStatus(payload: JsonValue, sessionId: string): readonly ResponseUsage[] {
  const counted = objectAt(payload, "token_usage")
  if (counted === undefined) return []
  return ifAny({
    key: textAt(payload, "message_id") ?? `${sessionId} ${tokensAt(payload, "context_tokens")}`,
    model: undefined,
    input: tokensAt(counted, "input_other"),
    output: tokensAt(counted, "output"),
    reasoning: 0,
    cacheRead: tokensAt(counted, "input_cache_read"),
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    cacheWrite: tokensAt(counted, "input_cache_creation"),
  })
}
