/** Bar charts: days side by side, everything else below each other. Each bar says its number. */

const ROWS_MAX = 12
const DAY_MS = 86_400_000
const HEIGHT = 80
const WIDTH = 1000

export interface BarRow {
  readonly key: string
  readonly label: string
  readonly value: number
  readonly note?: string
  readonly href?: string
}

interface BarsProps {
  readonly title: string
  /** Undefined while they are counted. */
  readonly rows: readonly BarRow[] | undefined
  readonly textOf: (value: number) => string
}

export function Bars({ title, rows: counted, textOf }: BarsProps) {
  const rows = counted ?? []
  const shown = rows.slice(0, ROWS_MAX)
  const most = Math.max(1e-9, ...shown.map(({ value }) => value))
  return (
    <section class="panel">
      <h2>{title}</h2>
      {shown.length === 0 ? <p class="status">{counted === undefined ? "Counting…" : "Nothing."}</p> : null}
      <table>
        <tbody>
          {shown.map(({ key, label, value, note, href }) => (
            <tr key={key}>
              <th scope="row" title={key}>
                {href === undefined ? label : <a href={href}>{label}</a>}
              </th>
              <td>
                <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                  <rect class="value" width={Math.max(0.5, (value / most) * 100)} height="10" />
                </svg>
              </td>
              <td class="number">
                {textOf(value)} {note === undefined ? null : <small>{note}</small>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown.length ? <p class="status">{rows.length - shown.length} more</p> : null}
    </section>
  )
}

interface DayBarsProps {
  readonly title: string
  /** The first day that is shown, as 2026-01-31; without it, the first one on which something happened. */
  readonly from: string | undefined
  readonly rows: readonly { readonly key: string; readonly value: number }[]
  readonly textOf: (value: number) => string
}

export function DayBars({ title, from, rows, textOf }: DayBarsProps) {
  const days = rows.length === 0 ? [] : everyDay(rows, from)
  const most = Math.max(1e-9, ...days.map(({ value }) => value))
  const step = WIDTH / Math.max(1, days.length)
  const best = days.toSorted((left, right) => right.value - left.value)[0]
  if (days.length === 0) return null
  const label = `${title} from ${days[0]?.key} to ${days.at(-1)?.key}. Most: ${textOf(best?.value ?? 0)} on ${best?.key}.`
  return (
    <section class="days">
      <h2>{title}</h2>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {days.map(({ key, value }, at) => (
          <rect
            key={key}
            class="value"
            x={at * step}
            y={HEIGHT - (value / most) * HEIGHT}
            width={Math.max(0.5, step * 0.85)}
            height={(value / most) * HEIGHT}
          >
            <title>{`${key}: ${textOf(value)}`}</title>
          </rect>
        ))}
      </svg>
      <p class="axis">
        <span>{days[0]?.key}</span>
        <span>{days.at(-1)?.key}</span>
      </p>
    </section>
  )
}

const DAYS_MAX = 1500

/** Fills in the days without activity, so that every week is equally wide. */
function everyDay(rows: DayBarsProps["rows"], from: string | undefined): DayBarsProps["rows"] {
  const known = new Map(rows.map(({ key, value }) => [key, value]))
  const moments = [...known.keys()].map((key) => Date.parse(key)).filter((moment) => !Number.isNaN(moment))
  const [first, last] = [
    from === undefined ? Math.min(...moments) : Date.parse(from),
    Math.max(...moments, from === undefined ? 0 : Date.now()),
  ]
  const count = Math.round((last - first) / DAY_MS) + 1
  if (!(count <= DAYS_MAX)) return rows
  return Array.from({ length: count }, (_, at) => {
    const key = new Date(first + at * DAY_MS).toISOString().slice(0, 10)
    return { key, value: known.get(key) ?? 0 }
  })
}
