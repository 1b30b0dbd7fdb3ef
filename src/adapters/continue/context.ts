/**
 * The live conversation: the items that the newest document names, in its order; from the newest summary on, where there is
 * one. A result that stands twice is sent once. Reads kept records, never the disk.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Entry, Part, SessionLog } from "../../model/session.ts"
import { fill } from "../lift.ts"
import { entriesByRecord, mainPlaceOf, sourceOf } from "../shared/native.ts"
import { history } from "./documents.ts"

interface Item {
  readonly entries: readonly Entry[]
  readonly isSummary: boolean
}

export function context(log: SessionLog): readonly Entry[] {
  const { header, items } = readLog(log)
  const named = (header === undefined ? undefined : history.named(header)) ?? []
  const all = named.flatMap(([, key]) => items.get(key) ?? [])
  const from = all.findLastIndex((item) => item.isSummary)
  const sent = all
    .slice(Math.max(0, from))
    .flatMap(({ entries }, at) => (from >= 0 && at === 0 ? summarized(entries) : entries))
  return withoutRepeats(sent.filter(({ message, parts }) => message.role !== "system" && parts.length > 0))
}

function readLog(log: SessionLog): {
  readonly header: JsonObject | undefined
  readonly items: ReadonlyMap<string, Item>
} {
  const main = mainPlaceOf(log)
  const keyOf = history.keys()
  const items = new Map<string, Item>()
  let header: JsonObject | undefined
  for (const { newest, entries } of entriesByRecord(log)) {
    const { record, file = main } = sourceOf(newest)
    if (record === undefined || file !== main) continue
    if (isJsonObject(record) && history.named(record) !== undefined) header = record
    else {
      const item = fill(record, entries)
      items.set(keyOf(item), { entries: entries.map(asSent), isSummary: isSummary(item) })
    }
  }
  return { header, items }
}

function isSummary(item: JsonValue): boolean {
  return isJsonObject(item) && typeof item["conversationSummary"] === "string" && item["conversationSummary"] !== ""
}

/** Of an item that is summed up in editors its summary alone is sent; the command line has it for an answer. */
function summarized(entries: readonly Entry[]): readonly Entry[] {
  const summary = entries.at(-1)
  const isApart = summary?.parts.some(
    ({ options }) => (options["pond"] as JsonObject | undefined)?.["injected"] === "compact-summary",
  )
  return isApart === true && summary !== undefined ? [summary] : entries
}

/** What a tool gave in several pieces is sent as their texts. */
function asSent({ message, parts }: Entry): Entry {
  const sent = parts.map((part: Part): Part => {
    const result = part.type === "tool_result" ? (part.result as JsonValue) : undefined
    if (part.type !== "tool_result" || !Array.isArray(result)) return part
    return { ...part, result: result.map((block: JsonValue) => ({ type: "text", text: outputText(block) })) }
  })
  return { message, parts: sent } as Entry
}

function outputText(block: JsonValue): string {
  const content = isJsonObject(block) ? block["content"] : undefined
  return typeof content === "string" ? content : ""
}

function withoutRepeats(entries: readonly Entry[]): readonly Entry[] {
  const answered = new Set<string>()
  return entries.flatMap(({ message, parts }): Entry[] => {
    const own = parts.filter((part: Part) => {
      if (part.type !== "tool_result") return true
      const isFirst = !answered.has(part.call_id)
      answered.add(part.call_id)
      return isFirst
    })
    return own.length === 0 ? [] : [{ message, parts: own } as Entry]
  })
}
