/** What a message of Cline holds: blocks as Anthropic has them, and some that only Cline has. A result stands in the user's place. */
import { isJsonObject } from "../../model/json.ts"
import {
  flagOf,
  imageTypeIn,
  isFalseAt,
  jsonUnder,
  momentOf,
  nameOf,
  nonEmptyStringUnder,
  type Placed,
  parsedIn,
  plain,
  type Sealed,
  splitAt,
  stringHere,
  stringUnder,
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
import { fieldsOf, type SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, wordUnder } from "../spot.ts"
import { createUserTexts } from "./provenance.ts"

/** A record or a part that was read and kept, and not understood, is noted. */

type Fields = Pick<MessageDraft, "timestamp" | "pond">
type UserPart = PartDraft<"text" | "file" | "opaque">
type ModelPart = PartDraft<"text" | "file" | "reasoning" | "tool_call" | "opaque">

/** Of a list that its model is sent. */
export function saidDrafts(message: Spot, note: Note): MessageDraft[] {
  const fields = { timestamp: momentOf(message.value, "ts"), pond: namedModel(message.value) }
  const role = wordUnder(message.value, "role")
  if (wordUnder(message.value, "type") === "reasoning")
    return [{ ...fields, role: "assistant", parts: thoughtIn(message) }]
  const blocks = blocksOf(message)
  if (role === "assistant") return [{ ...fields, role, parts: blocks.flatMap((block) => modelPart(block, note)) }]
  if (role === "user") return userDrafts(message, blocks, fields, note)
  note("unknown_record", "a message of no known role")
  return []
}

function namedModel(message: SourceValue): MessageDraft["pond"] {
  const info = isJsonObject(message) ? (message["modelInfo"] ?? null) : null
  const model = wordUnder(info, "id") ?? wordUnder(info, "modelId")
  return model === undefined ? undefined : { model }
}

function blocksOf(message: Spot): readonly Spot[] {
  const content = inside(message, "content")
  if (content === undefined) return []
  return typeof content.value === "string" ? [content] : itemsOf(content)
}

function blockText(block: Spot): Placed<string> | undefined {
  if (typeof block.value === "string") return stringHere(block)
  return wordUnder(block.value, "type") === "text" ? stringUnder(block, "text") : undefined
}

// --- In the user's place ------------------------------------------------------------------------------------------------

/** Results and what was said, each as a message, in their order. */
function userDrafts(message: Spot, blocks: readonly Spot[], fields: Fields, note: Note): MessageDraft[] {
  const drafts: MessageDraft[] = []
  const readText = createUserTexts(harnessKind(message.value))
  let said: UserPart[] | undefined
  let results: PartDraft<"tool_result" | "opaque">[] | undefined
  for (const block of blocks) {
    const result = wordUnder(block.value, "type") === "tool_result" ? resultPart(block) : undefined
    if (result !== undefined) {
      if (results === undefined) {
        results = []
        drafts.push({ ...fields, role: "tool", parts: results })
      }
      results.push(result)
      said = undefined
      continue
    }
    if (said === undefined) {
      said = []
      drafts.push({ ...fields, role: "user", parts: said })
    }
    said.push(...userPart(block, readText, note))
    results = undefined
  }
  return drafts
}

/** What the client says in the user's place, by the word that it has for it. A compaction leaves what the person said, too. */
function harnessKind(message: SourceValue): string | undefined {
  const { metadata = null, isSummary } = fieldsOf(message)
  if (isSummary === true) return "compact-summary"
  const kind = wordUnder(metadata, "kind")
  return wordUnder(metadata, "displayRole") === "system" && kind !== "compaction" ? (kind ?? "unknown") : undefined
}

function userPart(block: Spot, readText: ReturnType<typeof createUserTexts>, note: Note): UserPart[] {
  const text = blockText(block)
  if (text === undefined) return filesIn(block, note)
  return readText(text.value).flatMap(({ begin, end, kind }): UserPart[] => {
    const [part] = splitAt(text, [begin, end]).slice(begin === 0 ? 0 : 1)
    if (part === undefined || part.value === "") return []
    if (kind === undefined) return [textPart({ provenance: "conversational", text: part })]
    return [injectedText(part, kind)]
  })
}

function resultPart(block: Spot): PartDraft<"tool_result"> | undefined {
  const callId = nonEmptyStringUnder(block, "tool_use_id")
  const result = jsonUnder(block, "content")
  if (callId === undefined || result === undefined) return undefined
  const isFailure = flagOf(block.value, "is_error") ?? failureIn(block)
  return toolResultPart({ provenance: "injected", callId, name: nonEmptyStringUnder(block, "name"), isFailure, result })
}

/** Its own tools say of each thing that was asked for whether it went well, as JSON or as the text of it. */
function failureIn(block: Spot): Sealed<boolean> | undefined {
  const text = stringUnder(block, "content")
  const content = text === undefined ? resultValue(block) : parsedIn(text)
  const all: readonly SourceValue[] = Array.isArray(content) ? content : [content ?? null]
  const told = all.map((each) => isFalseAt(each, "success"))
  return told.find((failed) => failed !== undefined && plain(failed)) ?? told[0]
}

function resultValue(block: Spot): SourceValue | undefined {
  return isJsonObject(block.value) ? block.value["content"] : undefined
}

// --- What the model said ------------------------------------------------------------------------------------------------

function modelPart(block: Spot, note: Note): ModelPart[] {
  const text = blockText(block)
  if (text !== undefined) return text.value === "" ? [] : [textPart({ provenance: "conversational", text })]
  const type = wordUnder(block.value, "type")
  if (type === "thinking" || type === "reasoning") return thoughtIn(block)
  if (type !== "tool_use") return filesIn(block, note)
  const callId = nonEmptyStringUnder(block, "id")
  const name = nonEmptyStringUnder(block, "name")
  const params = jsonUnder(block, "input")
  if (callId === undefined || name === undefined || params === undefined) return unread(block)
  return [toolCallPart({ provenance: "conversational", callId, name, params })]
}

function thoughtIn(block: Spot): PartDraft<"reasoning" | "opaque">[] {
  const text = stringUnder(block, "thinking") ?? stringUnder(block, "text")
  if (text !== undefined) return [reasoningPart({ provenance: "conversational", text })]
  const summary = inside(block, "summary")
  const texts = itemsOf(summary).flatMap((each) => stringUnder(each, "text") ?? [])
  if (texts.length === 0) return unread(block)
  return texts.map((each) => reasoningPart({ provenance: "conversational", text: each }))
}

// --- Files, and what is not understood ----------------------------------------------------------------------------------

/** What is known and has no part: thoughts that only a provider can read, marks of a provider. */
const SEALED = new Set(["redacted_thinking", "thoughtSignature", "media"])

function filesIn(block: Spot, note: Note): PartDraft<"file" | "opaque">[] {
  const type = wordUnder(block.value, "type")
  if (type === "image") {
    const source = inside(block, "source") ?? block
    const data = stringUnder(source, "data")
    const mediaType = nonEmptyStringUnder(source, "media_type") ?? nonEmptyStringUnder(source, "mediaType")
    if (data !== undefined)
      return [
        filePart({ provenance: "conversational", mediaType: mediaType ?? imageTypeIn(data), data: { base64: data } }),
      ]
  }
  const text = type === "file" ? stringUnder(block, "content") : undefined
  if (text !== undefined) {
    const fileName = nonEmptyStringUnder(block, "path")
    return [
      filePart({
        provenance: "injected",
        mediaType: undefined,
        fileName,
        data: { text },
        pond: { injected: "mention" },
      }),
    ]
  }
  if (type === undefined || !SEALED.has(type)) note("unknown_part", type ?? "a part of no type")
  return unread(block)
}

function unread({ value }: Spot): PartDraft<"opaque">[] {
  const kind = nameOf(value, "type")
  return kind === undefined || plain(kind) === "" ? [] : [opaquePart({ provenance: "injected", kind })]
}

// --- Of a list that was shown, where nothing else is left ---------------------------------------------------------------

const BY_PERSON = new Set(["task", "user_feedback"])
const BY_MODEL = new Set(["text", "completion_result"])

/** The first thing that is shown is what a person said, whatever its kind. */
export function shownDrafts(item: Spot, isFirst: boolean): MessageDraft[] {
  const fields = { timestamp: momentOf(item.value, "ts") }
  const kind = wordUnder(item.value, "say") ?? ""
  const text = stringUnder(item, "text")
  if (text === undefined || text.value === "") return []
  if (BY_PERSON.has(kind) || (isFirst && kind === "text"))
    return [{ ...fields, role: "user", parts: [textPart({ provenance: "conversational", text })] }]
  if (kind === "reasoning")
    return [{ ...fields, role: "assistant", parts: [reasoningPart({ provenance: "conversational", text })] }]
  if (!BY_MODEL.has(kind)) return []
  return [{ ...fields, role: "assistant", parts: [textPart({ provenance: "conversational", text })] }]
}
