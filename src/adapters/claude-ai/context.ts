/**
 * The live conversation: the messages that the newest document names, in its order. Some exports say which message each one
 * answers: then the branch of the last one is alive, and no other. Reads kept records, never the disk.
 */
import { isJsonObject } from "../../model/json.ts"
import type { Entry, SessionLog } from "../../model/session.ts"
import { entriesByRecord, sourceOf } from "../shared/native.ts"
import { shape, textIn } from "./documents.ts"

interface Item {
  readonly entries: readonly Entry[]
  readonly parent: string | undefined
}

export function context(log: SessionLog): readonly Entry[] {
  const items = new Map<string, Item>()
  let named: readonly string[] | undefined
  for (const { newest, entries } of entriesByRecord(log)) {
    const { record } = sourceOf(newest)
    if (!isJsonObject(record)) continue
    const ids = record[shape.key]
    if (Array.isArray(ids)) named = ids.flatMap((id) => (typeof id === "string" ? [id] : []))
    else
      items.set(textIn(record, "uuid") ?? entries[0].message.id, {
        entries,
        parent: textIn(record, "parent_message_uuid"),
      })
  }
  const order = (named ?? [...items.keys()]).filter((id) => items.has(id))
  return live(order, items)
    .flatMap((id) => items.get(id)?.entries ?? [])
    .filter(({ message, parts }) => message.role !== "system" && parts.length > 0)
}

function live(order: readonly string[], items: ReadonlyMap<string, Item>): readonly string[] {
  if (!order.some((id) => items.get(id)?.parent !== undefined)) return order
  const path = new Set<string>()
  for (let id = order.at(-1); id !== undefined && items.has(id) && !path.has(id); id = items.get(id)?.parent)
    path.add(id)
  return [...path].toReversed()
}
