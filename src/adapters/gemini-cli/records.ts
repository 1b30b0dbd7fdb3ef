/** What the records of a chat are, and what belongs together in one. Knows records, makes no messages. */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { DocumentShape } from "../shared/documents.ts"
import { partUnder } from "../shared/google-parts.ts"
import { wordUnder } from "../spot.ts"

export const BRAND = { id: "gemini-cli" }

/** A chat of before 0.39 is one document with its messages in a list. */
export const SHAPE: DocumentShape = { key: "messages", idOf: (item) => wordUnder(item, "id") }

export type RecordKind = "rewind" | "message" | "patch" | "metadata"

/** In the order in which the client itself tells them apart. */
export function kindOf(record: JsonValue): RecordKind | undefined {
  if (!isJsonObject(record)) return undefined
  if (typeof record["$rewindTo"] === "string") return "rewind"
  if (typeof record["id"] === "string") return "message"
  if (isJsonObject(record["$set"])) return "patch"
  return typeof record["sessionId"] === "string" ? "metadata" : undefined
}

/** The messages that a patch puts in the place of all others, or that metadata adds. */
export function messagesIn(record: JsonValue): readonly JsonValue[] | undefined {
  if (!isJsonObject(record)) return undefined
  const { $set: patch } = record
  const messages = isJsonObject(patch) ? patch["messages"] : record["messages"]
  return Array.isArray(messages) ? (messages as readonly JsonValue[]) : undefined
}

/** The parts of a message, however they stand: a text alone is one. */
export function contentItems(message: JsonValue): readonly JsonValue[] {
  const content = isJsonObject(message) ? message["content"] : undefined
  if (Array.isArray(content)) return content as readonly JsonValue[]
  return content === undefined || content === null ? [] : [content]
}

/** The ids under which what a message says is stored: its own, and one for each result. */
export function idsIn(message: JsonValue): string[] {
  const ids = [wordUnder(message, "id")]
  for (const part of contentItems(message)) {
    ids.push(wordUnder(partUnder(part, "functionCall"), "id"))
    ids.push(wordUnder(partUnder(part, "functionResponse"), "id"))
  }
  const calls = isJsonObject(message) ? message["toolCalls"] : undefined
  if (Array.isArray(calls)) for (const call of calls) ids.push(wordUnder(call as JsonValue, "id"))
  return ids.filter((id) => id !== undefined && id !== "") as string[]
}

export function textOf(part: JsonValue): string | undefined {
  return typeof part === "string" ? part : wordUnder(part, "text")
}
