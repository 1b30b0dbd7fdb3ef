/** What every file of this folder has to know of Vibe's files. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import { keyedList } from "../shared/keyed-list.ts"

export const BRAND = { id: "vibe", title: "Mistral Vibe" }

/** The file of the store that says which generation of a session counts. */
export const CURRENT = "CURRENT"

/**
 * A list of messages in a document that is written anew: of a session of 1.x, and of a chunk of the store, which is the list
 * itself. Messages have no ids there: two prompts that say the same are two.
 */
export const messages = keyedList({ key: "messages", areRepeatsKept: true })

export function isChunk(place: string): boolean {
  return /(?:^|\/)chunks\/[0-9a-f]{64}\.json$/.test(place)
}

export function isOldDocument(place: string): boolean {
  return /(?:^|\/)session_[^/]+\.json$/.test(place)
}

/** The client knows these files by the hash of their bytes: keys in order, no white space, a line feed at the end. */
export function isHashed(place: string): boolean {
  return isChunk(place) || /(?:^|\/)(?:CURRENT|generations\/\d{16}\/[\w-]+\.json)$/.test(place)
}

/** The name of a file of a generation, whichever generation it is of. */
export function nameInGeneration(place: string): string | undefined {
  return /(?:^|\/)generations\/\d{16}\/([\w-]+\.json)$/.exec(place)?.[1]
}

/** The hashes of the chunks that a part of a generation is made of. */
export function chunksNamed(manifest: JsonValue | undefined, part: "checkpoint" | "projection_state"): string[] {
  const described = isJsonObject(manifest) ? manifest[part] : undefined
  const chunks = isJsonObject(described) ? described["chunks"] : undefined
  return Array.isArray(chunks) ? chunks.filter((hash: JsonValue) => typeof hash === "string") : []
}

/** A manifest of a generation, among the documents of a session. */
export function isManifest(record: JsonValue): record is JsonObject {
  return isJsonObject(record) && "manifest_version" in record && isJsonObject(record["checkpoint"])
}

/** JSON as RFC 8785 has it, of which the client makes its hashes. */
export function canonicalText(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const keys = Object.keys(value).sort((left, right) => (left < right ? -1 : 1))
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalText(value[key] as JsonValue)}`).join()}}`
}
