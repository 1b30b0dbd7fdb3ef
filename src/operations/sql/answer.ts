/** What a query answered, row by row, as values of JSON, and as text in each of the formats. */
import type { Json } from "@duckdb/node-api"

export type Cell = Json
export type Row = readonly Cell[]

export interface Column {
  readonly name: string
  readonly type: string
}

export interface Answer {
  readonly columns: readonly Column[]
  /** Can be read once; its reader may stop before the end. */
  readonly rows: () => AsyncGenerator<Row>
}

// --- Formats ---------------------------------------------------------------------------------------------------------

export function jsonLine(columns: readonly Column[], row: Row): string {
  return `${JSON.stringify(Object.fromEntries(columns.map(({ name }, index) => [name, row[index] ?? null])))}\n`
}

export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`
}

/** By RFC 4180. Nothing and the empty text are told apart, as most readers do it: nothing between the commas, and `""`. */
function csvCell(cell: Cell): string {
  if (cell === null) return ""
  const text = cellText(cell)
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export function cellText(cell: Cell): string {
  if (cell === null) return ""
  return typeof cell === "string" ? cell : JSON.stringify(cell)
}
