/** Tokens and cost of Grok: of each turn, when it is over. Its input has what came from a cache in it. */

import { valueAt } from "../extract.ts"
import { ifAny, objectAt, textAt, tokensAt, without } from "../shared/usage.ts"
import type { UsageReading } from "../usage-reading.ts"

/** Ten thousand million make a dollar. */
const TICKS = 1e10

export const usage: UsageReading = {
  marks: ['"turn_completed"'],
  read: ({ record }) => {
    const update = objectAt(record, "params", "update")
    if (update === undefined || update["sessionUpdate"] !== "turn_completed") return []
    const counted = objectAt(update, "usage")
    if (counted === undefined) return []
    const [cacheRead, cacheWrite] = [tokensAt(counted, "cachedReadTokens"), tokensAt(counted, "cacheCreationTokens")]
    const models = Object.keys(objectAt(counted, "modelUsage") ?? {})
    const ticks = valueAt(counted, "costUsdTicks")
    return ifAny({
      // A fork copies the turns of its parent as they are.
      key: `${textAt(update, "prompt_id")}`,
      model: models.length === 1 ? models[0] : undefined,
      input: without(tokensAt(counted, "inputTokens"), cacheRead, cacheWrite),
      output: tokensAt(counted, "outputTokens"),
      reasoning: tokensAt(counted, "reasoningTokens"),
      cacheRead,
      ...{ cacheWrite5m: 0, cacheWrite1h: 0, cacheWrite },
      costUsd: typeof ticks === "number" ? ticks / TICKS : undefined,
    })
  },
}
