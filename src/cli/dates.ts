/** Moments as people say them: how long ago for what is near, the day for what is not. */
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export function whenText(timestamp: string, nowMs: number): string {
  const ago = nowMs - Date.parse(timestamp)
  if (ago < 0 || ago > 7 * DAY) return timestamp.slice(0, 10)
  if (ago < MINUTE) return "just now"
  if (ago < HOUR) return `${Math.floor(ago / MINUTE)} min ago`
  if (ago < DAY) return `${Math.floor(ago / HOUR)} h ago`
  return ago < 2 * DAY ? "yesterday" : `${Math.floor(ago / DAY)} days ago`
}
