/**
 * Documents with a list of messages that are written anew as a whole. Each message is a separate record, known by a hash of
 * what it says without its marks, which change although it says the same. The document without its messages is the first
 * record; of each message it has the marks and the hash, in their order.
 */
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import { composed, type SourceValue } from "../source-value.ts"

export interface KeyedShape {
  /** The key of the list of messages. A document may also be that list itself. */
  readonly key: string
  /** Fields that change although a message says the same. */
  readonly marks?: readonly string[]
  /** A message that says the same as an earlier one is another message. Otherwise it is that one again. */
  readonly areRepeatsKept?: true
}

export interface KeyedDocument {
  readonly header: JsonObject
  readonly items: readonly KeyedItem[]
}

export interface KeyedItem {
  readonly key: string
  /** Without its marks. */
  readonly item: SourceValue
  /** The item as text, and the hash of it, which the key is made of. */
  readonly text: string
  readonly hash: bigint
}

export type Named = readonly [marks: JsonValue, key: string]

export interface KeyedList {
  /** Returns undefined if the document has no list under this key. */
  split(document: SourceValue): KeyedDocument | undefined
  /** The messages of a record that is such a document. */
  named(header: JsonValue): readonly Named[] | undefined
  join(header: JsonObject, items: ReadonlyMap<string, JsonValue>): JsonValue
  /** Gives the messages of a session their keys, in the order in which they are stored. */
  keys(): (item: JsonValue) => string
}

/** In a document that is the list itself, under which key it is kept. */
const BARE = "pond:list"

export function keyedList({ key: list, marks: changing = [], areRepeatsKept }: KeyedShape): KeyedList {
  const changes = new Set(changing)
  const keysOf = (): ((hash: bigint) => string) => {
    const met = new Map<string, number>()
    return (hash) => {
      const key = hash.toString(36)
      const count = (met.get(key) ?? 0) + 1
      met.set(key, count)
      return count === 1 || areRepeatsKept !== true ? key : `${key}.${count}`
    }
  }

  function withoutMarks(message: SourceValue): { readonly marks: JsonValue; readonly item: SourceValue } {
    if (!isJsonObject(message)) return { marks: null, item: message }
    const fields = Object.entries(message)
    const marks = fields.filter(([name]) => changes.has(name))
    if (marks.length === 0) return { marks: null, item: message }
    return {
      marks: Object.fromEntries(marks),
      item: composed(Object.fromEntries(fields.filter(([name]) => !changes.has(name)))),
    }
  }

  function named(header: JsonValue): readonly Named[] | undefined {
    const names = isJsonObject(header) ? (header[BARE] ?? header[list]) : undefined
    if (!Array.isArray(names)) return undefined
    const found = names.flatMap((each: JsonValue): Named[] => {
      const [marks = null, key] = Array.isArray(each) ? (each as readonly JsonValue[]) : []
      return typeof key === "string" ? [[marks, key]] : []
    })
    return found.length === names.length ? found : undefined
  }

  return {
    split(document) {
      const messages = isJsonObject(document) ? document[list] : document
      if (!Array.isArray(messages)) return undefined
      const items: KeyedItem[] = []
      const keyOf = keysOf()
      const names = messages.map((message: SourceValue): JsonValue => {
        const { marks, item } = withoutMarks(message)
        const text = stringifyJson(item)
        const hash = Bun.hash.xxHash64(text)
        const key = keyOf(hash)
        items.push({ key, item, text, hash })
        return [marks, key]
      })
      return { header: isJsonObject(document) ? { ...document, [list]: names } : { [BARE]: names }, items }
    },
    named,
    join(header, items) {
      const messages = (named(header) ?? []).flatMap(([marks, key]): JsonValue[] => {
        const item = items.get(key)
        if (item === undefined) return []
        return [isJsonObject(item) && isJsonObject(marks) ? { ...marks, ...item } : item]
      })
      return BARE in header ? messages : { ...header, [list]: messages }
    },
    keys() {
      const keyOf = keysOf()
      return (item) => keyOf(Bun.hash.xxHash64(stringifyJson(item)))
    },
  }
}
