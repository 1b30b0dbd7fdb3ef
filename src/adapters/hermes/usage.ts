/**
 * Tokens and cost of Hermes: for each model of a session one row of sums, which grows. What it grew by is a response of pond's
 * reckoning, known by the count of calls that it is the sum of.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import { costAt, ifAny, textAt, tokensAt, without } from "../shared/usage.ts"
import type { ResponseUsage, UsageMemory, UsageReading } from "../usage-reading.ts"
import { MODEL_USAGE } from "./records.ts"

export const usage: UsageReading = {
  marks: [`"${MODEL_USAGE}"`],
  read: ({ record, sessionId }, memory) => {
    const rows = isJsonObject(record) ? record[MODEL_USAGE] : undefined
    if (!Array.isArray(rows)) return []
    return rows.flatMap((row: JsonValue) => (isJsonObject(row) ? grownBy(row, sessionId, memory) : []))
  },
}

const COUNTS = ["input_tokens", "output_tokens", "reasoning_tokens", "cache_read_tokens", "cache_write_tokens"] as const

function grownBy(row: JsonObject, sessionId: string, memory: UsageMemory): readonly ResponseUsage[] {
  const model = textAt(row, "model")
  const name = [sessionId, model, textAt(row, "billing_provider"), textAt(row, "task")].join(" ")
  const before = memory[name] ?? null
  const counts = Object.fromEntries(COUNTS.map((count) => [count, tokensAt(row, count)]))
  const cost = costAt(row, "actual_cost_usd") || costAt(row, "estimated_cost_usd") || 0
  memory[name] = { ...counts, cost }
  const grown = (count: (typeof COUNTS)[number]) => without(counts[count] ?? 0, tokensAt(before, count))
  return ifAny({
    key: `${name} ${tokensAt(row, "api_call_count")}`,
    model,
    input: grown("input_tokens"),
    output: grown("output_tokens"),
    reasoning: grown("reasoning_tokens"),
    cacheRead: grown("cache_read_tokens"),
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    cacheWrite: grown("cache_write_tokens"),
    costUsd: cost === 0 ? undefined : Math.max(0, cost - (costAt(before, "cost") ?? 0)),
  })
}
