/** The first step of every parser: a record as the JSON value that it says, or kept as it lies. */
import { parseJson } from "../../model/json.ts"
import { repeatedKey } from "../../model/repeated-keys.ts"
import type { RawRecord } from "../adapter.ts"
import type { SessionWriter } from "../session-writer.ts"
import { fromSource, type SourceValue } from "../source-value.ts"

/** Undefined where the record holds no JSON: the writer has kept it then, and reported it where it should have been JSON. */
export function readJson(raw: RawRecord, writer: SessionWriter): SourceValue | undefined {
  if (raw.form === "row") return raw.row
  if (raw.form === "text" || raw.file.form === "text" || raw.file.form === "bytes") {
    writer.whole(raw)
    return undefined
  }
  if (raw.form === "bytes") {
    writer.unreadable(raw, "not_utf8", `${raw.bytes.length} bytes that are not UTF-8`)
    return undefined
  }
  const parsed = parseJson(raw.text)
  if (parsed.ok) {
    const repeated = repeatedKey(raw.text, parsed.keys)
    if (repeated !== undefined) keepRepeated(raw, repeated, writer)
    return fromSource(parsed.value)
  }
  if (raw.text.trim() === "") writer.unreadable(raw, "blank_line", "a line without a record")
  else writer.unreadable(raw, "unparsable_line", reasonOf(parsed.reason))
  return undefined
}

/** An item of a document as a record. `text` is what its id is made of where it has none, with the hash where that is known. */
export function itemRecord({ file, line }: RawRecord, text: string, hash?: bigint): RawRecord {
  return hash === undefined ? { form: "document", file, line, text } : { form: "document", file, line, text, hash }
}

/** The last value counts, for the client as for pond. A line is kept as it is spelled, so that the others come back too. */
function keepRepeated(raw: Extract<RawRecord, { text: string }>, key: string, writer: SessionWriter): void {
  const found = `the key ${JSON.stringify(key.slice(0, SHOWN_UNITS))} twice in one object`
  const isKept = raw.form === "log"
  if (isKept) writer.keepSpelling(raw)
  writer.issue(raw, { kind: "repeated_key", severity: isKept ? "note" : "fault", found })
}

const SHOWN_UNITS = 80

/** What the engine says of bad JSON quotes the text, and a transcript does not belong into a report. */
function reasonOf(reason: string): string {
  return reason.startsWith("nested") ? reason : "a line that is not JSON"
}
