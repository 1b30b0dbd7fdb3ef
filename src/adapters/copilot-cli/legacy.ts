/**
 * The chat of version 0.0.3xx: one document with the messages as they went to the model (`chatMessages`, in the form of
 * OpenAI) and what the screen showed (`timeline`). A later version wraps the document into an event of its log.
 */
import { jsonUnder, nonEmptyStringUnder, nonEmptyTextUnder, stringHere, stringUnder } from "../extract.ts"
import { type PartDraft, textPart, toolResultPart } from "../parts.ts"
import type { MessageDraft } from "../session-writer.ts"
import { fileOfUrl, functionCall } from "../shared/common-parts.ts"
import { inside, itemsOf, type Spot, wordUnder } from "../spot.ts"
import { userTextParts } from "./provenance.ts"

/** The messages of such a document, which is where `chat` stands. */
export function chatMessages(chat: Spot | undefined): MessageDraft[] {
  return itemsOf(chat && inside(chat, "chatMessages")).flatMap((message) => chatMessage(message) ?? [])
}

function chatMessage(message: Spot): MessageDraft | undefined {
  switch (wordUnder(message.value, "role")) {
    case "system":
    case "developer":
      return { role: "system", content: stringUnder(message, "content") }
    case "user":
      return { role: "user", parts: blocksOf(message).flatMap(promptBlock) }
    case "assistant":
      return { role: "assistant", parts: [...blocksOf(message).flatMap(textBlock), ...calls(message)] }
    case "tool":
      return toolMessage(message)
    default:
      return undefined
  }
}

function blocksOf(message: Spot): readonly Spot[] {
  const content = inside(message, "content")
  if (content === undefined) return []
  return Array.isArray(content.value) ? itemsOf(content) : [content]
}

function blockText(block: Spot) {
  return stringHere(block) ?? nonEmptyTextUnder(block, "text")
}

function promptBlock(block: Spot): PartDraft<"text" | "file">[] {
  const text = blockText(block)
  if (text !== undefined) return text.value === "" ? [] : userTextParts(text, undefined)
  const holder = inside(block, "image_url")
  const url = holder && stringUnder(holder, "url")
  return url === undefined ? [] : [fileOfUrl(url)]
}

function textBlock(block: Spot): PartDraft<"text">[] {
  const text = blockText(block)
  return text === undefined || text.value === "" ? [] : [textPart({ provenance: "conversational", text })]
}

function calls(message: Spot): PartDraft<"tool_call">[] {
  return itemsOf(inside(message, "tool_calls")).flatMap((call) => functionCall(call) ?? [])
}

function toolMessage(message: Spot): MessageDraft | undefined {
  const callId = nonEmptyStringUnder(message, "tool_call_id")
  const result = jsonUnder(message, "content")
  if (callId === undefined || result === undefined) return undefined
  return { role: "tool", parts: [toolResultPart({ provenance: "injected", callId, result })] }
}
