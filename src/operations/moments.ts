/** Days and moments as people and programs write them in a filter. */
import { PondError } from "../model/errors.ts"
import { microsOfText } from "../model/timestamp.ts"

const DAY_MICROS = 86_400_000_000n

/** A day stands for its first moment, or for its last. */
export function momentOf(field: string, text: string, edge: "start" | "end"): bigint {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text)
  const micros = microsOfText(isDay ? `${text}T00:00:00Z` : text)
  if (micros === undefined) {
    throw new PondError(
      "validation_failed",
      `"${text}" is no date. Write it as 2026-01-31, or as 2026-01-31T12:00:00Z.`,
      {
        details: { faults: [{ path: field, message: "it is a day, or a moment in RFC 3339" }] },
      },
    )
  }
  return isDay && edge === "end" ? micros + DAY_MICROS - 1n : micros
}
