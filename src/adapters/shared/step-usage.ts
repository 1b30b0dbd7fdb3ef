/** Tokens of a step of a trajectory in ATIF, which its `metrics` count. Tokens read from a cache are part of those of the prompt. */
import type { ResponseUsage, UsageReading, UsageRecord } from "../usage-reading.ts"
import { costAt, ifAny, objectAt, textAt, tokensAt, without } from "./usage.ts"

function stepUsage({ record, sessionId }: UsageRecord): readonly ResponseUsage[] {
  const metrics = objectAt(record, "metrics")
  if (metrics === undefined) return []
  const cacheRead = tokensAt(metrics, "cached_tokens")
  const step = objectAt(record)?.["step_id"]
  return ifAny({
    key: `${sessionId} ${String(step)}`,
    model: textAt(record, "extra", "generation_model") ?? textAt(record, "model_name"),
    input: without(tokensAt(metrics, "prompt_tokens"), cacheRead),
    output: tokensAt(metrics, "completion_tokens"),
    reasoning: tokensAt(metrics, "extra", "reasoning_tokens"),
    cacheRead,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    cacheWrite: 0,
    costUsd: costAt(metrics, "cost_usd"),
  })
}

export const stepsUsage: UsageReading = { marks: ['"metrics"'], read: stepUsage }
