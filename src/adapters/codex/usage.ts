/**
 * Tokens of Codex. `token_count` has the sum of the thread and what the last response took; it comes again, unchanged, with
 * every news of rate limits, and once more in a copy. The sum names the response. The model stands in the turn's context.
 */
import type { JsonObject } from "../../model/json.ts"
import { ifAny, objectAt, textAt, tokensAt, without } from "../shared/usage.ts"
import type { ResponseUsage, UsageMemory, UsageReading } from "../usage-reading.ts"

const COUNTS = [
  "input_tokens",
  "cached_input_tokens",
  "cache_write_input_tokens",
  "output_tokens",
  "reasoning_output_tokens",
] as const

type Counts = Readonly<Record<(typeof COUNTS)[number], number>>

export const usage: UsageReading = {
  marks: ['"token_count"', '"turn_context"'],
  read: ({ record, sessionId }, memory) => {
    if (textAt(record, "type") === "turn_context") {
      const model = textAt(record, "payload", "model")
      if (model !== undefined) memory["model"] = model
      return []
    }
    const isCount = textAt(record, "payload", "type") === "token_count"
    const info = isCount ? objectAt(record, "payload", "info") : undefined
    return info === undefined ? [] : ofCount(info, sessionId, memory)
  },
}

function ofCount(info: JsonObject, sessionId: string, memory: UsageMemory): readonly ResponseUsage[] {
  const total = objectAt(info, "total_token_usage")
  const last = objectAt(info, "last_token_usage")
  if (total === undefined && last === undefined) return []
  const sum = countsIn(total ?? last ?? {})
  const counts = last === undefined ? since(sum, memory) : countsIn(last)
  memory["sum"] = sum
  const { cached_input_tokens: cacheRead, cache_write_input_tokens: cacheWrite } = counts
  return ifAny({
    key: `${sessionId} ${Object.values(sum).join(" ")}`,
    model: textAt(memory, "model"),
    input: without(counts.input_tokens, cacheRead, cacheWrite),
    output: counts.output_tokens,
    reasoning: counts.reasoning_output_tokens,
    cacheRead,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    cacheWrite,
  })
}

function countsIn(counted: JsonObject): Counts {
  return Object.fromEntries(COUNTS.map((name) => [name, tokensAt(counted, name)])) as Counts
}

function since(sum: Counts, { sum: before }: UsageMemory): Counts {
  const earlier = before === undefined ? 0 : before
  return Object.fromEntries(COUNTS.map((name) => [name, without(sum[name], tokensAt(earlier, name))])) as Counts
}
