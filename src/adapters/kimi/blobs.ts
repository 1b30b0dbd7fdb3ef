/** Large pictures lie in files of their own, named by the hash of their base64; a record refers to them. */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { Entry, Part, SessionLog } from "../../model/session.ts"
import { sourceOf } from "../shared/native.ts"
import { BLOB_REFERENCE } from "./records.ts"

type Blobs = ReadonlyMap<string, string>

/** By their hash, as base64. */
export function blobsIn({ entries }: SessionLog): Blobs {
  const blobs = new Map<string, string>()
  for (const { message } of entries) {
    const { file, base64 } = sourceOf(message)
    const hash = typeof file === "string" ? /\/blobs\/([\da-f]{64})$/.exec(file)?.[1] : undefined
    if (hash !== undefined && typeof base64 === "string") blobs.set(hash, base64)
  }
  return blobs
}

/** Pictures of results become blocks that every client's pictures are read from. */
export function withBlobs({ message, parts }: Entry, blobs: Blobs): Entry {
  const filled = parts.map((part: Part) => filledPart(part, blobs))
  return (filled.some((part, at) => part !== parts[at]) ? { message, parts: filled } : { message, parts }) as Entry
}

function filledPart(part: Part, blobs: Blobs): Part {
  if (part.type === "file" && "url" in part.data) {
    const found = pictureAt(part.data.url, blobs)
    return found === undefined ? part : { ...part, media_type: found.mimeType, data: { base64: found.data } }
  }
  const result = part.type === "tool_result" ? (part.result as JsonValue) : undefined
  if (part.type !== "tool_result" || !Array.isArray(result)) return part
  const blocks = result.map((block: JsonValue) => filledBlock(block, blobs))
  return blocks.every((block, at) => block === result[at]) ? part : { ...part, result: blocks }
}

function filledBlock(block: JsonValue, blobs: Blobs): JsonValue {
  const holder = isJsonObject(block) ? (block["imageUrl"] ?? block["image_url"]) : undefined
  const url = isJsonObject(holder ?? null) ? (holder as { readonly url?: JsonValue }).url : undefined
  const found = typeof url === "string" ? pictureAt(url, blobs) : undefined
  return found === undefined ? block : { type: "image", ...found }
}

function pictureAt(url: string, blobs: Blobs): { readonly mimeType: string; readonly data: string } | undefined {
  const [, mediaType, hash = ""] = BLOB_REFERENCE.exec(url) ?? []
  const data = blobs.get(hash)
  if (mediaType !== undefined && data !== undefined) return { mimeType: mediaType, data }
  const [, mimeType, base64] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
  return mimeType === undefined || base64 === undefined ? undefined : { mimeType, data: base64 }
}
