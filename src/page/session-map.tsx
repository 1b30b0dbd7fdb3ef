/** A map of the session: a bar for each message and call, as high as it is long. A click leads there. */
import type { MapPoint } from "./api.ts"

const WIDTH = 1000
const HEIGHT = 64
const BARS_MAX = 500
const BAR_MIN = 3

interface SessionMapProps {
  readonly id: string
  readonly points: readonly MapPoint[]
}

export function SessionMap({ id, points }: SessionMapProps) {
  if (points.length < 2) return null
  const bars = mergeNeighbours(points)
  const most = Math.log(2 + Math.max(...bars.map(({ size }) => size)))
  const step = WIDTH / bars.length
  return (
    <nav class="map" aria-label="Map of the session">
      <p class="unseen">{points.length} messages and tool calls. Taller bars are longer.</p>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {bars.map(({ anchor, size, kind }, at) => {
          const height = Math.max(BAR_MIN, (Math.log(2 + size) / most) * HEIGHT)
          return (
            <a key={anchor + at} href={`#/session/${encodeURIComponent(id)}/${anchor}`} tabindex={-1}>
              <rect class={kind} x={at * step} y={HEIGHT - height} width={Math.max(0.5, step * 0.85)} height={height} />
            </a>
          )
        })}
      </svg>
    </nav>
  )
}

/** A screen has room for some hundred bars: neighbours share one, of the kind that says most. */
function mergeNeighbours(points: readonly MapPoint[]): readonly MapPoint[] {
  const each = Math.ceil(points.length / BARS_MAX)
  return Array.from({ length: Math.ceil(points.length / each) }, (_, at) => {
    const group = points.slice(at * each, (at + 1) * each)
    const said = group.find(({ kind }) => kind === "failed") ?? group.find(({ kind }) => kind === "user") ?? group[0]
    return { ...(said as MapPoint), size: group.reduce((sum, { size }) => sum + size, 0) }
  })
}
