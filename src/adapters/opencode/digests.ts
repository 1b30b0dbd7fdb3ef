/**
 * Which messages of a session are known, and as what: one short digest each, so that a message that changed is read again
 * and all others are not. They are kept as one text of equal pieces, because a session can have thousands of messages.
 */
import { isExactNumber, isJsonObject, type JsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"

const LENGTH = 9

export interface Digests {
  has(digest: string): boolean
  add(digest: string): void
  toText(): string
}

export function openDigests(text = ""): Digests {
  const known = new Set<string>()
  for (let at = 0; at < text.length; at += LENGTH) known.add(text.slice(at, at + LENGTH))
  return {
    has: (digest) => known.has(digest),
    add: (digest) => void known.add(digest),
    toText: () => [...known].join(""),
  }
}

/** Changes whenever the row of a message does, or one of its parts comes, goes or changes: opencode keeps the time of each. */
export function digestOf(message: JsonObject, parts: readonly JsonValue[]): string {
  let times = timeOf(message)
  for (const part of parts) times += `|${timeOf(part)}`
  return hashOf(times)
}

/** 46 bits, in base 36. A change by accident or by a client is what it has to see, not one by an enemy. */
export function hashOf(text: string): string {
  const hash = Bun.hash.xxHash64(text).toString(36)
  return hash.length >= LENGTH ? hash.slice(-LENGTH) : hash.padStart(LENGTH, "0")
}

function timeOf(row: JsonValue): string {
  // What is no row has no time, and is compared as it is.
  return isJsonObject(row) ? `${wordOf(row["id"])}:${wordOf(row["time_updated"])}` : stringifyJson(row)
}

function wordOf(value: JsonValue | undefined): string {
  if (typeof value === "string") return value
  if (typeof value === "number") return String(value)
  // A number that no double holds has no text either.
  return isJsonObject(value) || isExactNumber(value ?? null) ? stringifyJson(value ?? null) : String(value)
}
