/**
 * Tokens and cost of Cline: a session says them in each answer. A task says them in what was shown, where each request to a
 * model stands as the text of an object. Copies in a fork have new ids and the old moments, so the moment names the answer.
 */
import { parseJson } from "../../model/json.ts"
import { valueAt } from "../extract.ts"
import { costAt, ifAny, objectAt, textAt, tokensAt, without } from "../shared/usage.ts"
import type { UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"metrics"', '"api_req_started"'],
  read: ({ record, sessionId }) => {
    const model = textAt(record, "modelInfo", "id")
    const key = `${valueAt(record, "ts") ?? sessionId} ${model ?? ""}`
    const counted = objectAt(record, "metrics")
    if (counted !== undefined) {
      const cacheRead = tokensAt(counted, "cacheReadTokens")
      const input = without(tokensAt(counted, "inputTokens"), cacheRead)
      const output = tokensAt(counted, "outputTokens")
      const classes = { input, output, cacheRead, cacheWrite: tokensAt(counted, "cacheWriteTokens") }
      return ifAny({ key, model, ...classes, ...UNCOUNTED, costUsd: costAt(counted, "cost") })
    }
    const said = textAt(record, "say") === "api_req_started" ? parseJson(textAt(record, "text") ?? "") : undefined
    if (said?.ok !== true) return []
    const { value } = said
    const classes = { input: tokensAt(value, "tokensIn"), output: tokensAt(value, "tokensOut") }
    const cached = { cacheRead: tokensAt(value, "cacheReads"), cacheWrite: tokensAt(value, "cacheWrites") }
    return ifAny({ key, model, ...classes, ...cached, ...UNCOUNTED, costUsd: costAt(value, "cost") })
  },
}

/** What it does not tell apart. */
const UNCOUNTED = { reasoning: 0, cacheWrite5m: 0, cacheWrite1h: 0 }
