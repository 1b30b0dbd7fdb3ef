/** Messages of Vibe as drafts: of a chat, as 1.x and 2.x kept them, and of the store. Knows one message, no files. */
import {
  asJson,
  copied,
  dataUrlIn,
  imageTypeIn,
  isAt,
  jsonHere,
  jsonOrText,
  jsonUnder,
  nonEmptyOf,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  stringUnder,
  testIn,
} from "../extract.ts"
import type { Note } from "../notes.ts"
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
import type { MessageDraft } from "../session-writer.ts"
import { unknownBlock } from "../shared/common-parts.ts"
import { spoken } from "../shared/listed-document.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, wordUnder } from "../spot.ts"
import { FAILED, injectedKind } from "./provenance.ts"

/** The name that the facts of a session give it. */
export function titleFacts(facts: SourceValue): MessageDraft["pond"] {
  const title = wordUnder(facts, "title")
  return title === undefined || title.trim() === "" ? undefined : { title }
}

type UserPart = PartDraft<"text" | "file" | "opaque">
type ModelPart = PartDraft<"text" | "file" | "reasoning" | "tool_call" | "opaque">

/** `isInjected`: the harness says it in a person's place. */
export function messageDrafts(message: Spot, isInjected: boolean, note: Note): MessageDraft[] {
  const role = wordUnder(message.value, "role")
  switch (role) {
    case "user": {
      const parts = [...userParts(message, isInjected, note), ...picturesOf(message)]
      return spoken({ role, parts })
    }
    case "assistant": {
      const parts = modelParts(message, note)
      return spoken({ role, parts })
    }
    case "tool":
      return resultDrafts(message, note)
    case "system":
      return [{ role, content: stringUnder(message, "content") }]
    default:
      note("unknown_record", `a message of ${role ?? "nobody"}`)
      return []
  }
}

// --- A person, or the harness in their place ---------------------------------------------------------------------------

function userParts(message: Spot, isInjected: boolean, note: Note): UserPart[] {
  const saidPart = (text: NonNullable<ReturnType<typeof stringUnder>>): UserPart[] => {
    const kind = injectedKind(text.value, isInjected || wordUnder(message.value, "context_boundary") !== undefined)
    if (text.value === "") return []
    if (kind === undefined) return [textPart({ provenance: "conversational", text })]
    return [injectedText(text, kind)]
  }
  const bare = stringUnder(message, "content")
  if (bare !== undefined) return saidPart(bare)
  return itemsOf(inside(message, "content")).flatMap((block): UserPart[] => {
    const text = stringUnder(block, "text")
    return text === undefined ? [pictureIn(block) ?? unread(block, note)].flat() : saidPart(text)
  })
}

/** Of 2.x, which lie in the message or in a file beside the log. */
function picturesOf(message: Spot): UserPart[] {
  return itemsOf(inside(message, "images")).flatMap((image): UserPart[] => {
    const data = stringUnder(inside(image, "source") ?? image, "data")
    const mediaType = nonEmptyOf(image.value, "mime_type")
    const fileName = nonEmptyOf(image.value, "alias")
    const kind = fileName ?? mediaType
    if (data !== undefined && data.value !== "")
      return [filePart({ provenance: "conversational", mediaType, fileName, data: { base64: data } })]
    return kind === undefined ? [] : [opaquePart({ provenance: "conversational", kind })]
  })
}

function pictureIn(block: Spot): PartDraft<"file"> | undefined {
  const data = stringUnder(block, "data")
  const mediaType = nonEmptyOf(block.value, "mimeType") ?? nonEmptyOf(block.value, "mime_type")
  if (data !== undefined && data.value !== "") {
    const type = mediaType ?? imageTypeIn(data)
    return filePart({ provenance: "conversational", mediaType: type, data: { base64: data } })
  }
  const url = stringUnder(inside(block, "image_url") ?? block, "url")
  const found = url && dataUrlIn(url)
  return found && filePart({ provenance: "conversational", mediaType: found.mediaType, data: { base64: found.base64 } })
}

/** A thought that only its provider can read is known, and says nothing. */
function unread(block: Spot, note: Note): PartDraft<"opaque">[] {
  return unknownBlock(block, wordUnder(block.value, "type") === "redacted" ? () => undefined : note)
}

// --- The model ----------------------------------------------------------------------------------------------------------

function modelParts(message: Spot, note: Note): ModelPart[] {
  const thought = nonEmptyTextUnder(message, "reasoning_content")
  const said = nonEmptyTextUnder(message, "content")
  return [
    ...(thought === undefined ? [] : [reasoningPart({ provenance: "conversational", text: thought })]),
    ...(said === undefined ? [] : [textPart({ provenance: "conversational", text: said })]),
    ...itemsOf(inside(message, "content")).flatMap((block) => blockOfModel(block, note)),
    ...itemsOf(inside(message, "tool_calls")).flatMap((call) => callOf(call, inside(call, "function"), note)),
  ]
}

function blockOfModel(block: Spot, note: Note): ModelPart[] {
  const type = wordUnder(block.value, "type")
  if (type === "reasoning")
    return itemsOf(inside(block, "content")).flatMap((piece): ModelPart[] => {
      const text = nonEmptyTextUnder(piece, "text")
      return text === undefined ? unread(piece, note) : [reasoningPart({ provenance: "conversational", text })]
    })
  if (type === "tool_call") return callOf(block, block, note)
  const text = stringUnder(block, "text")
  if (text === undefined) return unread(block, note)
  return text.value === "" ? [] : [textPart({ provenance: "conversational", text })]
}

/** In the store its parameters stand as what the model wrote and as what that says. */
function callOf(call: Spot, called: Spot | undefined, note: Note): ModelPart[] {
  const callId = nonEmptyStringUnder(call, "id")
  const name = called && nonEmptyStringUnder(called, "name")
  const given = called && inside(called, "arguments")
  const text = given && (stringUnder(given, "raw") ?? (called && stringUnder(called, "arguments")))
  const params = text === undefined ? given && jsonHere(given) : jsonOrText(text)
  if (callId === undefined || name === undefined || params === undefined) return unread(call, note)
  return [toolCallPart({ provenance: "conversational", callId, name, params })]
}

// --- Results ------------------------------------------------------------------------------------------------------------

function resultDrafts(message: Spot, note: Note): MessageDraft[] {
  const callId = nonEmptyOf(message.value, "tool_call_id")
  const [only, ...more] = itemsOf(inside(message, "content"))
  const text = stringUnder(message, "content") ?? (more.length === 0 ? only && stringUnder(only, "text") : undefined)
  const result = text === undefined ? jsonUnder(message, "content") : asJson(text)
  if (callId === undefined || result === undefined) {
    note("unknown_record", "a result without a call or a content")
    return []
  }
  const isFailure = isAt(message.value, "failure", "outcome") ?? (text && testIn(copied(text), FAILED))
  const name = nonEmptyOf(message.value, "name")
  return [{ role: "tool", parts: [toolResultPart({ provenance: "injected", callId, name, isFailure, result })] }]
}
