/** Tokens and cost of Goose: a row of its ledger for each response, read with the row of the session. */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import { costAt, ifAny, textAt, tokensAt, without } from "../shared/usage.ts"
import type { UsageReading } from "../usage-reading.ts"
import { LEDGER } from "./records.ts"

export const usage: UsageReading = {
  marks: [`"${LEDGER}"`],
  read: ({ record, sessionId }) => {
    const rows = isJsonObject(record) ? record[LEDGER] : undefined
    if (!Array.isArray(rows)) return []
    return rows.flatMap((row: JsonValue, index) => {
      const [cacheRead, cacheWrite] = [tokensAt(row, "cache_read_tokens"), tokensAt(row, "cache_write_tokens")]
      return ifAny({
        // Their numbers may become others: their order is what stays.
        key: [sessionId, index, isJsonObject(row) ? row["created_timestamp"] : ""].join(" "),
        model: textAt(row, "model"),
        input: without(tokensAt(row, "input_tokens"), cacheRead, cacheWrite),
        output: tokensAt(row, "output_tokens"),
        reasoning: 0,
        cacheRead,
        cacheWrite5m: 0,
        cacheWrite1h: 0,
        cacheWrite,
        costUsd: costAt(row, "cost"),
      })
    })
  },
}
