/** Moments as people say them: how long ago for what is near, the day for what is not; in the reader's own time. */
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

export function whenText(timestamp: string, nowMs: number): string {
  const atMs = Date.parse(timestamp)
  const ago = nowMs - atMs
  if (ago < 0) return dayText(atMs, nowMs)
  if (ago < MINUTE) return "just now"
  if (ago < HOUR) return `${Math.floor(ago / MINUTE)} min ago`
  const days = daysBetween(atMs, nowMs)
  if (ago < DAY && days === 0) return `${Math.floor(ago / HOUR)} h ago`
  if (days === 1) return `yesterday ${clockText(atMs)}`
  return days < 7 ? `${days} days ago` : dayText(atMs, nowMs)
}

/** In nine columns, for a line that has others to say more: `14:03`, `yesterday`, `12 Jan`, `Jan 2025`. */
export function briefWhenText(timestamp: string, nowMs: number): string {
  const atMs = Date.parse(timestamp)
  const days = daysBetween(atMs, nowMs)
  if (days === 0) return clockText(atMs)
  if (days === 1) return "yesterday"
  const date = new Date(atMs)
  if (date.getFullYear() === new Date(nowMs).getFullYear()) return dayText(atMs, nowMs)
  return `${MONTHS[date.getMonth()] ?? ""} ${date.getFullYear()}`
}

/** By the days of a calendar: what was late yesterday is yesterday, not some hours ago. */
function daysBetween(fromMs: number, toMs: number): number {
  const dayOf = (ms: number) => {
    const date = new Date(ms)
    return Date.UTC(date.getFullYear(), date.getMonth(), date.getDate())
  }
  return Math.round((dayOf(toMs) - dayOf(fromMs)) / DAY)
}

/** `20 Jan`, with the year where it is another. */
function dayText(atMs: number, nowMs: number): string {
  const date = new Date(atMs)
  const day = `${date.getDate()} ${MONTHS[date.getMonth()] ?? ""}`
  return date.getFullYear() === new Date(nowMs).getFullYear() ? day : `${day} ${date.getFullYear()}`
}

/** The heading of the sessions of a day: `Today`, `Yesterday`, `Monday 12 Jan`, with the year where it is another. */
export function dayHeading(timestamp: string, nowMs: number): string {
  const atMs = Date.parse(timestamp)
  const days = daysBetween(atMs, nowMs)
  if (days === 0) return "Today"
  if (days === 1) return "Yesterday"
  return `${WEEKDAYS[new Date(atMs).getDay()] ?? ""} ${dayText(atMs, nowMs)}`
}

/** The day and the time of day, for what is read as a record: `12 Jan 14:03`. */
export function momentText(timestamp: string, nowMs: number): string {
  const atMs = Date.parse(timestamp)
  const day = ["today", "yesterday"][daysBetween(atMs, nowMs)] ?? dayText(atMs, nowMs)
  return `${day} ${clockText(atMs)}`
}

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

export function timeText(timestamp: string): string {
  return clockText(Date.parse(timestamp))
}

function clockText(atMs: number): string {
  const date = new Date(atMs)
  return `${String(date.getHours()).padStart(2, "0")}:${String(date.getMinutes()).padStart(2, "0")}`
}

/** `2026-01-31 12:00:05`, in the reader's own time. */
export function localTimeText(atMs: number): string {
  const date = new Date(atMs)
  const two = (value: number) => String(value).padStart(2, "0")
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${clockText(atMs)}:${two(date.getSeconds())}`
}
