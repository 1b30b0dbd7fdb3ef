/**
 * Tokens and cost of Vibe: sums of a session, which grow: in the facts of 1.x and 2.x, and in what the store shows. What they
 * grew by is a response of pond's reckoning, known by the sum that it led to.
 */
import type { JsonValue } from "../../model/json.ts"
import { costAt, ifAny, objectAt, textAt, tokensAt, without } from "../shared/usage.ts"
import type { ResponseUsage, UsageMemory, UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"session_prompt_tokens"', '"tokenUsage"', '"active_model"'],
  read: ({ record, sessionId }, memory) => {
    const model = modelIn(record)
    if (model !== undefined) memory["model"] = model
    const sums = sumsIn(record)
    return sums === undefined ? [] : grownTo(sums, sessionId, memory)
  },
}

interface Sums {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cost: number
}

function modelIn(record: JsonValue): string | undefined {
  const facts = objectAt(record, "metadata") ?? record
  const config = objectAt(facts, "config") ?? objectAt(facts, "agent_config")
  if (config === undefined) return undefined
  return textAt(config, "model_name") ?? textAt(config, "active_model")
}

function sumsIn(record: JsonValue): Sums | undefined {
  const stats = objectAt(record, "stats") ?? objectAt(record, "metadata", "stats")
  if (stats !== undefined)
    return {
      input: tokensAt(stats, "session_prompt_tokens"),
      output: tokensAt(stats, "session_completion_tokens"),
      cacheRead: 0,
      cost: costAt(stats, "session_cost") ?? 0,
    }
  const shown = objectAt(record, "snapshot", "session", "tokenUsage")
  if (shown === undefined) return undefined
  const cacheRead = tokensAt(shown, "cachedInputTokens")
  return {
    input: without(tokensAt(shown, "inputTokens"), cacheRead),
    output: tokensAt(shown, "outputTokens"),
    cacheRead,
    cost: 0,
  }
}

function grownTo(sums: Sums, sessionId: string, memory: UsageMemory): readonly ResponseUsage[] {
  const before = memory["sums"] ?? null
  memory["sums"] = { ...sums }
  const cost = Math.max(0, sums.cost - (costAt(before, "cost") ?? 0))
  return ifAny({
    key: `${sessionId} ${sums.input} ${sums.output}`,
    model: textAt(memory, "model"),
    input: without(sums.input, tokensAt(before, "input")),
    output: without(sums.output, tokensAt(before, "output")),
    reasoning: 0,
    cacheRead: without(sums.cacheRead, tokensAt(before, "cacheRead")),
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    cacheWrite: 0,
    ...(cost === 0 ? {} : { costUsd: cost }),
  })
}
