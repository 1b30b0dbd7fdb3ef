/**
 * The text of a message that is searched as conversation: one function for every client, from canonical fields alone.
 * Reasoning, tool calls, tool results and injected text are left out; they are found through their parts.
 */
import type { Entry } from "../../model/session.ts"

/** Nothing for messages that hold no conversation: carriers, bare tool calls, injected text. */
export function searchText({ message, parts }: Entry): string | null {
  if (message.role === "system" || message.role === "tool") return null
  const texts: string[] = []
  for (const part of parts) {
    if (part.provenance !== "conversational") continue
    if (part.type === "text") texts.push(part.text)
    if (part.type === "file") texts.push([part.file_name, part.media_type].filter(Boolean).join(" "))
  }
  const text = texts.join("\n").trim()
  return text === "" ? null : text
}
