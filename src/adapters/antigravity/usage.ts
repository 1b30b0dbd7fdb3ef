/** Tokens of Antigravity: each step of the model says what it took. Its model is a number that only the program can name. */
import { ifAny, objectAt, textAt, tokensAt } from "../shared/usage.ts"
import type { UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"usage"'],
  read: ({ record, sessionId }) => {
    const metadata = objectAt(record, "step_payload", "metadata")
    const tokens = metadata && objectAt(metadata, "usage")
    if (metadata === undefined || tokens === undefined) return []
    const reasoning = tokensAt(tokens, "thinking")
    const said = tokensAt(tokens, "response") + reasoning
    return ifAny({
      key: `${textAt(metadata, "trajectory", "id") ?? sessionId} ${String(objectAt(record)?.["idx"])}`,
      input: tokensAt(tokens, "input"),
      output: Math.max(tokensAt(tokens, "output"), said),
      reasoning,
      cacheRead: tokensAt(tokens, "cache_read"),
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      cacheWrite: tokensAt(tokens, "cache_write"),
    })
  },
}
