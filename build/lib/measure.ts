/**
 * What every bench is made of: a row that names what was measured and what it must reach, and the arithmetic of medians.
 * A row that compares with a rival gives the rival's figure of the same run: ratios travel between machines, times do not.
 */
export interface Row {
  readonly what: string
  readonly measured: number
  /** Says how the numbers read: `ms`, `MB`, `x`, `rows/s`. */
  readonly unit: string
  /** The figure to stay under, or to reach when `isFloor`. Without it the row only informs. */
  readonly limit?: number
  readonly isFloor?: boolean
  /** Where the figure should get to. One that is missed is said, and fails nothing: the limit is what is held today. */
  readonly goal?: number
  /** The same thing done by something else in the same run. */
  readonly beside?: string
}

export interface Bench {
  /** One line for the list of benches. */
  readonly summary: string
  run(args: readonly string[]): Promise<readonly Row[]>
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right)
  const place = Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))
  return sorted[place] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2
}

export function isReached({ measured, limit, isFloor }: Row): boolean {
  if (limit === undefined) return true
  return isFloor === true ? measured >= limit : measured < limit
}

export function printRows(rows: readonly Row[]): void {
  const cells = rows.map((row) => [row.what, figure(row.measured, row.unit), reach(row), row.beside ?? ""])
  const widths = [0, 1, 2].map((column) => Math.max(0, ...cells.map((cell) => cell[column]?.length ?? 0)))
  for (const cell of cells) {
    console.log(
      cell
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
  }
}

function reach(row: Row): string {
  const bound = (of: number) => `${row.isFloor === true ? "at least" : "under"} ${figure(of, row.unit)}`
  const held = row.limit === undefined ? "" : `${isReached(row) ? "ok  " : "MISS"} ${bound(row.limit)}`
  if (row.goal === undefined) return held
  const { goal: limit } = row
  return `${held} (goal ${isReached({ ...row, limit }) ? "reached" : "missed"}: ${bound(limit)})`.trim()
}

function figure(value: number, unit: string): string {
  const wholeDigits = Math.floor(Math.abs(value)).toString().length
  return `${value.toFixed(Math.max(0, 3 - wholeDigits))} ${unit}`
}
