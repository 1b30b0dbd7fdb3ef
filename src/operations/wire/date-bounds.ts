/** Days and moments as people and programs write them in a filter. */
import { PondError } from "../../model/errors.ts"
import { microsOfText } from "../../model/timestamp.ts"
import { parseMoment } from "./date-words.ts"

const DAY_MICROS = 86_400_000_000n

interface Edge {
  readonly field: string
  readonly edge: "start" | "end"
  /** For dates in words. Absent: there are none. */
  readonly nowMs?: number | undefined
}

/** A day stands for its first moment, or for its last. */
function momentOf(text: string, { field, edge, nowMs }: Edge): bigint {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text)
  const typed = isDay || nowMs === undefined ? text : (parseMoment({ flag: field, text, edge }, nowMs) ?? text)
  const micros = microsOfText(isDay ? `${text}T00:00:00Z` : typed)
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

interface Asked {
  /** The fields of the two, as JSON pointers. */
  readonly from: string
  readonly to: string
  readonly nowMs?: number
}

/** Both are inside. Nothing lies between bounds in the wrong order, and an answer without anything would not say why. */
export function boundsOf(at: Asked, from?: string, to?: string): Bounds {
  const bounds = {
    ...(from === undefined ? {} : { from: momentOf(from, { field: at.from, edge: "start", nowMs: at.nowMs }) }),
    ...(to === undefined ? {} : { to: momentOf(to, { field: at.to, edge: "end", nowMs: at.nowMs }) }),
  }
  if (bounds.from === undefined || bounds.to === undefined || bounds.from <= bounds.to) return bounds
  throw new PondError("validation_failed", `from_date ${from} is after to_date ${to}: swap them.`, {
    details: { faults: [{ path: at.from, message: `must not be after ${at.to}` }] },
  })
}
