/** What a message of pi holds: one text, or a list of blocks, each as a part. What is not understood keeps its place. */
import type { JsonValue } from "../../model/json.ts"
import type { Provenance } from "../../model/session.ts"
import {
  asJson,
  booleanAt,
  jsonUnder,
  nonEmptyStringUnder,
  type Placed,
  plain,
  stringHere,
  stringUnder,
} from "../extract.ts"
import {
  filePart,
  injectedText,
  opaquePart,
  type PartDraft,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from "../parts.ts"
import { fieldsOf, type SourceObject } from "../source-value.ts"
import { inside, itemOf, itemsOf, type Spot, wordUnder } from "../spot.ts"
import type { Brand } from "./brands.ts"
import { PICTURE } from "./pictures.ts"

/** An entry, a message or a block: where it stands, and its fields. */
export interface View {
  readonly brand: Brand
  readonly spot: Spot
  readonly value: SourceObject
  /** Says that something here was read and kept, and not understood. */
  readonly note: (kind: "unknown_record" | "unknown_part", found: JsonValue | undefined) => void
}

/** Where something else than an object stands, there are no fields to read. */
export function blockView(spot: Spot, { brand, note }: Pick<View, "brand" | "note">): View {
  return { brand, spot, value: fieldsOf(spot.value), note }
}

type UserPart = PartDraft<"text" | "file" | "opaque">
type AssistantPart = PartDraft<"text" | "file" | "reasoning" | "tool_call" | "opaque">

/** The content of a message: one text, or a list of blocks. */
export function contentParts<P>(message: View, readBlock: (block: View) => P | undefined): P[] {
  const content = inside(message.spot, "content")
  const { content: blocks } = message.value
  if (content === undefined) return []
  if (!Array.isArray(blocks)) return typeof blocks === "string" ? asList(readBlock(blockView(content, message))) : []
  const parts: P[] = []
  for (let index = 0; index < blocks.length; index++) {
    const part = readBlock(blockView(itemOf(content, index), message))
    if (part !== undefined) parts.push(part)
  }
  return parts
}

export function asList<P>(part: P | undefined): P[] {
  return part === undefined ? [] : [part]
}

/** In the words of some clients not all that a user said is a person's. */
export function typedParts(message: View): UserPart[] {
  const { userTexts } = message.brand
  if (userTexts === undefined) return contentParts(message, userBlock)
  return contentParts(message, (block): UserPart[] => {
    const text = block.value["type"] === "text" ? stringUnder(block.spot, "text") : stringHere(block.spot)
    return text === undefined ? asList(userBlock(block)) : userTexts(text)
  }).flat()
}

function userBlock(block: View): UserPart | undefined {
  return plainBlock(block, "conversational") ?? unread(block, "type")
}

export function injectedBlock(block: View): UserPart | undefined {
  return plainBlock(block, "injected", { injected: "custom-message" }) ?? unread(block, "type")
}

export function toldBlock(block: View): UserPart | undefined {
  return plainBlock(block, "injected", { injected: "developer" }) ?? unread(block, "type")
}

/** Of oh-my-pi: what only the provider that said it can read. */
const SEALED: ReadonlySet<JsonValue | undefined> = new Set(["redactedThinking", "fallback", "anthropicServerTool"])

export function assistantBlock(block: View): AssistantPart | undefined {
  const { spot } = block
  const { type } = block.value
  if (type === "thinking") {
    const text = stringUnder(spot, "thinking")
    return text === undefined ? unread(block, "type") : reasoningPart({ provenance: "conversational", text })
  }
  const sealed = SEALED.has(type) ? nonEmptyStringUnder(spot, "type") : undefined
  if (sealed !== undefined) return opaquePart({ provenance: "conversational", kind: sealed })
  if (type !== "toolCall") return plainBlock(block, "conversational") ?? unread(block, "type")
  const callId = nonEmptyStringUnder(spot, "id")
  const name = nonEmptyStringUnder(spot, "name")
  const params = jsonUnder(spot, "arguments")
  if (callId === undefined || name === undefined || params === undefined) return unread(block, "type")
  return toolCallPart({ provenance: "conversational", callId, name, params })
}

/** A text or an image, whoever put it there. */
function plainBlock(
  { spot, value }: View,
  provenance: Provenance,
  pond?: Record<string, JsonValue>,
): PartDraft<"text" | "file"> | undefined {
  const { type } = value
  const text = type === "text" ? stringUnder(spot, "text") : stringHere(spot)
  if (text !== undefined) return textPart({ provenance, pond, text })
  const data = type === "image" ? stringUnder(spot, "data") : undefined
  return data && pictureIn(spot, data, provenance, pond)
}

/** Of oh-my-pi: a large picture lies in a separate file, and here stands which. */
function pictureIn(
  spot: Spot,
  data: Placed<string>,
  provenance: Provenance,
  pond?: Record<string, JsonValue>,
): PartDraft<"file"> {
  const mediaType = nonEmptyStringUnder(spot, "mimeType")
  const held = PICTURE.test(data.value) ? { url: data } : { base64: data }
  return filePart({ provenance, pond, mediaType, data: held })
}

/** Marks the place of what is not understood, where it says a kind. Its content stays in the record. */
function unread({ spot, note }: View, key: string): PartDraft<"opaque"> | undefined {
  const kind = nonEmptyStringUnder(spot, key)
  note("unknown_part", kind && plain(kind))
  return kind === undefined ? undefined : opaquePart({ provenance: "injected", kind })
}

export function isPresent<T>(value: T | undefined): value is T {
  return value !== undefined
}

// --- Results and files ---------------------------------------------------------------------------------------------------

/** A result that is one text stands as that text, any other as the blocks that it is. */
export function toolResult(message: View): PartDraft<"tool_result" | "opaque"> | undefined {
  const { spot, value } = message
  const callId = nonEmptyStringUnder(spot, "toolCallId")
  const text = onlyText(inside(spot, "content"))
  const result = text === undefined ? jsonUnder(spot, "content") : asJson(text)
  if (callId === undefined || result === undefined) return unread(message, "role")
  const name = nonEmptyStringUnder(spot, "toolName")
  return toolResultPart({ provenance: "injected", callId, name, isFailure: booleanAt(value, "isError"), result })
}

function onlyText(content: Spot | undefined): Placed<string> | undefined {
  const blocks = content?.value
  if (content === undefined || !Array.isArray(blocks) || blocks.length !== 1) return undefined
  const block = wordUnder(blocks[0], "type") === "text" ? inside(content, 0) : undefined
  return block && stringUnder(block, "text")
}

/** Files that a person named in the prompt, as the client read them. */
export function mentionedParts({ spot }: View): PartDraft<"text" | "file">[] {
  const files = inside(spot, "files")
  return [...(files === undefined ? [] : itemsOf(files))].flatMap((file): PartDraft<"text" | "file">[] => {
    const text = stringUnder(file, "content")
    const picture = inside(file, "image")
    const data = picture && stringUnder(picture, "data")
    const shown = data && pictureIn(picture, data, "injected", { injected: "file-content" })
    const told = text && injectedText(text, "file-content")
    return [told, shown].filter(isPresent)
  })
}
