/**
 * Documents with a list of messages that are written anew as a whole. Each message is a record of its own, known by a hash of
 * what it says without its marks: Cline gives messages new ids when a session goes on, and Roo Code marks old ones when it
 * sums them up, and neither makes a new message. The document without its messages is the first record; of each message it
 * has the marks and the hash, in their order.
 */
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import { composed, type SourceValue } from "../source-value.ts"

/** In a document that is the list itself, under which key it is kept. */
const BARE = "pond:list"
const KEY = "messages"

export interface KeyedDocument {
  readonly header: JsonObject
  readonly items: readonly KeyedItem[]
}

export interface KeyedItem {
  readonly key: string
  /** Without its marks. */
  readonly item: SourceValue
  /** The item as text, which the key is the hash of. */
  readonly text: string
}

/** Fields that change although a message says the same. */
const MARKS: ReadonlySet<string> = new Set(["id", "condenseParent", "truncationParent"])

/** Returns undefined if the document has no list under this key. */
export function splitKeyed(document: SourceValue): KeyedDocument | undefined {
  const list = isJsonObject(document) ? document[KEY] : document
  if (!Array.isArray(list)) return undefined
  const items: KeyedItem[] = []
  const named = list.map((message: SourceValue): JsonValue => {
    const { marks, item } = withoutMarks(message)
    const text = stringifyJson(item)
    const key = keyOfText(text)
    items.push({ key, item, text })
    return [marks, key]
  })
  return { header: isJsonObject(document) ? { ...document, [KEY]: named } : { [BARE]: named }, items }
}

export type Named = readonly [marks: JsonValue, key: string]

/** The messages of a record that is such a document. */
export function namedIn(header: JsonValue): readonly Named[] | undefined {
  const list = isJsonObject(header) ? (header[BARE] ?? header[KEY]) : undefined
  if (!Array.isArray(list)) return undefined
  const named = list.flatMap((each: JsonValue): Named[] => {
    const [marks = null, key] = Array.isArray(each) ? (each as readonly JsonValue[]) : []
    return typeof key === "string" ? [[marks, key]] : []
  })
  return named.length === list.length ? named : undefined
}

export function joinKeyed(header: JsonObject, items: ReadonlyMap<string, JsonValue>): JsonValue {
  const messages = (namedIn(header) ?? []).flatMap(([marks, key]): JsonValue[] => {
    const item = items.get(key)
    if (item === undefined) return []
    return [isJsonObject(item) && isJsonObject(marks) ? { ...marks, ...item } : item]
  })
  return BARE in header ? messages : { ...header, [KEY]: messages }
}

export function hashedKey(item: JsonValue): string {
  return keyOfText(stringifyJson(item))
}

function keyOfText(text: string): string {
  return Bun.hash.xxHash64(text).toString(36)
}

function withoutMarks(message: SourceValue): { readonly marks: JsonValue; readonly item: SourceValue } {
  if (!isJsonObject(message)) return { marks: null, item: message }
  const fields = Object.entries(message)
  const marks = fields.filter(([name]) => MARKS.has(name))
  if (marks.length === 0) return { marks: null, item: message }
  return {
    marks: Object.fromEntries(marks),
    item: composed(Object.fromEntries(fields.filter(([name]) => !MARKS.has(name)))),
  }
}
