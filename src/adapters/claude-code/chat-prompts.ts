/**
 * Prompts that NanoClaw puts together out of what people wrote in a chat: where and when, then each message in a tag with its
 * sender. What is in the tags of messages was written by people, as it is escaped there; all else is the program's.
 */
import { type Placed, splitAt } from "../extract.ts"
import { injectedText, type PartDraft, textPart } from "../parts.ts"
import { userTextParts } from "./provenance.ts"

const PUT_TOGETHER = /^\s*<(?:context|messages?|task|system)[\s>]/
const MESSAGE = /<message(?:\s[^<>]*)?>([\s\S]*?)<\/message>/g

export function chatTextParts(text: Placed<string>, injected: string | undefined): PartDraft<"text">[] {
  if (injected !== undefined || !PUT_TOGETHER.test(text.value)) return userTextParts(text, injected)
  const written = new Set<number>()
  const offsets: number[] = []
  for (const { 0: whole, 1: inner = "", index } of text.value.matchAll(MESSAGE)) {
    const end = index + whole.length - "</message>".length
    if (inner.trim() === "") continue
    written.add(end)
    offsets.push(end - inner.length, end)
  }
  let at = 0
  return splitAt(text, offsets).map((piece) => {
    at += piece.value.length
    return written.has(at) ? textPart({ provenance: "conversational", text: piece }) : injectedText(piece, "context")
  })
}
