/**
 * The live conversation: the requests that the newest document names, without those that were undone, from the newest summary
 * on. Reads kept records, never the disk.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Entry, SessionLog } from "../../model/session.ts"
import { entriesByRecord, sourceOf } from "../shared/native.ts"
import { chatIn, shape, textIn } from "./documents.ts"

export function context(log: SessionLog): readonly Entry[] {
  const requests = new Map<string, readonly Entry[]>()
  let named: readonly JsonValue[] = []
  for (const { newest, entries } of entriesByRecord(log)) {
    const { record } = sourceOf(newest)
    const chat = chatIn(record ?? null)
    const list = isJsonObject(chat) ? chat[shape.key] : undefined
    if (Array.isArray(list)) named = list as readonly JsonValue[]
    else if (isJsonObject(record)) {
      const id = textIn(record, "requestId") ?? entries[0].message.id
      requests.set(id, isUndone(record) ? [] : entries)
    }
  }
  const order = named.length === 0 ? [...requests.keys()] : named.map(String)
  const all = order
    .flatMap((id) => requests.get(id) ?? [])
    .filter(({ message, parts }) => message.role !== "system" && parts.length > 0)
  return all.slice(Math.max(0, all.findLastIndex(isSummary)))
}

function isUndone(request: JsonObject): boolean {
  return isJsonObject(request["shouldBeRemovedOnSend"]) || request["isHidden"] === true
}

function isSummary({ parts }: Entry): boolean {
  return parts.some(({ options }) => (options["pond"] as JsonObject | undefined)?.["injected"] === "compact-summary")
}
