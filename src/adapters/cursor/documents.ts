/** What every file of this folder has to know of Cursor's chats. */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { DocumentShape } from "../shared/documents.ts"
import { wireFields } from "../shared/wire.ts"

export const BRAND = { id: "cursor", title: "Cursor" }

/** Of before 0.43: see `shared/chat-tabs.ts`. */
export function isTab(place: string): boolean {
  return place.startsWith("tabs/")
}

/** The bubbles of a chat of the editor, each a row of its database with its key. */
const bubbleShape: DocumentShape = { key: "bubbles", idOf: (row) => textIn(row, "key") }
/** Those of 2024, which stand in the row of the chat. */
const inlineShape: DocumentShape = {
  key: "conversation",
  within: "composer",
  idOf: (bubble) => textIn(bubble, "bubbleId"),
}
/** The blobs of a chat of the command line. */
export const blobShape: DocumentShape = { key: "blobs", idOf: (blob) => textIn(blob, "id") }

const SHAPES = [bubbleShape, inlineShape, blobShape]

export function shapeOf(document: JsonValue): DocumentShape {
  const inner = isJsonObject(document) ? document : {}
  const [bubbles, inline, blobs] = SHAPES as [DocumentShape, DocumentShape, DocumentShape]
  if (inner[bubbles.key] !== undefined) return bubbles
  return inner[blobs.key] === undefined ? inline : blobs
}

export function textIn(value: JsonValue | undefined, key: string): string | undefined {
  const text = isJsonObject(value) ? value[key] : undefined
  return typeof text === "string" && text !== "" ? text : undefined
}

/** The ids of the bubbles that a chat shows, in their order. */
export function shownBubbles(document: JsonValue): readonly string[] {
  const composer = isJsonObject(document) ? document["composer"] : undefined
  const headers = isJsonObject(composer) ? composer["fullConversationHeadersOnly"] : undefined
  return Array.isArray(headers) ? headers.flatMap((header: JsonValue) => textIn(header, "bubbleId") ?? []) : []
}

/** The blobs that the command line would send its model, in their order: field 1 of the root, 32 bytes each time. */
export function promptBlobs(root: Uint8Array): readonly string[] {
  const fields = wireFields(root) ?? []
  return fields.flatMap(({ number, bytes }) =>
    number === 1 && bytes?.length === 32 ? [Buffer.from(bytes).toString("hex")] : [],
  )
}
