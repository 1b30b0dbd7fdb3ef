/**
 * For clients that keep a session as one JSON document and write it anew whenever something is said: `{…, messages: […]}`.
 * Each message is a separate record, so that what is new is told apart from what is stored; the document without them
 * is the first record, with the id of each where it stood. Restored, they are one document again, equal by value.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Session, SessionLog } from "../../model/session.ts"
import type { FileSink, NativeSerializer } from "../adapter.ts"
import { composed, fromSource, type SourceObject, type SourceValue } from "../source-value.ts"
import { type NativeRecord, nativeRecords, wholeSession, writeRecord } from "./native.ts"

/** How the messages of a document are found and told apart. */
export interface DocumentShape {
  /** The key of the list of messages, or of an object that has them under their ids. */
  readonly key: string
  /** The key of the object that has them, where it is not the document itself. One that has no such key is that object. */
  readonly within?: string
  /** The id of a message; undefined where it has none. */
  readonly idOf: (item: JsonValue) => string | undefined
}

export interface SplitDocument {
  /**
   * The document with the ids of its messages in their place. To be kept first, as a carrier under its own id (that of
   * the session): then the header of a document that grew is a revision of this one, and no second one.
   */
  readonly header: SourceObject
  readonly items: readonly SourceValue[]
}

/** Undefined where the document has no such list: it is no session of this client. */
export function splitDocument(document: SourceValue, shape: DocumentShape): SplitDocument | undefined {
  const { key, idOf, within } = shape
  const inner = within !== undefined && isJsonObject(document) ? document[within] : undefined
  if (within !== undefined && isJsonObject(document) && isJsonObject(inner)) {
    const split = splitDocument(inner, { key, idOf })
    return split && { header: composed({ ...document, [within]: split.header }), items: split.items }
  }
  const items = isJsonObject(document) ? document[key] : undefined
  if (!isJsonObject(document)) return undefined
  if (isJsonObject(items)) return splitMap(document, items, { key, idOf })
  if (!Array.isArray(items)) return undefined
  const ids = fromSource(items.map((item: SourceValue) => idOf(item) ?? null))
  return { header: composed({ ...document, [key]: ids }), items }
}

/** Null takes the place of each message. One that does not say the id under which it stands stays where it is. */
function splitMap(document: SourceObject, map: SourceObject, { key, idOf }: DocumentShape): SplitDocument {
  const isApart = ([id, item]: [string, SourceValue]) => idOf(item) === id
  const entries = Object.entries(map)
  const left = entries.map((entry): [string, SourceValue] => (isApart(entry) ? [entry[0], null] : entry))
  const items = entries.filter(isApart).map(([, item]) => item)
  return { header: composed({ ...document, [key]: composed(Object.fromEntries(left)) }), items }
}

/** The messages that the header names, in its order; those without an id in the order in which they came. */
export function joinDocument(
  header: JsonObject,
  items: readonly JsonValue[],
  { key, idOf, within }: DocumentShape,
): JsonObject {
  const inner = within === undefined ? undefined : header[within]
  if (within !== undefined && isJsonObject(inner))
    return { ...header, [within]: joinDocument(inner, items, { key, idOf }) }
  const byId = Map.groupBy(items, (item) => idOf(item) ?? null)
  const map = header[key]
  if (isJsonObject(map)) {
    const filled = Object.entries(map).map(([id, item]) => [id, item ?? byId.get(id)?.[0] ?? null])
    return { ...header, [key]: Object.fromEntries(filled) }
  }
  const taken = new Map<string | null, number>()
  const named = header[key]
  const ids = Array.isArray(named) ? (named as readonly JsonValue[]) : []
  const inOrder = ids.flatMap((each): JsonValue[] => {
    const id = typeof each === "string" ? each : null
    const at = taken.get(id) ?? 0
    taken.set(id, at + 1)
    const item = byId.get(id)?.[at]
    return item === undefined ? [] : [item]
  })
  return { ...header, [key]: inOrder }
}

/** The native serializer of such a client, whose documents may be of several shapes. Files that are no such document go back as they lay. */
export function createDocumentSerializer(
  session: Session,
  sink: FileSink,
  shape: DocumentShape | ((document: JsonValue) => DocumentShape),
): NativeSerializer {
  return wholeSession(session, (log) => {
    const documents = collectDocuments(log, sink)
    for (const { first, items } of documents.values()) {
      const header = "json" in first.content ? first.content.json : null
      const own = typeof shape === "function" ? shape(header) : shape
      writeRecord(
        isSplit(header, own) ? { ...first, content: { json: joinDocument(header, items, own) } } : first,
        sink,
      )
    }
    return { sessionId: session.id }
  })
}

interface WrittenDocument {
  readonly first: NativeRecord
  readonly items: JsonValue[]
}

/** Writes what is no document as it lay. */
function collectDocuments(log: SessionLog, sink: FileSink): ReadonlyMap<string, WrittenDocument> {
  const documents = new Map<string, WrittenDocument>()
  for (const record of nativeRecords(log)) {
    const { relativePath, form, content } = record
    const document = documents.get(relativePath)
    if (form !== "document" || !("json" in content)) writeRecord(record, sink)
    else if (document === undefined) documents.set(relativePath, { first: record, items: [] })
    else document.items.push(content.json)
  }
  return documents
}

function isSplit(header: JsonValue, { key, within }: DocumentShape): header is JsonObject {
  const apart = within !== undefined && isJsonObject(header) ? header[within] : undefined
  const inner = apart ?? header
  const items = isJsonObject(inner) ? inner[key] : undefined
  return Array.isArray(items) || isJsonObject(items)
}
