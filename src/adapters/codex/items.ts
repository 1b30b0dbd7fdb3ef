/**
 * One item of the model's history as messages. The same items stand in an envelope (`response_item`), bare in a line of
 * the first Rust versions, in the list of a document, and in what a compaction left of a history. What is no message
 * (a snapshot, an encrypted summary, a list of tools) gives none: its record is then a carrier.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import {
  asJson,
  dataUrlIn,
  imageTypeIn,
  jsonAt,
  jsonIn,
  matchIn,
  nonEmptyStringAt,
  type PathKey,
  type Sealed,
  stringAt,
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
import { agentTextParts, isImageLabel, userTextParts } from "./provenance.ts"

type Path = readonly PathKey[]

/** The messages of the item at a path. The record is the caller's: values are taken out of it later. */
export function itemMessages(record: JsonValue, at: Path): MessageDraft[] {
  const item = valueAt(record, ...at)
  if (!isJsonObject(item)) return []
  const drafts = messagesOf(record, at, item)
  const id = item["id"]
  // The drafts are new, and there is one for every record: a copy of each would be felt.
  if (typeof id === "string")
    for (const draft of drafts) Object.assign(draft, { id: nonEmptyStringAt(record, ...at, "id") })
  return drafts
}

function messagesOf(record: JsonValue, at: Path, item: JsonObject): MessageDraft[] {
  switch (item["type"] ?? (typeof item["role"] === "string" ? "message" : undefined)) {
    case "message":
      return roleMessages(record, at, item)
    case "agent_message":
      return agentMessages(record, at, item)
    case "reasoning":
      return assistant(reasoningParts(record, at))
    case "function_call":
    case "custom_tool_call":
    case "local_shell_call":
    case "tool_search_call":
    case "web_search_call":
      return assistant(callParts(record, at))
    case "image_generation_call":
      return assistant(generatedImage(record, at))
    case "function_call_output":
    case "custom_tool_call_output":
    case "local_shell_call_output":
    case "tool_search_output":
      return toolResult(record, at)
    default:
      return []
  }
}

// --- Messages ---------------------------------------------------------------------------------------------------------

function roleMessages(record: JsonValue, at: Path, item: JsonObject): MessageDraft[] {
  switch (item["role"]) {
    case "user":
      return [{ role: "user", parts: userParts(record, at) }]
    case "assistant":
      return answer(record, at, item)
    case "tool":
      return toolResult(record, at)
    case "developer":
    case "system":
      return textsOf(record, [...at, "content"]).map((content) => ({ role: "system", content }))
    default:
      return []
  }
}

/** What the developer of the client says, one message for each text. */
function textsOf(record: JsonValue, at: Path): Sealed<string>[] {
  const content = valueAt(record, ...at)
  if (!Array.isArray(content)) return [stringAt(record, ...at)].filter((text) => text !== undefined)
  return content.flatMap((_, index) => stringAt(record, ...at, index, "text") ?? [])
}

type UserPart = "text" | "file" | "opaque"

function userParts(record: JsonValue, at: Path): PartDraft<UserPart>[] {
  const content = valueAt(record, ...at, "content")
  if (!Array.isArray(content)) {
    const text = stringAt(record, ...at, "content")
    return text === undefined ? [] : userTextParts(text, undefined, false)
  }
  const kinds = valueAt(record, ...at, "internal_chat_message_metadata_passthrough", "content_item_kinds")
  return content.flatMap((_, index): PartDraft<UserPart>[] => {
    const place = [...at, "content", index]
    const text = stringAt(record, ...place, "text") ?? stringAt(record, ...place)
    if (text === undefined) return blockParts(record, at, index)
    const isLabel = isImageLabel(text.value) && (isImage(content[index - 1]) || isImage(content[index + 1]))
    const kind: unknown = Array.isArray(kinds) && kinds.length === content.length ? kinds[index] : undefined
    return userTextParts(text, typeof kind === "string" ? kind : undefined, isLabel)
  })
}

function isImage(block: JsonValue | undefined): boolean {
  return isJsonObject(block) && block["type"] === "input_image"
}

/** A block without text: an image or a sound, or something from the future. The label before a local image has its path. */
function blockParts(record: JsonValue, at: Path, index: number): PartDraft<"file" | "opaque">[] {
  const place = [...at, "content", index]
  const url =
    stringAt(record, ...place, "image_url") ??
    stringAt(record, ...place, "image_url", "url") ??
    stringAt(record, ...place, "audio_url")
  if (url === undefined) {
    const kind = nonEmptyStringAt(record, ...place, "type") ?? nonEmptyStringAt(record, ...at, "role")
    return kind === undefined ? [] : [opaquePart({ provenance: "conversational", kind })]
  }
  const label = stringAt(record, ...at, "content", index - 1, "text")
  const data = dataUrlIn(url)
  const part = filePart({
    provenance: "conversational",
    mediaType: data?.mediaType,
    fileName: label === undefined ? undefined : matchIn(label, LABELLED_FILE),
    data: data === undefined ? { url } : { base64: data.base64 },
  })
  return [part]
}

const LABELLED_FILE = /^<image name=.* path="(?:[^"]*[/\\])?([^"/\\]+)">$/

type AssistantPart = "text" | "file" | "reasoning" | "tool_call" | "opaque"

function assistant(parts: readonly PartDraft<AssistantPart>[]): MessageDraft[] {
  return parts.length === 0 ? [] : [{ role: "assistant", parts }]
}

/** An answer of the model. The first client had its reasoning and its calls in the same message. */
function answer(record: JsonValue, at: Path, item: JsonObject): MessageDraft[] {
  const reasoning = nonEmptyStringAt(record, ...at, "reasoning")
  const calls = item["tool_calls"]
  return assistant([
    ...(reasoning === undefined ? [] : [reasoningPart({ provenance: "conversational", text: reasoning })]),
    ...answerParts(record, at, item["content"]),
    ...(Array.isArray(calls) ? calls.flatMap((_, index) => callParts(record, [...at, "tool_calls", index])) : []),
  ])
}

function answerParts(record: JsonValue, at: Path, content: JsonValue | undefined): PartDraft<AssistantPart>[] {
  if (!Array.isArray(content)) {
    const text = nonEmptyStringAt(record, ...at, "content")
    return text === undefined ? [] : [textPart({ provenance: "conversational", text })]
  }
  return content.flatMap((block: JsonValue, index): PartDraft<AssistantPart>[] => {
    const place = [...at, "content", index]
    const text =
      stringAt(record, ...place, "text") ?? stringAt(record, ...place, "refusal") ?? stringAt(record, ...place)
    if (text === undefined) return blockParts(record, at, index)
    const isReasoning = isJsonObject(block) && block["type"] === "reasoning"
    return [(isReasoning ? reasoningPart : textPart)({ provenance: "conversational", text })]
  })
}

/** What another agent sent: its own task where it comes from above, news from below where it does not. */
function agentMessages(record: JsonValue, at: Path, item: JsonObject): MessageDraft[] {
  const { author, recipient } = item
  const isInstruction =
    typeof author === "string" && typeof recipient === "string" && recipient.startsWith(`${author}/`)
  const content = item["content"]
  const blocks = Array.isArray(content) ? content : []
  const parts = blocks.flatMap((_, index): PartDraft<UserPart>[] => {
    const text = stringAt(record, ...at, "content", index, "text")
    return text === undefined ? blockParts(record, at, index) : agentTextParts(text, isInstruction)
  })
  const whole = stringAt(record, ...at, "content")
  if (whole !== undefined) parts.push(...agentTextParts(whole, isInstruction))
  return [{ role: "user", parts, pond: { author: "model" } }]
}

// --- Reasoning --------------------------------------------------------------------------------------------------------

/** The summaries and the thoughts that are readable. Of the rest the record keeps the encrypted whole. */
function reasoningParts(record: JsonValue, at: Path): PartDraft<"reasoning" | "opaque">[] {
  const texts = ["summary", "content"].flatMap((field) => {
    const blocks = valueAt(record, ...at, field)
    return Array.isArray(blocks)
      ? blocks.flatMap((_, index) => stringAt(record, ...at, field, index, "text") ?? [])
      : (stringAt(record, ...at, field) ?? [])
  })
  if (texts.length > 0) return texts.map((text) => reasoningPart({ provenance: "conversational", text }))
  const kind = nonEmptyStringAt(record, ...at, "type")
  return kind === undefined ? [] : [opaquePart({ provenance: "conversational", kind })]
}

// --- Tools ------------------------------------------------------------------------------------------------------------

function callParts(record: JsonValue, at: Path): PartDraft<"tool_call" | "opaque">[] {
  const type = nonEmptyStringAt(record, ...at, "type")
  const callId = nonEmptyStringAt(record, ...at, "call_id") ?? nonEmptyStringAt(record, ...at, "id")
  const name =
    nonEmptyStringAt(record, ...at, "name") ??
    nonEmptyStringAt(record, ...at, "function", "name") ??
    (type === undefined ? undefined : matchIn(type, /^(.+)_call$/))
  const params = paramsOf(record, at)
  if (callId !== undefined && name !== undefined && params !== undefined) {
    // What the provider runs itself has no result of its own in the history.
    const providerExecuted = type === undefined ? undefined : testIn(type, /^web_search_call$/)
    return [toolCallPart({ provenance: "conversational", callId, name, params, providerExecuted })]
  }
  return type === undefined ? [] : [opaquePart({ provenance: "conversational", kind: type })]
}

function paramsOf(record: JsonValue, at: Path): Sealed<JsonValue> | undefined {
  const text = stringAt(record, ...at, "arguments") ?? stringAt(record, ...at, "function", "arguments")
  if (text !== undefined) return jsonIn(text) ?? asJson(text)
  return jsonAt(record, ...at, "arguments") ?? jsonAt(record, ...at, "input") ?? jsonAt(record, ...at, "action")
}

function generatedImage(record: JsonValue, at: Path): PartDraft<"file" | "opaque">[] {
  const base64 = nonEmptyStringAt(record, ...at, "result")
  if (base64 !== undefined)
    return [filePart({ provenance: "conversational", mediaType: imageTypeIn(base64), data: { base64 } })]
  const kind = nonEmptyStringAt(record, ...at, "type")
  return kind === undefined ? [] : [opaquePart({ provenance: "conversational", kind })]
}

function toolResult(record: JsonValue, at: Path): MessageDraft[] {
  const callId = nonEmptyStringAt(record, ...at, "call_id") ?? nonEmptyStringAt(record, ...at, "tool_call_id")
  const output = jsonAt(record, ...at, "output") ?? jsonAt(record, ...at, "tools") ?? jsonAt(record, ...at, "content")
  if (callId === undefined || output === undefined) {
    const kind = nonEmptyStringAt(record, ...at, "type") ?? nonEmptyStringAt(record, ...at, "role")
    return kind === undefined ? [] : [{ role: "tool", parts: [opaquePart({ provenance: "injected", kind })] }]
  }
  const shown = resultHead(record, at)
  const isFailure = shown === undefined ? undefined : testIn(shown, FAILED)
  return [{ role: "tool", parts: [toolResultPart({ provenance: "injected", callId, isFailure, result: output })] }]
}

function resultHead(record: JsonValue, at: Path): Sealed<string> | undefined {
  return (
    stringAt(record, ...at, "output") ??
    stringAt(record, ...at, "output", 0, "text") ??
    stringAt(record, ...at, "output", "text") ??
    stringAt(record, ...at, "content")
  )
}

/** Whether the text that a model is shown as a result says that the call failed. */
export function saysFailure(text: string): boolean {
  return FAILED.test(text)
}

/** No field says whether a tool failed: the text that the model is shown does, in three spellings over the years. */
const FAILED =
  /^Exit code: -?[1-9]|^Script (?:failed|error)|^(?:[^\n]*\n){0,4}?Process exited with code -?[1-9]|"metadata":\{"exit_code":-?[1-9][^{}]*\}\}$/
