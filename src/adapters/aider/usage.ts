/** Tokens and dollars as aider prints them behind an answer: rounded, the only place where they stand. */
import { ifAny, textAt } from "../shared/usage.ts"
import type { UsageReading } from "../usage-reading.ts"

const REPORT =
  /^Tokens: ([\d.,]+k?M?) sent(?:, ([\d.,]+k?M?) cache write)?(?:, ([\d.,]+k?M?) cache hit)?, ([\d.,]+k?M?) received\.(?:\s+Cost: \$([\d.]+) message)?/gm

export const usage: UsageReading = {
  marks: ["Tokens: "],
  read: ({ record, sessionId }, memory) => {
    const told = textAt(record, "told") ?? ""
    memory["model"] = MODEL.exec(told)?.[1] ?? memory["model"] ?? null
    return [...told.matchAll(REPORT)].flatMap(([, sent, written, hit, received, dollars]) => {
      const count = Number(memory["count"] ?? 0) + 1
      memory["count"] = count
      const model = memory["model"]
      const [all, cacheWrite, cacheRead] = [tokens(sent), tokens(written), tokens(hit)]
      return ifAny({
        key: `${sessionId} ${count}`,
        model: typeof model === "string" ? model : undefined,
        input: Math.max(0, all - cacheWrite - cacheRead),
        output: tokens(received),
        reasoning: 0,
        cacheRead,
        cacheWrite5m: 0,
        cacheWrite1h: 0,
        cacheWrite,
        ...(dollars === undefined ? {} : { costUsd: Number(dollars) }),
      })
    })
  },
}

const MODEL = /^(?:Main model|Model): (.+?) with \S+ edit format/m

/** `999`, `1.2k`, `34k`. */
function tokens(text: string | undefined): number {
  const [, digits = "0", unit = ""] = /^([\d.,]+)([kM]?)$/.exec(text ?? "") ?? []
  const found = Number(digits.replaceAll(",", "")) * (UNITS[unit] ?? 1)
  return Number.isFinite(found) ? Math.round(found) : 0
}

const UNITS: Readonly<Record<string, number>> = { k: 1_000, M: 1_000_000 }
