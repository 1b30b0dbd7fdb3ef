/**
 * Reads dates as people type them and as pond shows them: yesterday, last week, June, 24h, 20 Jan. Days are days of this
 * machine's time zone. A day that a program gives (`date-bounds.ts`) is a day in UTC.
 */
import { PondError } from "../../model/errors.ts"
import { microsOfText } from "../../model/timestamp.ts"

/** Where a range of days begins and where the next one does, in milliseconds. */
interface TimeRange {
  readonly from: number
  readonly until: number
}

export interface TypedDate {
  /** The flag or field, as its user knows it. */
  readonly flag: string
  readonly text: string | undefined
  readonly edge: "start" | "end"
}

/** The first moment of what was typed, or its last, in RFC 3339. */
export function parseMoment({ flag, text, edge }: TypedDate, nowMs: number): string | undefined {
  if (text === undefined || microsOfText(text) !== undefined) return text
  const range = rangeOf(text.trim().toLowerCase(), nowMs)
  if (range === undefined) {
    throw new PondError(
      "validation_failed",
      `"${text}" is not a date. Use 2026-01-31, 2026-01, "20 Jan", "last week", yesterday, 7d or 2026-01-31T12:00.`,
      { details: { flag, value: text } },
    )
  }
  // The last moment that a store can tell from the next one.
  return edge === "start" ? toIso(range.from) : toIso(range.until - 1).replace("Z", "999Z")
}

function toIso(ms: number): string {
  return new Date(ms).toISOString()
}

const DAYS_OF: Readonly<Record<string, number>> = { d: 1, day: 1, days: 1, w: 7, week: 7, weeks: 7 }
const YEARS_MAX = 9_998
const DAYS_MAX = 1_000_000

function rangeOf(text: string, nowMs: number): TimeRange | undefined {
  const now = new Date(nowMs)
  const daysAgo = (days: number) => dayOf(now.getFullYear(), now.getMonth(), now.getDate() - days)
  if (text === "today") return daysAgo(0)
  if (text === "yesterday") return daysAgo(1)
  const named = ofWords(text, now)
  if (named !== undefined) return named
  const [, count, unit = ""] = /^(\d+) ?(d|w|days? ago|weeks? ago)$/.exec(text) ?? []
  if (count !== undefined) {
    const days = Number(count) * (DAYS_OF[unit.replace(" ago", "")] ?? 1)
    return days > DAYS_MAX ? undefined : daysAgo(days)
  }
  return ofCalendar(text) ?? ofNamedMonth(text, now)
}

/** This week, last month, June, 24h, 2026-01-31T12:00. A week begins on Monday. */
function ofWords(text: string, now: Date): TimeRange | undefined {
  const [year, month] = [now.getFullYear(), now.getMonth()]
  const [, which, unit] = /^(this|last) (week|month|year)$/.exec(text) ?? []
  const back = which === "last" ? 1 : 0
  if (unit === "year") return { from: midnight(year - back, 0, 1), until: midnight(year - back + 1, 0, 1) }
  if (unit === "month") return { from: midnight(year, month - back, 1), until: midnight(year, month - back + 1, 1) }
  if (unit === "week") {
    const monday = now.getDate() - ((now.getDay() + 6) % 7) - 7 * back
    return { from: midnight(year, month, monday), until: midnight(year, month, monday + 7) }
  }
  const [, hours] = /^(\d{1,6}) ?(?:h|hours? ago)$/.exec(text) ?? []
  if (hours !== undefined) return { from: now.getTime() - Number(hours) * HOUR_MS, until: now.getTime() + 1 }
  return ofMinute(text) ?? ofMonthName(text, now)
}

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** 2026-01-31T12:00 and 2026-01-31 12:00, in the reader's own time. */
function ofMinute(text: string): TimeRange | undefined {
  const [, day = "", hour, minute] = /^(\d{4}-\d\d-\d\d)[t ](\d\d):(\d\d)$/.exec(text) ?? []
  const range = ofCalendar(day)
  if (range === undefined || Number(hour) > 23 || Number(minute) > 59) return undefined
  const from = new Date(range.from).setHours(Number(hour), Number(minute))
  return { from, until: from + MINUTE_MS }
}

/** June, Jun: the last one, or this one. */
function ofMonthName(text: string, now: Date): TimeRange | undefined {
  const month = FULL_MONTHS.findIndex((name) => name === text || (text.length === 3 && name.startsWith(text)))
  if (month < 0) return undefined
  const year = month <= now.getMonth() ? now.getFullYear() : now.getFullYear() - 1
  return { from: midnight(year, month, 1), until: midnight(year, month + 1, 1) }
}

const FULL_MONTHS = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
]

/** 2026, 2026-01, 2026-01-31, 2026-1-31. */
function ofCalendar(text: string): TimeRange | undefined {
  const [, year, month, day] = /^(\d{4})(?:-(\d\d?)(?:-(\d\d?))?)?$/.exec(text) ?? []
  if (year === undefined || Number(year) > YEARS_MAX) return undefined
  if (month === undefined) return { from: midnight(Number(year), 0, 1), until: midnight(Number(year) + 1, 0, 1) }
  if (Number(month) < 1 || Number(month) > 12) return undefined
  const at = Number(month) - 1
  if (day === undefined) return { from: midnight(Number(year), at, 1), until: midnight(Number(year), at + 1, 1) }
  return existing(Number(year), at, Number(day))
}

/** 20 Jan, 20 Jan 2025: without a year the last one that there was. */
function ofNamedMonth(text: string, now: Date): TimeRange | undefined {
  const [, day, name = "", year] = /^(\d\d?) ([a-z]{3,9})(?: (\d{4}))?$/.exec(text) ?? []
  const month = FULL_MONTHS.findIndex((each) => each.startsWith(name.slice(0, 3)))
  if (day === undefined || month < 0) return undefined
  if (year !== undefined) return Number(year) > YEARS_MAX ? undefined : existing(Number(year), month, Number(day))
  const own = existing(now.getFullYear(), month, Number(day))
  return own !== undefined && own.from <= now.getTime() ? own : existing(now.getFullYear() - 1, month, Number(day))
}

/** A date that does not exist is refused, not rolled over. */
function existing(year: number, month: number, day: number): TimeRange | undefined {
  const date = new Date(midnight(year, month, day))
  return date.getMonth() === month && date.getDate() === day ? dayOf(year, month, day) : undefined
}

function dayOf(year: number, month: number, day: number): TimeRange {
  return { from: midnight(year, month, day), until: midnight(year, month, day + 1) }
}

/** Where a day has no midnight, because clocks were put forward, its first moment. */
function midnight(year: number, month: number, day: number): number {
  const date = new Date(0)
  date.setFullYear(year, month, day)
  return date.setHours(0, 0, 0, 0)
}
