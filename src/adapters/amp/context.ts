/**
 * The live conversation: the messages that the newest document names, in its order, from the newest summary on. A result is
 * sent as the client says it to its model: each of its values between the tags of its name. Reads kept records, never the disk.
 */
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import type { Entry, Part, SessionLog } from "../../model/session.ts"
import { fill } from "../lift.ts"
import { entriesByRecord, sourceOf } from "../shared/native.ts"
import { messages } from "./documents.ts"

export function context(log: SessionLog): readonly Entry[] {
  const keyOf = messages.keys()
  const items = new Map<string, readonly Entry[]>()
  let header: JsonObject | undefined
  for (const { newest, entries } of entriesByRecord(log)) {
    const { record } = sourceOf(newest)
    if (record === undefined) continue
    if (isJsonObject(record) && messages.named(record) !== undefined) header = record
    else items.set(keyOf(fill(record, entries)), entries)
  }
  const named = (header === undefined ? undefined : messages.named(header)) ?? []
  const all = named.flatMap(([, key]) => items.get(key) ?? []).filter(({ parts }) => parts.length > 0)
  const from = all.findLastIndex(({ parts }) => parts.some(isSummary))
  return all.slice(Math.max(0, from)).map(asSent)
}

function isSummary({ options }: Part): boolean {
  const pond = options["pond"]
  return isJsonObject(pond as JsonValue) && (pond as JsonObject)["injected"] === "compact-summary"
}

function asSent({ message, parts }: Entry): Entry {
  const sent = parts.map((part: Part): Part => {
    if (part.type !== "tool_result") return part
    const result = part.result as JsonValue
    if (part.is_failure && typeof result === "string") return { ...part, result: `<error>${result}</error>` }
    return isJsonObject(result) ? { ...part, result: taggedText(result) } : part
  })
  return { message, parts: sent } as Entry
}

function taggedText(result: JsonObject): string {
  const tagged = Object.entries(result).map(
    ([name, value]) => `<${name}>${typeof value === "string" ? value : stringifyJson(value)}</${name}>`,
  )
  return tagged.join("\n")
}
