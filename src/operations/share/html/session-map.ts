/**
 * Where the work, the tokens and the time of a session went, as a picture: three rows of bars, one bar for each message or
 * call. A click on a bar leads there.
 */
import { countText } from "../../../model/numbers.ts"
import { escapeHtml } from "./escape.ts"

export interface MapPoint {
  readonly anchor: string
  readonly ordinal: number
  readonly atMs: number
  /** Of a call, when its result came. */
  readonly endMs: number
  readonly units: number
  readonly kind: "user" | "assistant" | "tool" | "failed"
}

const WIDTH = 1000
const ROW_HEIGHT = 40
const GAP = 6
const BARS_MAX = 500
const BAR_MIN = 2

/** What a bar stands for: one point, or neighbours where there are more than a screen has room for. */
interface Bar {
  readonly anchor: string
  readonly kind: MapPoint["kind"]
  readonly units: number
  readonly tokens: number
  readonly tookMs: number
}

/** `tokens`: of the messages that recorded a response, by ordinal. */
export function sessionMap(
  points: readonly MapPoint[],
  tokens: ReadonlyMap<number, number>,
  totalText: string,
): string {
  if (points.length < 2) return ""
  const bars = mergeNeighbours(barsOf(points, tokens))
  // A night until the user wrote again would leave nothing to see of the work: it is drawn as long as the longest work.
  const longest = Math.max(...bars.map(({ kind, tookMs }) => (kind === "user" ? 0 : tookMs)))
  const rows = [
    { title: "Length", sizeOf: ({ units }: Bar) => Math.log(1 + units) },
    { title: "Tokens", sizeOf: (bar: Bar) => bar.tokens },
    { title: "Time", sizeOf: ({ tookMs }: Bar) => Math.sqrt(longest > 0 ? Math.min(tookMs, longest) : tookMs) },
  ].filter(({ sizeOf }) => bars.some((bar) => sizeOf(bar) > 0))
  const height = rows.length * (ROW_HEIGHT + GAP) - GAP
  const step = WIDTH / bars.length
  const drawn = bars.map((bar, at) => {
    const rects = rows.map(({ sizeOf }, row) => {
      const most = Math.max(...bars.map(sizeOf))
      const size = sizeOf(bar) === 0 ? 0 : Math.max(BAR_MIN, Math.round((sizeOf(bar) / most) * ROW_HEIGHT))
      const y = row * (ROW_HEIGHT + GAP) + ROW_HEIGHT - size
      const place = `x="${(at * step).toFixed(2)}" y="${y}" width="${Math.max(0.5, step * 0.85).toFixed(2)}" height="${size}"`
      return size === 0 ? "" : `<rect class="${bar.kind}" ${place}/>`
    })
    return `<a href="#${bar.anchor}" tabindex="-1">${rects.join("")}</a>`
  })
  const label = `Map of the session: ${countText(points.length)} messages and tool calls.`
  const titles = rows.map(({ title }) => title.toLowerCase()).join(", ")
  const key = `Rows from the top: ${titles}. Taller bars are more.`
  // Hundreds of bars are nothing to read out: a reader of screens gets the numbers, and goes by headings and articles.
  const svg = `<svg viewBox="0 0 ${WIDTH} ${height}" preserveAspectRatio="none" height="${height}" aria-hidden="true">${drawn.join("")}</svg>`
  const lines = [legend(points), totalText, key].filter((line) => line !== "")
  const said = lines.map((line) => `<p>${escapeHtml(line)}</p>`).join("")
  return `<nav id="map" aria-label="${label}">${svg}${said}</nav>\n`
}

/** Time is what passed since the point before; tokens of a message that shows nothing belong to the one shown before it. */
function barsOf(points: readonly MapPoint[], tokens: ReadonlyMap<number, number>): readonly Bar[] {
  const spent = new Map<number, number>()
  const ordinals = [...tokens.keys()].toSorted((left, right) => left - right)
  let at = 0
  for (const ordinal of ordinals) {
    while (at + 1 < points.length && (points[at + 1]?.ordinal ?? Number.POSITIVE_INFINITY) <= ordinal) at++
    spent.set(at, (spent.get(at) ?? 0) + (tokens.get(ordinal) ?? 0))
  }
  let lastMs = points[0]?.atMs ?? 0
  return points.map(({ anchor, kind, units, endMs }, index) => {
    const tookMs = Math.max(0, endMs - lastMs)
    lastMs = Math.max(lastMs, endMs)
    return { anchor, kind, units, tokens: spent.get(index) ?? 0, tookMs }
  })
}

const KINDS = ["failed", "user", "assistant", "tool"] as const

/** More messages share a bar, of the kind that says most. */
function mergeNeighbours(bars: readonly Bar[]): readonly Bar[] {
  const each = Math.ceil(bars.length / BARS_MAX)
  if (each === 1) return bars
  const sum = (some: readonly Bar[], name: "tokens" | "tookMs") => some.reduce((all, bar) => all + bar[name], 0)
  return Array.from({ length: Math.ceil(bars.length / each) }, (_, at) => {
    const some = bars.slice(at * each, (at + 1) * each)
    return {
      anchor: some[0]?.anchor ?? "",
      kind: KINDS.find((one) => some.some(({ kind }) => kind === one)) ?? "tool",
      units: Math.max(...some.map(({ units }) => units)),
      tokens: sum(some, "tokens"),
      tookMs: sum(some, "tookMs"),
    }
  })
}

function legend(points: readonly MapPoint[]): string {
  const count = (kind: MapPoint["kind"]) => points.filter((point) => point.kind === kind).length
  const tools = count("tool") + count("failed")
  const failed = count("failed") === 0 ? "" : ` (${count("failed")} failed)`
  const bars = barsOf(points, new Map())
  const took = (isOfUser: boolean) =>
    durationText(bars.reduce((all, { kind, tookMs }) => ((kind === "user") === isOfUser ? all + tookMs : all), 0))
  return `${count("user")} from the user, ${count("assistant")} from the assistant, ${tools} tool calls${failed}. Time: ${took(false)} of work, ${took(true)} until the user wrote.`
}

const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1000],
]

/** `2 h 5 min`, `1.4 s`. */
export function durationText(ms: number): string {
  if (ms < 10_000) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`
  const at = UNITS.findIndex(([, each]) => ms >= each)
  const [name, size] = UNITS[at] ?? ["s", 1000]
  const [lower, lowerSize] = UNITS[at + 1] ?? ["", 0]
  const rest = lowerSize === 0 ? 0 : Math.floor((ms % size) / lowerSize)
  return `${Math.floor(ms / size)} ${name}${rest === 0 ? "" : ` ${rest} ${lower}`}`
}
