/** The first step of every parser of JSON Lines: a record as the value that it says, or kept as it lies. */
import { type JsonValue, parseJson } from "../../model/json.ts"
import type { RawRecord } from "../adapter.ts"
import type { SessionWriter } from "../session-writer.ts"

/** Nothing where the record holds no JSON: the writer has kept it then, and said so. */
export function readJson(raw: RawRecord, writer: SessionWriter): JsonValue | undefined {
  if (raw.form === "row") return raw.row
  if (raw.form === "bytes") {
    writer.unreadable(raw, "not_utf8", `${raw.bytes.length} bytes that are not UTF-8`)
    return undefined
  }
  const parsed = parseJson(raw.text)
  if (parsed.ok) return parsed.value
  const isBlank = raw.text.trim() === ""
  writer.unreadable(raw, isBlank ? "blank_line" : "unparsable_line", isBlank ? "a blank line" : reasonOf(parsed.reason))
  return undefined
}

/** What the engine says of bad JSON quotes the text, and a transcript does not belong into a report. */
function reasonOf(reason: string): string {
  return reason.startsWith("nested") ? reason : "a line that is not JSON"
}
