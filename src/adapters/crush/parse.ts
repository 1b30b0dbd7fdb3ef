/**
 * Crush to canonical: a session has rows of messages, each with its parts. Reads top to bottom: the session, a message, its parts.
 */
import {
  asJson,
  flagOf,
  jsonOrText,
  matchIn,
  momentOf,
  momentOfSeconds,
  nonEmptyOf,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  type Sealed,
  sealedOrigin,
  stringUnder,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import {
  filePart,
  injectedText,
  type PartDraft,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from "../parts.ts"
import type { MessageDraft } from "../session-writer.ts"
import { unknownBlock } from "../shared/common-parts.ts"
import { type Known, listedDocument, spoken } from "../shared/listed-document.ts"
import { fieldsOf, type SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, valueUnder, wordUnder } from "../spot.ts"

export const BRAND = { id: "crush", title: "Crush" }

export const session = listedDocument({
  brand: BRAND,
  key: "messages",
  start,
  title: (document) => wordUnder(fieldsOf(document)["session"], "title"),
  facts: (item) => ({ id: nonEmptyOf(item, "id"), timestamp: rowMoment(item, "created_at") }),
  drafts,
})

/** A session of an agent is named after the message and the call that started it, or after the call alone. */
function start(document: SourceValue): Known {
  const row: SourceValue = valueUnder(document, "session") ?? null
  const parent = nonEmptyOf(row, "parent_session_id")
  const id = nonEmptyOf(row, "id")
  const isAgent = parent !== undefined && id !== undefined && matchIn(id, /(\$\$|^(?:call|toolu)_)/) !== undefined
  const known: Known = { id, createdAt: rowMoment(row, "created_at"), parentSessionId: parent }
  const agent = isAgent ? nonEmptyOf(row, "title") : undefined
  return agent === undefined ? known : { ...known, sourceAgent: sealedOrigin(BRAND, agentWord(agent)) }
}

function agentWord(title: Sealed<string>): Sealed<string> {
  return matchIn(title, /^([\w-]{1,40})/) ?? title
}

/** Seconds in some rows, milliseconds in others. */
function rowMoment(row: SourceValue, key: string): Sealed<string> | undefined {
  const value = valueUnder(row, key)
  return typeof value === "number" && value < 1e11 ? momentOfSeconds(row, key) : momentOf(row, key)
}

function drafts(message: Spot, note: Note): MessageDraft[] {
  const role = wordUnder(message.value, "role")
  const parts = itemsOf(inside(message, "parts"))
  const isSummary = valueUnder(message.value, "is_summary_message") === 1
  if (isSummary) return spoken({ role: "user", parts: parts.flatMap(summaryParts) })
  switch (role) {
    case "user":
      return spoken({ role, parts: parts.flatMap((part) => userParts(part, note)) })
    case "assistant": {
      const model = wordUnder(message.value, "model")
      const pond = model === undefined ? undefined : { model }
      return spoken({ role, pond, parts: parts.flatMap((part) => saidParts(part, note)) })
    }
    case "tool":
      return spoken({ role, parts: parts.flatMap(resultParts) })
    case "system":
      return []
    default:
      note("unknown_record", `a message of ${role ?? "nobody"}`)
      return []
  }
}

function summaryParts(part: Spot): PartDraft<"text">[] {
  const data = inside(part, "data")
  const text = data && nonEmptyTextUnder(data, "text")
  return text === undefined ? [] : [injectedText(text, "compact-summary")]
}

function userParts(part: Spot, note: Note): PartDraft<"text" | "file" | "opaque">[] {
  const data = inside(part, "data")
  if (data === undefined) return unknownBlock(part, note)
  switch (wordUnder(part.value, "type")) {
    case "text": {
      const text = nonEmptyTextUnder(data, "text")
      return text === undefined ? [] : [textPart({ provenance: "conversational", text })]
    }
    case "binary": {
      const base64 = stringUnder(data, "Data")
      const [mediaType, fileName] = [nonEmptyStringUnder(data, "MIMEType"), nonEmptyStringUnder(data, "Path")]
      return base64 === undefined
        ? []
        : [filePart({ provenance: "conversational", mediaType, fileName, data: { base64 } })]
    }
    case "image_url": {
      const url = stringUnder(data, "url")
      return url === undefined ? [] : [filePart({ provenance: "conversational", mediaType: undefined, data: { url } })]
    }
    // What a person ran, and what came of it.
    case "shell_command":
      return ["command", "output"].flatMap((key) => {
        const text = nonEmptyTextUnder(data, key)
        const provenance = key === "command" ? "conversational" : "injected"
        return text === undefined ? [] : [textPart({ provenance, text })]
      })
    case "finish":
      return []
    default:
      return unknownBlock(part, note)
  }
}

function saidParts(part: Spot, note: Note): PartDraft<"text" | "reasoning" | "tool_call" | "opaque">[] {
  const data = inside(part, "data")
  if (data === undefined) return unknownBlock(part, note)
  switch (wordUnder(part.value, "type")) {
    case "text": {
      const text = nonEmptyTextUnder(data, "text")
      return text === undefined ? [] : [textPart({ provenance: "conversational", text })]
    }
    case "reasoning": {
      const text = nonEmptyTextUnder(data, "thinking")
      return text === undefined ? [] : [reasoningPart({ provenance: "conversational", text })]
    }
    case "tool_call": {
      const [callId, name] = [nonEmptyStringUnder(data, "id"), nonEmptyStringUnder(data, "name")]
      const text = stringUnder(data, "input")
      if (callId === undefined || name === undefined || text === undefined) return unknownBlock(part, note)
      const providerExecuted = flagOf(data.value, "provider_executed")
      const params = jsonOrText(text)
      return [toolCallPart({ provenance: "conversational", callId, name, params, providerExecuted })]
    }
    case "finish":
      return []
    default:
      return unknownBlock(part, note)
  }
}

function resultParts(part: Spot): PartDraft<"tool_result">[] {
  const data = inside(part, "data")
  const callId = data && nonEmptyStringUnder(data, "tool_call_id")
  const text = data && stringUnder(data, "content")
  if (callId === undefined || text === undefined || data === undefined) return []
  const name = nonEmptyStringUnder(data, "name")
  return [
    toolResultPart({
      provenance: "injected",
      callId,
      name,
      isFailure: flagOf(data.value, "is_error"),
      result: asJson(text),
    }),
  ]
}
