/**
 * Tokens of Claude Code. One answer is up to 18 records with the same `message.id`, each with the usage so far, and a fork
 * has them all once more: the pair of message and request names the answer.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import { costAt, ifAny, objectAt, textAt, tokensAt, without } from "../shared/usage.ts"
import type { ResponseUsage, UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"usage"'],
  read: ({ record, sessionId }) => {
    if (!isJsonObject(record)) return []
    // Until 2.1 a parent's log repeats what its agents were answered; their own logs have it too.
    const echoed = record["type"] === "progress" ? objectAt(record, "data", "message") : undefined
    return echoed === undefined
      ? ofAnswer(record, sessionId)
      : ofAnswer(echoed, sessionId).map((each) => ({ ...each, isEcho: true }))
  },
}

/** What the client says itself, in place of an answer, names no model and took no tokens. */
const SYNTHETIC = "<synthetic>"

function ofAnswer(record: JsonObject, sessionId: string): readonly ResponseUsage[] {
  const message = objectAt(record, "message")
  const counted = objectAt(record, "message", "usage")
  if (message === undefined || counted === undefined) return []
  const model = textAt(message, "model")
  if (model === SYNTHETIC) return []
  // A record without any id is a separate response.
  const id = textAt(message, "id") ?? textAt(record, "uuid") ?? `${sessionId} ${textAt(record, "timestamp") ?? ""}`
  const written = writes(counted)
  return ifAny({
    key: `${id} ${textAt(record, "requestId") ?? textAt(record, "request_id") ?? ""}`,
    model,
    input: tokensAt(counted, "input_tokens"),
    output: tokensAt(counted, "output_tokens"),
    reasoning: tokensAt(counted, "output_tokens_details", "thinking_tokens"),
    cacheRead: tokensAt(counted, "cache_read_input_tokens"),
    ...written,
    // Until 1.0.9 each record said what it cost.
    costUsd: costAt(record, "costUSD"),
  })
}

function writes(counted: JsonValue): Pick<ResponseUsage, "cacheWrite" | "cacheWrite5m" | "cacheWrite1h"> {
  const cacheWrite5m = tokensAt(counted, "cache_creation", "ephemeral_5m_input_tokens")
  const cacheWrite1h = tokensAt(counted, "cache_creation", "ephemeral_1h_input_tokens")
  const all = tokensAt(counted, "cache_creation_input_tokens")
  return { cacheWrite5m, cacheWrite1h, cacheWrite: without(all, cacheWrite5m, cacheWrite1h) }
}
