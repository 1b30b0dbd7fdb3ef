/** Dates, counts and paths as people read them, in the language and the time zone of the browser. */

const DAY_MS = 86_400_000

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" })
const weekday = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" })
const longDay = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long", year: "numeric" })
const count = new Intl.NumberFormat()
const compact = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 })
const dollars = new Intl.NumberFormat(undefined, { style: "currency", currency: "USD" })

export const timeText = (moment: string) => clock.format(new Date(moment))
export const countText = (value: number) => count.format(value)
export const compactText = (value: number) => compact.format(value)
export const costText = (value: number) => dollars.format(value)
export const dateTimeText = (moment: string) => `${dayText(moment)}, ${timeText(moment)}`

/** Today, Yesterday, a weekday of this year, or a date. */
export function dayText(moment: string): string {
  const day = startOfDay(new Date(moment))
  const daysAgo = Math.round((startOfDay(new Date()).getTime() - day.getTime()) / DAY_MS)
  if (daysAgo === 0) return "Today"
  if (daysAgo === 1) return "Yesterday"
  return day.getFullYear() === new Date().getFullYear() ? weekday.format(day) : longDay.format(day)
}

function startOfDay(moment: Date): Date {
  return new Date(moment.getFullYear(), moment.getMonth(), moment.getDate())
}

/** The last folder of a project's path tells projects apart better than its beginning. */
export function projectName(path: string): string {
  return lastFolders(path, 1)
}

/** The same for projects beside each other: where two have one name, the folder before it is shown too. */
export function projectNames(paths: readonly string[]): (path: string) => string {
  const seen = new Map<string, number>()
  for (const path of paths) seen.set(projectName(path), (seen.get(projectName(path)) ?? 0) + 1)
  return (path) => lastFolders(path, (seen.get(projectName(path)) ?? 0) > 1 ? 2 : 1)
}

function lastFolders(path: string, folders: number): string {
  return path.split("/").filter(Boolean).slice(-folders).join("/") || path
}

export function counted(value: number, noun: string): string {
  return `${countText(value)} ${noun}${value === 1 ? "" : "s"}`
}
