/** Where the time and the work of a session went, as a picture: a bar for each message, as high as it is long. */
import { escapeHtml } from "./escape.ts"

export interface MapPoint {
  readonly anchor: string
  readonly atMs: number
  readonly units: number
  readonly kind: "user" | "assistant" | "tool" | "failed"
}

const WIDTH = 1000
const HEIGHT = 64
const BARS_MAX = 500

export function sessionMap(points: readonly MapPoint[]): string {
  if (points.length < 2) return ""
  const merged = mergeNeighbours(points)
  const most = Math.log(2 + Math.max(...merged.map(({ units }) => units)))
  const step = WIDTH / merged.length
  const bars = merged.map(({ anchor, units, kind }, at) => {
    const height = Math.max(3, Math.round((Math.log(2 + units) / most) * HEIGHT))
    const size = `x="${(at * step).toFixed(2)}" y="${HEIGHT - height}" width="${Math.max(0.5, step * 0.85).toFixed(2)}" height="${height}"`
    return `<a href="#${anchor}" tabindex="-1"><rect class="${kind}" ${size}/></a>`
  })
  const label = `Map of the session: ${points.length} messages and tool calls. Taller bars are longer.`
  // Hundreds of bars are nothing to read out: a reader of screens gets the number, and goes by headings and articles.
  const svg = `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">${bars.join("")}</svg>`
  return `<nav id="map" aria-label="${label}">${svg}<p>${escapeHtml(legend(points))}</p></nav>\n`
}

/** A screen has room for some hundred bars: more messages share one, of the kind that says most. */
function mergeNeighbours(points: readonly MapPoint[]): readonly MapPoint[] {
  const each = Math.ceil(points.length / BARS_MAX)
  const merged: MapPoint[] = []
  for (let at = 0; at < points.length; at += each) {
    const some = points.slice(at, at + each)
    const kind = (["failed", "user", "assistant", "tool"] as const).find((one) =>
      some.some((point) => point.kind === one),
    )
    const [first] = some
    if (first !== undefined)
      merged.push({ ...first, kind: kind ?? "tool", units: Math.max(...some.map(({ units }) => units)) })
  }
  return merged
}

function legend(points: readonly MapPoint[]): string {
  const count = (kind: MapPoint["kind"]) => points.filter((point) => point.kind === kind).length
  const tools = count("tool") + count("failed")
  const failed = count("failed") === 0 ? "" : ` (${count("failed")} failed)`
  const span = Math.max(...points.map(({ atMs }) => atMs)) - Math.min(...points.map(({ atMs }) => atMs))
  return `${count("user")} from the user, ${count("assistant")} from the assistant, ${tools} tool calls${failed}, over ${durationText(span)}.`
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
