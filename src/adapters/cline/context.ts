/**
 * The live conversation: what the client would send to its model now. Of a session the newest transcript, or what its
 * compaction keeps and what was said since; of a task the newest history, without what was cut out or summed up. Reads
 * kept records, never the disk.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Entry, Part, SessionLog } from "../../model/session.ts"
import { fill } from "../lift.ts"
import { entriesByRecord, mainPlaceOf, sourceOf } from "../shared/native.ts"
import { hashedKey, type Named, namedIn } from "./keyed-list.ts"

interface Read {
  /** The newest state of each list, by its file. */
  readonly lists: ReadonlyMap<string, JsonObject>
  readonly entries: ReadonlyMap<string, readonly Entry[]>
  readonly items: ReadonlyMap<string, JsonObject>
}

export function context(log: SessionLog): readonly Entry[] {
  const read = readLog(log)
  const find = (ending: RegExp) => [...read.lists].findLast(([path]) => ending.test(path))?.[1]
  const transcript = find(/\.messages\.json$/)
  const history = find(/(?:api_conversation_history|claude_messages)\.json$/)
  const shown = find(/ui_messages\.json$/)
  const named =
    transcript === undefined
      ? taskMessages(read, history, shown)
      : sessionMessages(transcript, find(/\.compaction\.json$/))
  return named.flatMap(([, key]) => read.entries.get(key) ?? []).map(withPictures)
}

/** Pictures of results as every client's pictures are read. */
function withPictures({ message, parts }: Entry): Entry {
  const filled = parts.map((part: Part): Part => {
    const result = part.type === "tool_result" ? (part.result as JsonValue) : undefined
    if (part.type !== "tool_result" || !Array.isArray(result)) return part
    return { ...part, result: result.map(asPicture) }
  })
  return { message, parts: filled } as Entry
}

function asPicture(block: JsonValue): JsonValue {
  if (!isJsonObject(block) || block["type"] !== "image") return block
  const { data, mediaType } = block
  return typeof data === "string" && typeof mediaType === "string"
    ? { type: "image", data, mimeType: mediaType }
    : block
}

function readLog(log: SessionLog): Read {
  const main = mainPlaceOf(log)
  const [lists, entries, items] = [
    new Map<string, JsonObject>(),
    new Map<string, Entry[]>(),
    new Map<string, JsonObject>(),
  ]
  for (const { newest, entries: own } of entriesByRecord(log)) {
    const { record, file = main } = sourceOf(newest)
    if (record === undefined) continue
    if (isJsonObject(record) && namedIn(record) !== undefined) lists.set(String(file), record)
    else {
      const item = fill(record, own)
      const key = hashedKey(item)
      entries.set(key, [...own])
      if (isJsonObject(item)) items.set(key, item)
    }
  }
  return { lists, entries, items }
}

/** A compaction counts the messages that it stands for; where it does not, the last that it keeps says how far it goes. */
function sessionMessages(transcript: JsonObject, compaction: JsonObject | undefined): readonly Named[] {
  const all = namedIn(transcript) ?? []
  const kept = compaction === undefined ? [] : (namedIn(compaction) ?? [])
  if (kept.length === 0) return all
  const count = compaction?.["source_message_count"]
  const keys = new Set(kept.map(([, key]) => key))
  const from = typeof count === "number" ? count : all.findLastIndex(([, key]) => keys.has(key)) + 1
  return [...kept, ...all.slice(from)]
}

function taskMessages(read: Read, history: JsonObject | undefined, shown: JsonObject | undefined): readonly Named[] {
  const all = history === undefined ? [] : (namedIn(history) ?? [])
  if (all.length === 0) return shown === undefined ? [] : (namedIn(shown) ?? [])
  const summed = all.findLastIndex(([, key]) => read.items.get(key)?.["isSummary"] === true)
  if (summed >= 0) return all.slice(summed)
  const markers = new Set(all.map(([, key]) => read.items.get(key)?.["truncationId"]).filter((id) => id !== undefined))
  const here = all.filter(([marks]) => !isJsonObject(marks) || !markers.has(marks["truncationParent"] ?? null))
  const [first, last] = deletedRange(read, shown)
  return first === undefined || last === undefined ? here : [...here.slice(0, first), ...here.slice(last + 1)]
}

/** What was cut out of a task that became too long: from and to, as the last thing that was shown says. */
function deletedRange(read: Read, shown: JsonObject | undefined): readonly (number | undefined)[] {
  const ranges = (shown === undefined ? [] : (namedIn(shown) ?? [])).map(
    ([, key]): JsonValue => read.items.get(key)?.["conversationHistoryDeletedRange"] ?? null,
  )
  const range = ranges.findLast((each) => Array.isArray(each))
  return Array.isArray(range) ? range.map((each: JsonValue) => (typeof each === "number" ? each : undefined)) : []
}
