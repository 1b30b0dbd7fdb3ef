/**
 * Tokens and cost of opencode, which every answer has. A fork copies messages under new ids and keeps when they were made;
 * a row that changes comes again as a revision. So moment, place and model name the answer.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import { valueAt } from "../extract.ts"
import { costAt, ifAny, objectAt, textAt, tokensAt } from "../shared/usage.ts"
import type { ResponseUsage, UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"tokens"'],
  read: ({ record }) => {
    // Rows of the database have the message in a separate column; the documents of before are the message.
    const message = objectAt(record, "data") ?? record
    return isJsonObject(message) && message["role"] === "assistant" ? ofAnswer(message) : []
  },
}

function ofAnswer(message: JsonObject): readonly ResponseUsage[] {
  const tokens = objectAt(message, "tokens")
  const createdAt = valueAt(message, "time", "created")
  if (tokens === undefined || typeof createdAt !== "number") return []
  const model = textAt(message, "modelID")
  const reasoning = tokensAt(tokens, "reasoning")
  return ifAny({
    key: [createdAt, model, textAt(message, "agent") ?? textAt(message, "mode"), textAt(message, "path", "cwd")].join(
      " ",
    ),
    model,
    input: tokensAt(tokens, "input"),
    output: tokensAt(tokens, "output") + (isReasoningWithin(tokens) ? 0 : reasoning),
    reasoning,
    cacheRead: tokensAt(tokens, "cache", "read"),
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    cacheWrite: tokensAt(tokens, "cache", "write"),
    costUsd: costAt(message, "cost"),
  })
}

/** Where there is a sum it tells. The client itself charges output and reasoning, so without one they are two. */
function isReasoningWithin(tokens: JsonValue): boolean {
  const classes = [["input"], ["output"], ["cache", "read"], ["cache", "write"]]
  const sum = classes.reduce((total, path) => total + tokensAt(tokens, ...path), 0)
  return sum > 0 && tokensAt(tokens, "total") === sum
}
