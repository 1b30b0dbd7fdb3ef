/** Days and moments as people and programs write them in a filter. */
import { PondError } from "../../model/errors.ts"
import { microsOfText } from "../../model/timestamp.ts"

const DAY_MICROS = 86_400_000_000n

/** A day stands for its first moment, or for its last. */
function momentOf(field: string, text: string, edge: "start" | "end"): bigint {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text)
  const micros = microsOfText(isDay ? `${text}T00:00:00Z` : text)
  if (micros === undefined) {
    throw new PondError("validation_failed", `"${text}" is not a date. Use 2026-01-31 or 2026-01-31T12:00:00Z.`, {
      details: { faults: [{ path: field, message: "must be a day, or a timestamp in RFC 3339" }] },
    })
  }
  return isDay && edge === "end" ? micros + DAY_MICROS - 1n : micros
}

export interface Bounds {
  readonly from?: bigint
  readonly to?: bigint
}

/** Both are inside. Nothing lies between bounds in the wrong order, and an answer without anything would not say why. */
export function boundsOf(at: { readonly from: string; readonly to: string }, from?: string, to?: string): Bounds {
  const bounds = {
    ...(from === undefined ? {} : { from: momentOf(at.from, from, "start") }),
    ...(to === undefined ? {} : { to: momentOf(at.to, to, "end") }),
  }
  if (bounds.from === undefined || bounds.to === undefined || bounds.from <= bounds.to) return bounds
  throw new PondError("validation_failed", `from_date ${from} is after to_date ${to}: swap them.`, {
    details: { faults: [{ path: at.from, message: `must not be after ${at.to}` }] },
  })
}
