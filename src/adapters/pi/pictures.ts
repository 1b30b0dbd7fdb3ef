/** Pictures of oh-my-pi that are too large for a line: separate files, to which a record refers by the hash of their bytes. */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { Entry, Part, SessionLog } from "../../model/session.ts"
import { sourceOf } from "../shared/native.ts"
import { OH_MY_PI } from "./brands.ts"

export const PICTURE = /^blob:sha256:([0-9a-f]{64})$/
const NAMED = /"(?:data:[^"]*;base64,)?blob:sha256:([0-9a-f]{64})"/g

/** The files that a line refers to. */
export function attachmentsOf(line: string): readonly string[] {
  if (!line.includes("blob:sha256:")) return []
  return [...line.matchAll(NAMED)].map(([, hash]) => `${OH_MY_PI.pictures}${hash}`)
}

type Pictures = ReadonlyMap<string, string>

/** By their hash, as base64. */
export function picturesIn({ entries }: SessionLog): Pictures {
  const pictures = new Map<string, string>()
  for (const { message } of entries) {
    const { file, base64 } = sourceOf(message)
    const hash = typeof file === "string" ? /(?:^|\/)([0-9a-f]{64})$/.exec(file)?.[1] : undefined
    if (hash !== undefined && typeof base64 === "string") pictures.set(hash, base64)
  }
  return pictures
}

export function withPictures(entry: Entry, pictures: Pictures): Entry {
  if (pictures.size === 0) return entry
  const parts = entry.parts.map((part: Part) => filledPart(part, pictures))
  return parts.every((part, at) => part === entry.parts[at]) ? entry : ({ ...entry, parts } as Entry)
}

function filledPart(part: Part, pictures: Pictures): Part {
  if (part.type === "file" && "url" in part.data) {
    const base64 = pictureAt(part.data.url, pictures)
    return base64 === undefined ? part : { ...part, data: { base64 } }
  }
  const result = part.type === "tool_result" ? (part.result as JsonValue) : undefined
  if (part.type !== "tool_result" || !Array.isArray(result)) return part
  const blocks = result.map((block: JsonValue) => filledBlock(block, pictures))
  return blocks.every((block, at) => block === result[at]) ? part : { ...part, result: blocks }
}

function filledBlock(block: JsonValue, pictures: Pictures): JsonValue {
  const data = isJsonObject(block) ? block["data"] : undefined
  const base64 = typeof data === "string" ? pictureAt(data, pictures) : undefined
  return base64 === undefined || !isJsonObject(block) ? block : { ...block, data: base64 }
}

function pictureAt(reference: string, pictures: Pictures): string | undefined {
  return pictures.get(PICTURE.exec(reference)?.[1] ?? "")
}
