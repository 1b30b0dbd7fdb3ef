/**
 * What `claude -p --output-format stream-json` prints, as a source: one message a line, or the list of the same messages that
 * its action leaves behind (`execution_file`). Its messages have the ids and times that the log of the session gives them.
 * The prompt is not printed, nor are attachments; agents speak between the lines of their session, by `parent_tool_use_id`.
 */
import { isJsonObject, parseJson, stringifyJson } from "../../model/json.ts"
import type { Adapter, RawRecord, Serialize } from "../adapter.ts"
import { createNativeSerializer, nativeRecords, wholeSession, writeRecord } from "../shared/native.ts"
import { pointedSource } from "../shared/pointed-files.ts"
import { opensNothing } from "../shared/read-only.ts"
import type { Brand } from "./brands.ts"
import { parserOf } from "./parse.ts"

export const streamSource = pointedSource({
  names: /(?:^|\/)(?:[\w-]{1,80}\.stream\.jsonl?|claude-execution-output\.json)$/,
  // The first message says which tools there are; what was started with hooks tells of those before.
  opening: /^\s*\[?\s*\{[^\n]*?"session_id"\s*:\s*"[0-9a-f-]{36}"/,
  formOf: (opening) => (opening.trimStart().startsWith("[") ? "document" : "log"),
  endingOf: (form) => (form === "document" ? ".stream.json" : ".stream.jsonl"),
})

export function streamParserOf(brand: Brand): Adapter["parse"] {
  const parse = parserOf(brand)
  return (unit, sink, resume) => {
    const parser = parse(unit, sink, resume)
    return {
      push: (raw) => {
        for (const each of printedMessages(raw)) parser.push(each)
      },
      end: (isSettled) => parser.end(isSettled),
    }
  }
}

/** Each message of a list is a record. */
function printedMessages(raw: RawRecord): readonly RawRecord[] {
  const parsed = raw.form === "document" ? parseJson(raw.text) : undefined
  if (raw.form !== "document" || parsed?.ok !== true || !Array.isArray(parsed.value)) return [raw]
  return parsed.value.map((each, index) => ({ ...raw, line: index + 1, text: stringifyJson(each) }))
}

export function streamSerializerOf({ title }: Brand): Serialize {
  return {
    native: (session, sink) => {
      const source = session.options["source"]
      const isList = isJsonObject(source) && String(source["file"]).endsWith(".json")
      if (!isList) return createNativeSerializer(session, sink)
      return wholeSession(session, (log) => {
        const records = [...nativeRecords(log)]
        const messages = records.flatMap(({ content }) => ("json" in content ? [content.json] : []))
        const [first] = records
        if (first !== undefined && messages.length === records.length)
          writeRecord({ ...first, content: { json: messages } }, sink)
        else for (const record of records) writeRecord(record, sink)
        return { sessionId: session.id }
      })
    },
    resume: opensNothing(title),
  }
}
