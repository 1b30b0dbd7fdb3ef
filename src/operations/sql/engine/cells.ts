/** Values of the engine as values of JSON. */
import type { DuckDBType, DuckDBValue, Json } from "@duckdb/node-api"

export type ReadCell = (value: DuckDBValue, type: DuckDBType) => Json

/** Whole numbers stay numbers where a double holds them, and moments are ISO. What JSON cannot say is text. */
export function cellReader(duck: typeof import("@duckdb/node-api")): ReadCell {
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
