/**
 * What a client sent to its model against what `context` says that it would send: the same messages and calls in the same
 * order, each call with the same result. Reasoning is left out (clients send it or not as the provider of the day allows),
 * and text of a harness may stand beside what a person wrote.
 */
import type { Conversation } from "../../src/adapters/adapter.ts"
import { resultText } from "../../src/adapters/shared/translate.ts"
import type { JsonValue } from "../../src/model/json.ts"
import type { Entry } from "../../src/model/session.ts"
import type { WireItem } from "./fixtures.ts"

/** The differences, in words. Nothing where the two are the same conversation. */
export function wireDifferences({ entries }: Conversation, wire: readonly WireItem[]): string[] {
  const said = entries.flatMap(saidIn)
  const differences: string[] = []
  let at = 0
  for (const item of wire.filter(({ role }) => role !== "result")) {
    const found = said.findIndex((one, index) => index >= at && isSame(one, item))
    if (found < 0) {
      differences.push(`not said: ${item.role} ${(item.text ?? item.id ?? "").slice(0, 60)}`)
      continue
    }
    for (const extra of said.slice(at, found))
      if (extra.role !== "user") differences.push(`not sent: ${extra.role} ${extra.text.slice(0, 60)}`)
    at = found + 1
  }
  for (const extra of said.slice(at)) differences.push(`not sent: ${extra.role} ${extra.text.slice(0, 60)}`)
  return [...differences, ...resultDifferences(entries, wire)]
}

interface Said {
  readonly role: "user" | "assistant" | "call"
  readonly text: string
  readonly images: number
}

function saidIn({ message, parts }: Entry): Said[] {
  if (message.role === "user") {
    const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []))
    return [{ role: "user", text: texts.join("\n"), images: parts.filter(({ type }) => type === "file").length }]
  }
  return parts.flatMap((part): Said[] => {
    if (part.type === "text") return [{ role: "assistant", text: part.text, images: 0 }]
    return part.type === "tool_call" ? [{ role: "call", text: part.call_id, images: 0 }] : []
  })
}

function isSame(said: Said, { role, text = "", id = "", images = 0 }: WireItem): boolean {
  if (said.role !== role) return false
  if (role === "call") return idOf(said.text) === idOf(id)
  const [ours, theirs] = [plain(said.text), plain(text)]
  return (
    said.images >= images &&
    (ours === theirs || (theirs !== "" && ours.includes(theirs)) || (ours !== "" && theirs.includes(ours)))
  )
}

function resultDifferences(entries: readonly Entry[], wire: readonly WireItem[]): string[] {
  const results = new Map<string, { text: string; isFailure: boolean }>()
  for (const { parts } of entries)
    for (const part of parts)
      if (part.type === "tool_result")
        results.set(idOf(part.call_id), { text: resultText(part.result as JsonValue), isFailure: part.is_failure })
  return wire.flatMap(({ role, id = "", text = "" }) => {
    if (role !== "result") return []
    const found = results.get(idOf(id))
    if (found === undefined) return [`no result: ${id}`]
    return plain(found.text).includes(plain(text)) || plain(text).includes(plain(found.text))
      ? []
      : [`another result: ${id}`]
  })
}

/** Some clients store two ids in one, and providers are given the first; some put the name of the tool in front of it. */
function idOf(id: string): string {
  return /^(?:[a-z_]+__)?([^|]*)/.exec(id)?.[1] ?? id
}

function plain(text: string): string {
  return text
    .replace(/\r/g, "")
    .replace(/[ \t]+$/gm, "")
    .trim()
}
