/** What a query answered, row by row, as values of JSON, and as text in each of the formats. */
import type { DuckDBResult, DuckDBType, DuckDBValue, Json } from "@duckdb/node-api"
import type { Sandbox } from "./sandbox.ts"

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

export function answerOf(sandbox: Sandbox, result: DuckDBResult): Answer {
  const names = result.deduplicatedColumnNames()
  const types = result.columnTypes()
  const read = cellReader(sandbox)
  return {
    columns: names.map((name, index) => ({ name, type: String(types[index]).toLowerCase() })),
    rows: async function* () {
      for (;;) {
        const chunk = await sandbox.bounded(() => result.fetchChunk())
        if (chunk === null || chunk.rowCount === 0) return
        yield* chunk.convertRows(read) as Row[]
      }
    },
  }
}

type ReadCell = (value: DuckDBValue, type: DuckDBType) => Json

/** Whole numbers stay numbers where a double holds them, and moments are ISO. What JSON cannot say is text. */
function cellReader({ duck }: Sandbox): ReadCell {
  const { DuckDBTypeId: Id, JsonDuckDBValueConverter } = duck
  const nested = (value: DuckDBValue, type: DuckDBType): Json => {
    if (value === null) return null
    switch (type.typeId) {
      case Id.BIGINT:
      case Id.UBIGINT:
      case Id.HUGEINT:
      case Id.UHUGEINT:
        return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
      case Id.DECIMAL: {
        const text = String(value)
        return String(Number(text)) === text.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "") ? Number(text) : text
      }
      case Id.TIMESTAMP_TZ:
        return isoMoment((value as { readonly micros: bigint }).micros)
      default:
        return JsonDuckDBValueConverter(value, type, nested)
    }
  }
  return nested
}

/** With the microseconds, where there are any: a moment goes back into a query as it came. */
function isoMoment(micros: bigint): Json {
  const milliseconds = Number(micros / 1000n)
  const rest = Number(((micros % 1000n) + 1000n) % 1000n)
  const floored = micros < 0n && rest > 0 ? milliseconds - 1 : milliseconds
  if (!(Math.abs(floored) <= 8.64e15)) return String(micros)
  const iso = new Date(floored).toISOString()
  return rest === 0 ? iso : iso.replace("Z", `${String(rest).padStart(3, "0")}Z`)
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
