/** Columns of text that fit the width of the terminal: what is too wide gives way, the widest column first. */
import { lazy } from "../../platform/lazy.ts"

export interface Column {
  readonly title: string
  readonly align?: "left" | "right"
  /** Cut only when nothing else is left to cut: ids, numbers, dates. */
  readonly isFixed?: boolean
  /** What gives way where it is too wide; of a path the end says more. */
  readonly cut?: "end" | "front"
}

const GAP = "  "
const WIDTH_MIN = 6

export interface TableLayout {
  readonly columns: number
  /** Applied to the titles; leave titles empty for a table without a head. */
  readonly head: (text: string) => string
}

export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  layout: TableLayout,
): string {
  const line = lineOf(columns, rows, layout.columns)
  const hasHead = columns.some((column) => column.title !== "")
  const head = hasHead ? [layout.head(line(columns.map((column) => column.title)))] : []
  return [...head, ...rows.map(line)].map((text) => `${text}\n`).join("")
}

/** How a row is written so that its cells stand under those of all `rows`, in at most `total` columns. */
export function lineOf(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  total: number,
): (cells: readonly string[]) => string {
  const natural = columns.map((column, index) =>
    rows.reduce((most, row) => Math.max(most, Bun.stringWidth(row[index] ?? "")), Bun.stringWidth(column.title)),
  )
  const widths = widthsWithin(columns, natural, total)
  return (cells) =>
    columns
      .map((column, index) => pad(cells[index] ?? "", widths[index] ?? 0, column))
      .join(GAP)
      .trimEnd()
}

function widthsWithin(columns: readonly Column[], natural: readonly number[], total: number): number[] {
  const widths = [...natural]
  let excess = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (columns.length - 1) - total
  for (const mayCut of [(column: Column) => column.isFixed !== true, () => true]) {
    while (excess > 0) {
      const open = widths
        .map((width, index) => ({ width, index }))
        .filter(({ width, index }) => {
          const column = columns[index]
          return width > WIDTH_MIN && column !== undefined && mayCut(column)
        })
      const widest = open.sort((left, right) => right.width - left.width)[0]
      if (widest === undefined) break
      const step = Math.min(excess, Math.max(1, widest.width - Math.max(WIDTH_MIN, open[1]?.width ?? WIDTH_MIN)))
      widths[widest.index] = widest.width - step
      excess -= step
    }
  }
  return widths
}

function pad(text: string, width: number, { align, cut }: Column): string {
  const fitted = cut === "front" ? cutFrontToWidth(text, width) : cutToWidth(text, width)
  const space = " ".repeat(Math.max(0, width - Bun.stringWidth(fitted)))
  return align === "right" ? `${space}${fitted}` : `${fitted}${space}`
}

/** Opened where something is cut: it loads tables of characters. */
const graphemes = lazy(() => new Intl.Segmenter("en", { granularity: "grapheme" }))

/** At most so many columns, with `…` where something was cut; never in the middle of a character. */
export function cutToWidth(text: string, width: number): string {
  return Bun.stringWidth(text) <= width ? text : `${takeWithin(graphemes().segment(text), width).join("")}…`
}

/** The same, with the end of the text: of a path it says more. */
export function cutFrontToWidth(text: string, width: number): string {
  if (Bun.stringWidth(text) <= width) return text
  return `…${takeWithin([...graphemes().segment(text)].reverse(), width)
    .reverse()
    .join("")}`
}

/** As many as leave room for the sign that something is missing. */
function takeWithin(segments: Iterable<Intl.SegmentData>, width: number): string[] {
  const taken: string[] = []
  let used = 1
  for (const { segment } of segments) {
    used += Bun.stringWidth(segment)
    if (used > width) break
    taken.push(segment)
  }
  return taken
}

/** Prose, each line broken between words where it is too long, and what goes on set in under its beginning. */
export function wrapProse(text: string, width: number, indent = "  "): string {
  const lines = text.split("\n").map((line) => {
    if (Bun.stringWidth(line) <= width) return line
    const lead = /^ */.exec(line)?.[0] ?? ""
    const [first = ""] = wrapToWidth(line.slice(lead.length), width - lead.length)
    const rest = line.slice(lead.length + first.length + 1)
    return [`${lead}${first}`, ...(rest === "" ? [] : wrapToWidth(rest, Math.max(20, width - indent.length)))].join(
      `\n${indent}`,
    )
  })
  return lines.join("\n")
}

/** Lines of at most so many columns, broken between words; a word that is longer stays whole. */
export function wrapToWidth(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ""
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`
    if (line !== "" && Bun.stringWidth(longer) > width) {
      lines.push(line)
      line = word
    } else {
      line = longer
    }
  }
  return [...lines, line]
}
