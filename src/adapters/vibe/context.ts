/**
 * What Vibe would send now: the chunks that the newest generation names, in its order; of a log or a document all messages, from
 * the newest summary on. Reads kept records, never the disk.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Entry, SessionLog } from "../../model/session.ts"
import { fill } from "../lift.ts"
import { entriesByRecord, mainPlaceOf, sourceOf } from "../shared/native.ts"
import { CURRENT, chunksNamed, isManifest, isOldDocument, messages } from "./records.ts"

export function context(log: SessionLog): readonly Entry[] {
  const place = mainPlaceOf(log)
  const isStored = place.endsWith(CURRENT)
  const sent = isStored || isOldDocument(place) ? listedEntries(log, isStored) : logEntries(log)
  return sent.filter(({ message, parts }) => message.role !== "system" && parts.length > 0)
}

/** A log of 2.x marks its summaries. */
function logEntries(log: SessionLog): readonly Entry[] {
  const records = [...entriesByRecord(log)].map(({ newest, entries }) => ({
    entries,
    isSummary: isSummary(sourceOf(newest)["record"]),
  }))
  const from = records.findLastIndex((record) => record.isSummary)
  return records.slice(Math.max(0, from)).flatMap(({ entries }) => entries)
}

function isSummary(record: JsonValue | undefined): boolean {
  return isJsonObject(record) && record["context_boundary"] === "compaction"
}

function listedEntries(log: SessionLog, isStored: boolean): readonly Entry[] {
  const keyOf = messages.keys()
  const items = new Map<string, readonly Entry[]>()
  const lists = new Map<string, JsonObject>()
  let manifest: JsonValue | undefined
  for (const { newest, entries } of entriesByRecord(log)) {
    const { record, file = "", form } = sourceOf(newest)
    if (record === undefined || form !== "document") continue
    if (isJsonObject(record) && messages.named(record) !== undefined) lists.set(String(file), record)
    else if (isManifest(record)) manifest = record
    else items.set(keyOf(fill(record, entries)), entries)
  }
  const hashes = isStored ? chunksNamed(manifest, "checkpoint") : []
  const inOrder = isStored ? hashes.flatMap((hash) => listIn(lists, hash) ?? []) : [...lists.values()]
  return inOrder.flatMap((list) => (messages.named(list) ?? []).flatMap(([, key]) => items.get(key) ?? []))
}

function listIn(lists: ReadonlyMap<string, JsonObject>, hash: string): JsonObject | undefined {
  for (const [place, list] of lists) if (place.endsWith(`chunks/${hash}.json`)) return list
  return undefined
}
