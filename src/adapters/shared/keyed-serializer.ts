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

export function keyedSerializer(session: Session, sink: FileSink, list: KeyedList): NativeSerializer {
  const headerIn = (record: JsonValue) =>
    isJsonObject(record) && list.named(record) !== undefined ? record : undefined
  return wholeSession(session, (log) => {
    const documents = new Map<string, Written>()
    const items = new Map<string, JsonValue>()
    const keyOf = list.keys()
    for (const record of nativeRecords(log)) {
      const { content, relativePath } = record
      if (record.form !== "document" || !("json" in content)) writeRecord(record, sink)
      else {
        const header = headerIn(content.json)
        const isItem = header === undefined && documents.get(relativePath)?.header !== undefined
        if (isItem) items.set(keyOf(content.json), content.json)
        else documents.set(relativePath, { record, header })
      }
    }
    for (const { record, header } of documents.values()) {
      const json = header === undefined ? undefined : list.join(header, items)
      writeRecord(json === undefined ? record : { ...record, content: { json } }, sink)
    }
    return { sessionId: session.id }
  })
}
