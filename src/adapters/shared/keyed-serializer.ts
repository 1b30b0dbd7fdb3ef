/** The native serializer of clients that keep a session as one document whose messages are known by what they say (`keyed-list.ts`). */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Session } from "../../model/session.ts"
import type { FileSink, NativeSerializer } from "../adapter.ts"
import type { KeyedList } from "./keyed-list.ts"
import { type NativeRecord, nativeRecords, wholeSession, writeRecord } from "./native.ts"

/** A document with the items of its list, or one that has none. */
interface Written {
  readonly record: NativeRecord
  readonly header: JsonObject | undefined
}

/** The text of a document whose file is no JSON. */
type TextOf = (document: JsonObject) => string

export function keyedSerializer(session: Session, sink: FileSink, list: KeyedList, textOf?: TextOf): NativeSerializer {
  const headerIn = (record: JsonValue) =>
    isJsonObject(record) && list.named(record) !== undefined ? record : undefined
  const form = textOf === undefined ? "document" : "text"
  return wholeSession(session, (log) => {
    const documents = new Map<string, Written>()
    const items = new Map<string, JsonValue>()
    const keyOf = list.keys()
    for (const record of nativeRecords(log)) {
      const { content, relativePath } = record
      if (record.form !== form || !("json" in content)) writeRecord(record, sink)
      else {
        const header = headerIn(content.json)
        const isItem = header === undefined && documents.get(relativePath)?.header !== undefined
        if (isItem) items.set(keyOf(content.json), content.json)
        else documents.set(relativePath, { record, header })
      }
    }
    for (const written of documents.values()) writeRecord(wholeRecord(written, items, list, textOf), sink)
    return { sessionId: session.id }
  })
}

function wholeRecord(
  { record, header }: Written,
  items: ReadonlyMap<string, JsonValue>,
  list: KeyedList,
  textOf: TextOf | undefined,
): NativeRecord {
  if (header === undefined) return record
  const json = list.join(header, items)
  const isText = textOf !== undefined && isJsonObject(json)
  return { ...record, content: isText ? { text: textOf(json) } : { json } }
}
