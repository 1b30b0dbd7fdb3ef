/** Tokens and cost of OpenHands, which its state has for each response of a model. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import { ifAny, objectAt, textAt, tokensAt, without } from "../shared/usage.ts"
import type { ResponseUsage, UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"usage_to_metrics"'],
  read: ({ record, sessionId }) => {
    const all = objectAt(record, "stats", "usage_to_metrics") ?? {}
    return Object.values(all).flatMap((metrics) => (isJsonObject(metrics) ? responsesIn(metrics, sessionId) : []))
  },
}

function responsesIn(metrics: JsonObject, sessionId: string): readonly ResponseUsage[] {
  const responses = metrics["token_usages"]
  if (!Array.isArray(responses)) return []
  return responses.flatMap((each: JsonValue, at) => {
    const cacheRead = tokensAt(each, "cache_read_tokens")
    const cacheWrite = tokensAt(each, "cache_write_tokens")
    return ifAny({
      key: textAt(each, "response_id") ?? `${sessionId} ${at}`,
      model: textAt(each, "model") ?? textAt(metrics, "model_name"),
      input: without(tokensAt(each, "prompt_tokens"), cacheRead, cacheWrite),
      output: tokensAt(each, "completion_tokens"),
      reasoning: tokensAt(each, "reasoning_tokens"),
      cacheRead,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      cacheWrite,
    })
  })
}
