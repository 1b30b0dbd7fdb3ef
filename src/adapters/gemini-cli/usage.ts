/** Tokens of Gemini CLI. An answer is written two or three times under one id: with its text, its tokens, its calls. */

import { ifAny, objectAt, textAt, tokensAt, without } from "../shared/usage.ts"
import type { UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"tokens"'],
  read: ({ record, sessionId }) => {
    const tokens = objectAt(record, "tokens")
    if (tokens === undefined) return []
    const cacheRead = tokensAt(tokens, "cached")
    const reasoning = tokensAt(tokens, "thoughts")
    return ifAny({
      // Ids of today are unique; chats of before counted their messages.
      key: `${textAt(record, "id") ?? sessionId} ${textAt(record, "timestamp") ?? ""}`,
      model: textAt(record, "model"),
      // What tools put into the prompt is counted apart from the rest of it.
      input: without(tokensAt(tokens, "input"), cacheRead) + tokensAt(tokens, "tool"),
      output: tokensAt(tokens, "output") + reasoning,
      reasoning,
      cacheRead,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      cacheWrite: 0,
    })
  },
}
