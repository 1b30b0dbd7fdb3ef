/** Messages as the command line of Cursor keeps and logs them: a role, and a text or blocks. */
import {
  asJson,
  flagOf,
  jsonUnder,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  type Placed,
  splitAt,
  stringUnder,
} from "../extract.ts"
import {
  injectedText,
  opaquePart,
  type PartDraft,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from "../parts.ts"
import { isFilled, type MessageDraft } from "../session-writer.ts"
import { inside, itemsOf, type Spot, wordUnder } from "../spot.ts"

export function roleDrafts(message: Spot, role: string | undefined = wordUnder(message.value, "role")): MessageDraft[] {
  const text = stringUnder(message, "content")
  const blocks = itemsOf(inside(message, "content"))
  switch (role) {
    case "system":
      return text === undefined ? [] : [{ role, content: text }]
    case "user": {
      const parts = text === undefined ? blocks.flatMap(userParts) : typedParts(text)
      return isFilled(parts) ? [{ role, parts }] : []
    }
    case "assistant": {
      const said = text === undefined || text.value === "" ? [] : [textPart({ provenance: "conversational", text })]
      const parts = [...said, ...blocks.flatMap(saidParts)]
      return isFilled(parts) ? [{ role, parts, pond: modelFacts(message) }] : []
    }
    case "tool": {
      const parts = blocks.flatMap(resultParts)
      return isFilled(parts) ? [{ role, parts }] : []
    }
    default:
      return []
  }
}

function modelFacts(message: Spot): MessageDraft["pond"] {
  const options = inside(message, "providerOptions")
  const model = wordUnder(options && inside(options, "cursor")?.value, "modelName")
  return model === undefined ? undefined : { model }
}

const QUERY = /<user_query>\n?([\s\S]*?)\n?<\/user_query>/

/** What a person typed stands between tags; what stands around it the program said. Without tags all was typed. */
function typedParts(text: Placed<string>): PartDraft<"text">[] {
  const found = QUERY.exec(text.value)
  const typed = found?.[1] ?? ""
  if (found === null) {
    if (text.value.trim() === "") return []
    const isTold = /^\s*<(?:user_info|project_layout|git_status|rules|system_reminder|timestamp|agent_skills)/.test(
      text.value,
    )
    const pond = isTold ? { injected: "context" } : undefined
    return [textPart({ provenance: isTold ? "injected" : "conversational", text, pond })]
  }
  const from = found.index + found[0].indexOf(typed)
  let at = 0
  return splitAt(text, [from, from + typed.length]).map((piece) => {
    const isTyped = at === from
    at += piece.value.length
    if (isTyped) return textPart({ provenance: "conversational", text: piece })
    return injectedText(piece, "context")
  })
}

function userParts(block: Spot): PartDraft<"text" | "opaque">[] {
  const text = wordUnder(block.value, "type") === "text" ? stringUnder(block, "text") : undefined
  return text === undefined ? unread(block) : typedParts(text)
}

function unread(block: Spot): PartDraft<"opaque">[] {
  const kind = nonEmptyStringUnder(block, "type")
  return kind === undefined ? [] : [opaquePart({ provenance: "injected", kind })]
}

function saidParts(block: Spot): PartDraft<"text" | "reasoning" | "tool_call" | "opaque">[] {
  const text = nonEmptyTextUnder(block, "text")
  switch (wordUnder(block.value, "type")) {
    case "text":
      return text === undefined ? [] : [textPart({ provenance: "conversational", text })]
    case "reasoning":
      return text === undefined ? [] : [reasoningPart({ provenance: "conversational", text })]
    case "tool-call":
    case "tool_use": {
      const name = nonEmptyStringUnder(block, "toolName") ?? nonEmptyStringUnder(block, "name")
      const callId = nonEmptyStringUnder(block, "toolCallId") ?? nonEmptyStringUnder(block, "id")
      const params = jsonUnder(block, "args") ?? jsonUnder(block, "input")
      if (name === undefined || params === undefined) return unread(block)
      // A transcript says no id, and no result: the name has to do.
      return [toolCallPart({ provenance: "conversational", callId: callId ?? name, name, params })]
    }
    default:
      return unread(block)
  }
}

function resultParts(block: Spot): PartDraft<"tool_result">[] {
  const callId = nonEmptyStringUnder(block, "toolCallId")
  const text = stringUnder(block, "result")
  const result = text === undefined ? jsonUnder(block, "result") : asJson(text)
  if (callId === undefined || result === undefined) return []
  const name = nonEmptyStringUnder(block, "toolName")
  return [toolResultPart({ provenance: "injected", callId, name, isFailure: flagOf(block.value, "isError"), result })]
}
