/**
 * One item of the model's history as messages. The same items stand in an envelope (`response_item`), bare in a line of
 * the first Rust versions, in the list of a document, and in what a compaction left of a history. What is no message
 * (a snapshot, an encrypted summary, a list of tools) gives none: its record is then a carrier.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import {
  imageTypeIn,
  isAt,
  jsonOrText,
  jsonUnder,
  matchIn,
  nameOf,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  type Placed,
  plain,
  type Sealed,
  stringAt,
  stringHere,
  stringUnder,
  testIn,
  valueAt,
} from "../extract.ts"
import {
  filePart,
  opaquePart,
  type PartDraft,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from "../parts.ts"
import type { MessageDraft } from "../session-writer.ts"
import { fileOfUrl } from "../shared/common-parts.ts"
import { inside, itemOf, itemsOf, type Spot, wordUnder } from "../spot.ts"
import { agentTextParts, isImageLabel, userTextParts } from "./provenance.ts"

/** The messages of the item at a spot. The record is the caller's: values are taken out of it later. */
export function itemMessages(spot: Spot | undefined): MessageDraft[] {
  if (spot === undefined || !isJsonObject(spot.value)) return []
  const item = spot.value
  return messagesOf(spot, item, typeof item["id"] === "string" ? nonEmptyStringUnder(spot, "id") : undefined)
}

type Id = Sealed<string> | undefined

function messagesOf(spot: Spot, item: JsonObject, id: Id): MessageDraft[] {
  switch (item["type"] ?? (typeof item["role"] === "string" ? "message" : undefined)) {
    case "message":
      return roleMessages(spot, item, id)
    case "agent_message":
      return agentMessages(spot, item, id)
    case "reasoning":
      return assistant(reasoningParts(spot), id)
    case "function_call":
    case "custom_tool_call":
    case "local_shell_call":
    case "tool_search_call":
    case "web_search_call":
      return assistant(callParts(spot), id)
    case "image_generation_call":
      return assistant(generatedImage(spot), id)
    case "function_call_output":
    case "custom_tool_call_output":
    case "local_shell_call_output":
    case "tool_search_output":
      return toolResult(spot, id)
    default:
      return []
  }
}

// --- Messages ---------------------------------------------------------------------------------------------------------

function roleMessages(spot: Spot, item: JsonObject, id: Id): MessageDraft[] {
  switch (item["role"]) {
    case "user":
      return [{ id, role: "user", parts: userParts(spot) }]
    case "assistant":
      return assistant(answerParts(spot), id)
    case "tool":
      return toolResult(spot, id)
    case "developer":
    case "system":
      return textsOf(inside(spot, "content")).map((content) => ({ id, role: "system", content }))
    default:
      return []
  }
}

/** The texts of a list of blocks, or the one text that stands in its place. */
function textsOf(content: Spot | undefined): Placed<string>[] {
  const texts: Placed<string>[] = []
  if (content === undefined) return texts
  for (const block of Array.isArray(content.value) ? itemsOf(content) : [content]) {
    const text = block === content ? stringHere(block) : stringUnder(block, "text")
    if (text !== undefined) texts.push(text)
  }
  return texts
}

type UserPart = "text" | "file" | "opaque"

function userParts(item: Spot): PartDraft<UserPart>[] {
  const content = inside(item, "content")
  const blocks = content?.value
  if (content === undefined || !Array.isArray(blocks)) {
    const text = stringUnder(item, "content")
    return text === undefined ? [] : userTextParts(text, undefined, false)
  }
  const kinds = valueAt(item.value, "internal_chat_message_metadata_passthrough", "content_item_kinds")
  const parts: PartDraft<UserPart>[] = []
  const spots = itemsOf(content)
  for (let index = 0; index < spots.length; index++) {
    const block = spots[index] as Spot
    const text = stringUnder(block, "text") ?? stringHere(block)
    if (text === undefined) {
      parts.push(...blockParts(item, block, index))
      continue
    }
    const isLabel = isImageLabel(text.value) && (isImage(blocks[index - 1]) || isImage(blocks[index + 1]))
    const kind: unknown = Array.isArray(kinds) && kinds.length === blocks.length ? kinds[index] : undefined
    parts.push(...userTextParts(text, typeof kind === "string" ? kind : undefined, isLabel))
  }
  return parts
}

function isImage(block: JsonValue | undefined): boolean {
  return wordUnder(block, "type") === "input_image"
}

/** A block without text: an image or a sound, or something from the future. The label before a local image has its path. */
function blockParts(item: Spot, block: Spot, index: number): PartDraft<"file" | "opaque">[] {
  const nested = inside(block, "image_url")
  const url =
    stringUnder(block, "image_url") ?? (nested && stringUnder(nested, "url")) ?? stringUnder(block, "audio_url")
  if (url === undefined) {
    const kind = nonEmptyStringUnder(block, "type") ?? nonEmptyStringUnder(item, "role")
    return kind === undefined ? [] : [opaquePart({ provenance: "conversational", kind })]
  }
  const label = stringAt(item.value, "content", index - 1, "text")
  return [fileOfUrl(url, { fileName: label === undefined ? undefined : matchIn(label, LABELLED_FILE) })]
}

const LABELLED_FILE = /^<image name=.* path="(?:[^"]*[/\\])?([^"/\\]+)">$/

type AssistantPart = "text" | "file" | "reasoning" | "tool_call" | "opaque"

function assistant(parts: readonly PartDraft<AssistantPart>[], id: Id): MessageDraft[] {
  return parts.length === 0 ? [] : [{ id, role: "assistant", parts }]
}

/** An answer of the model. The first client had its reasoning and its calls in the same message. */
function answerParts(item: Spot): PartDraft<AssistantPart>[] {
  const parts: PartDraft<AssistantPart>[] = []
  const reasoning = nonEmptyTextUnder(item, "reasoning")
  if (reasoning !== undefined) parts.push(reasoningPart({ provenance: "conversational", text: reasoning }))
  const content = inside(item, "content")
  if (content !== undefined && Array.isArray(content.value)) addAnswered(item, content, content.value.length, parts)
  else {
    const text = nonEmptyTextUnder(item, "content")
    if (text !== undefined) parts.push(textPart({ provenance: "conversational", text }))
  }
  const calls = inside(item, "tool_calls")
  if (calls !== undefined) for (const call of itemsOf(calls)) parts.push(...callParts(call))
  return parts
}

function addAnswered(item: Spot, content: Spot, length: number, parts: PartDraft<AssistantPart>[]): void {
  for (let index = 0; index < length; index++) {
    const block = itemOf(content, index)
    const text = stringUnder(block, "text") ?? stringUnder(block, "refusal") ?? stringHere(block)
    if (text === undefined) parts.push(...blockParts(item, block, index))
    else if (wordUnder(block.value, "type") === "reasoning")
      parts.push(reasoningPart({ provenance: "conversational", text }))
    else parts.push(textPart({ provenance: "conversational", text }))
  }
}

/** What another agent sent: its own task where it comes from above, news from below where it does not. */
function agentMessages(spot: Spot, item: JsonObject, id: Id): MessageDraft[] {
  const { author, recipient } = item
  const isInstruction =
    typeof author === "string" && typeof recipient === "string" && recipient.startsWith(`${author}/`)
  const parts: PartDraft<UserPart>[] = []
  for (const [index, block] of itemsOf(inside(spot, "content")).entries()) {
    const text = stringUnder(block, "text")
    parts.push(...(text === undefined ? blockParts(spot, block, index) : agentTextParts(text, isInstruction)))
  }
  const said = stringUnder(spot, "content")
  if (said !== undefined) parts.push(...agentTextParts(said, isInstruction))
  return [{ id, role: "user", parts, pond: { author: "model" } }]
}

// --- Reasoning --------------------------------------------------------------------------------------------------------

/** The summaries and the thoughts that are readable. Of the rest the record keeps the encrypted whole. */
function reasoningParts(item: Spot): PartDraft<"reasoning" | "opaque">[] {
  const texts = textsOf(inside(item, "summary"))
  texts.push(...textsOf(inside(item, "content")))
  if (texts.length > 0) return texts.map((text) => reasoningPart({ provenance: "conversational", text }))
  const kind = nonEmptyStringUnder(item, "type")
  return kind === undefined ? [] : [opaquePart({ provenance: "conversational", kind })]
}

// --- Tools ------------------------------------------------------------------------------------------------------------

function callParts(item: Spot): PartDraft<"tool_call" | "opaque">[] {
  const type = nonEmptyStringUnder(item, "type")
  const called = inside(item, "function")
  const callId = nonEmptyStringUnder(item, "call_id") ?? nonEmptyStringUnder(item, "id")
  const name =
    nonEmptyStringUnder(item, "name") ??
    (called && nonEmptyStringUnder(called, "name")) ??
    (type === undefined ? undefined : matchIn(type, /^(.+)_call$/))
  const params = paramsOf(item, called)
  if (callId !== undefined && name !== undefined && params !== undefined) {
    // What the provider runs itself has no separate result in the history.
    const providerExecuted = isAt(item.value, "web_search_call", "type")
    return [toolCallPart({ provenance: "conversational", callId, name, params, providerExecuted })]
  }
  return type === undefined ? [] : [opaquePart({ provenance: "conversational", kind: type })]
}

function paramsOf(item: Spot, called: Spot | undefined): Placed<JsonValue> | undefined {
  const text = stringUnder(item, "arguments") ?? (called && stringUnder(called, "arguments"))
  if (text !== undefined) return jsonOrText(text)
  return jsonUnder(item, "arguments") ?? jsonUnder(item, "input") ?? jsonUnder(item, "action")
}

function generatedImage(item: Spot): PartDraft<"file" | "opaque">[] {
  const base64 = nonEmptyTextUnder(item, "result")
  if (base64 !== undefined)
    return [filePart({ provenance: "conversational", mediaType: imageTypeIn(base64), data: { base64 } })]
  const kind = nonEmptyStringUnder(item, "type")
  return kind === undefined ? [] : [opaquePart({ provenance: "conversational", kind })]
}

function toolResult(item: Spot, id: Id): MessageDraft[] {
  const callId = nonEmptyStringUnder(item, "call_id") ?? nonEmptyStringUnder(item, "tool_call_id")
  const output = jsonUnder(item, "output") ?? jsonUnder(item, "tools") ?? jsonUnder(item, "content")
  if (callId === undefined || output === undefined) {
    const kind = nonEmptyStringUnder(item, "type") ?? nonEmptyStringUnder(item, "role")
    return kind === undefined ? [] : [{ id, role: "tool", parts: [opaquePart({ provenance: "injected", kind })] }]
  }
  const shown = resultHead(item)
  const isFailure = shown === undefined ? undefined : testIn(shown, failureIn(plain(shown)))
  const part = toolResultPart({ provenance: "injected", callId, isFailure, result: output })
  return [{ id, role: "tool", parts: [part] }]
}

function resultHead({ value }: Spot): Sealed<string> | undefined {
  return (
    nameOf(value, "output") ??
    stringAt(value, "output", 0, "text") ??
    stringAt(value, "output", "text") ??
    nameOf(value, "content")
  )
}

/** Whether the text that a model is shown as a result says that the call failed. */
export function saysFailure(text: string): boolean {
  return failureIn(text).test(text)
}

/** No field says whether a tool failed: the text that the model is shown does, in three spellings over the years. */
const FAILED_AT_ONCE = /^Exit code: -?[1-9]|^Script (?:failed|error)/
const FAILED = new RegExp(`${FAILED_AT_ONCE.source}|^(?:[^\\n]*\\n){0,4}?Process exited with code -?[1-9]`)
const FAILED_IN_JSON = new RegExp(`${FAILED.source}|"metadata":\\{"exit_code":-?[1-9][^{}]*\\}\\}$`)

/** The third spelling stands at the end of a JSON text, the second on a separate line: other outputs are not searched for them. */
function failureIn(text: string): RegExp {
  if (text.endsWith("}}")) return FAILED_IN_JSON
  return hasExitLine(text) ? FAILED : FAILED_AT_ONCE
}

const EXIT_LINE = "Process exited with code "
const EXIT_LINES_MAX = 5

/** A pattern goes through the lines unit by unit, and most outputs are long. */
function hasExitLine(text: string): boolean {
  for (let line = 0, at = 0; line < EXIT_LINES_MAX; line++) {
    if (text[at] === "P" && text.startsWith(EXIT_LINE, at)) return true
    at = text.indexOf("\n", at) + 1
    if (at === 0) return false
  }
  return false
}
