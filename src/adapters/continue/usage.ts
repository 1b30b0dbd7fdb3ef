/** Tokens of Continue's command line, which stand in its answers. A fork copies answers as they are, without a time or an id. */
import { stringifyJson } from "../../model/json.ts"
import { ifAny, objectAt, textAt, tokensAt, without } from "../shared/usage.ts"
import type { UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"prompt_tokens"'],
  read: ({ record, sessionId }) => {
    const message = objectAt(record, "message")
    const counted = objectAt(record, "message", "usage")
    if (message === undefined || counted === undefined) return []
    const cacheRead = tokensAt(counted, "prompt_tokens_details", "cached_tokens")
    return ifAny({
      // What was said and what it took tell it from other answers of its session.
      key: `${sessionId} ${Bun.hash.xxHash64(stringifyJson(message)).toString(36)}`,
      model: textAt(counted, "model"),
      input: without(tokensAt(counted, "prompt_tokens"), cacheRead),
      output: tokensAt(counted, "completion_tokens"),
      reasoning: tokensAt(counted, "completion_tokens_details", "reasoning_tokens"),
      cacheRead,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      cacheWrite: 0,
    })
  },
}
