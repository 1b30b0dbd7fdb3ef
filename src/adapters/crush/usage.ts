/** What a session of Crush cost, in dollars. Its counts of tokens are those of the last request alone, and say nothing of the whole. */
import { costAt, ifAny, objectAt } from "../shared/usage.ts"
import type { UsageReading } from "../usage-reading.ts"

export const usage: UsageReading = {
  marks: ['"cost"'],
  read: ({ record, sessionId }) => {
    const row = objectAt(record, "session")
    if (row === undefined) return []
    const none = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheWrite: 0 }
    return ifAny({ key: sessionId, ...none, costUsd: costAt(row, "cost") })
  },
}
