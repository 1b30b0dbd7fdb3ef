/** The blocks of a message, in the form of the Anthropic API, as parts. A block that is not understood keeps its place. */
import {
  asJson,
  copied,
  flagOf,
  jsonHere,
  jsonUnder,
  nonEmptyStringUnder,
  plain,
  stringHere,
  stringUnder,
} from "../extract.ts"
import {
  type FileSource,
  filePart,
  opaquePart,
  type PartDraft,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from "../parts.ts"
import { inside, itemsOf, type Spot, wordUnder } from "../spot.ts"
import { userTexts } from "./provenance.ts"

type UserPart = PartDraft<"text" | "file" | "opaque">
type ToolPart = PartDraft<"tool_result">
export type AssistantPart = PartDraft<"text" | "file" | "reasoning" | "tool_call" | "opaque">

export type UserRun =
  | { readonly role: "user"; readonly parts: UserPart[] }
  | { readonly role: "tool"; readonly parts: ToolPart[] }

/** What a person said, and results of tools, each in separate messages. `injected`: none of it is a person's. */
export function userRuns(content: Spot, injected: string | undefined, unknown: string[]): UserRun[] {
  const text = stringHere(content)
  if (text !== undefined) return [{ role: "user", parts: userTexts(text, injected) }]
  const runs: UserRun[] = []
  for (const block of itemsOf(content)) {
    const result = wordUnder(block.value, "type") === "tool_result" ? resultPart(block) : undefined
    const last = runs.at(-1)
    if (result !== undefined) {
      if (last?.role === "tool") last.parts.push(result)
      else runs.push({ role: "tool", parts: [result] })
    } else if (last?.role === "user") last.parts.push(...userBlock(block, injected, unknown))
    else runs.push({ role: "user", parts: userBlock(block, injected, unknown) })
  }
  return runs.length === 0 ? [{ role: "user", parts: [] }] : runs
}

function userBlock(block: Spot, injected: string | undefined, unknown: string[]): UserPart[] {
  const text = wordUnder(block.value, "type") === "text" ? stringUnder(block, "text") : undefined
  return text === undefined ? filesIn(block, unknown) : userTexts(text, injected)
}

export function assistantParts(content: Spot, unknown: string[]): AssistantPart[] {
  const text = stringHere(content)
  if (text !== undefined) return [textPart({ provenance: "conversational", text })]
  return itemsOf(content).flatMap((block) => assistantBlock(block, unknown))
}

function assistantBlock(block: Spot, unknown: string[]): AssistantPart[] {
  switch (wordUnder(block.value, "type")) {
    case "text": {
      const text = stringUnder(block, "text")
      if (text !== undefined) return [textPart({ provenance: "conversational", text })]
      break
    }
    case "thinking": {
      const text = stringUnder(block, "thinking")
      if (text !== undefined) return [reasoningPart({ provenance: "conversational", text })]
      break
    }
    // Nothing of it can be read, and nothing is unknown of it.
    case "redacted_thinking":
      return unread(block, [])
    case "tool_use": {
      const callId = nonEmptyStringUnder(block, "id")
      const name = nonEmptyStringUnder(block, "name")
      const params = jsonUnder(block, "input")
      if (callId !== undefined && name !== undefined && params !== undefined)
        return [toolCallPart({ provenance: "conversational", callId, name, params })]
      break
    }
    default:
      break
  }
  return filesIn(block, unknown)
}

function resultPart(block: Spot): ToolPart | undefined {
  const callId = nonEmptyStringUnder(block, "tool_use_id")
  if (callId === undefined) return undefined
  const text = stringUnder(block, "content")
  const result = text === undefined ? (jsonUnder(block, "content") ?? copied(jsonHere(block))) : asJson(text)
  return toolResultPart({ provenance: "injected", callId, isFailure: flagOf(block.value, "is_error"), result })
}

function filesIn(block: Spot, unknown: string[]): PartDraft<"file" | "opaque">[] {
  const source = inside(block, "source")
  const data = source && fileSource(source)
  if (source === undefined || data === undefined) return unread(block, unknown)
  const [mediaType, fileName] = [nonEmptyStringUnder(source, "media_type"), nonEmptyStringUnder(block, "title")]
  return [filePart({ provenance: "conversational", mediaType, fileName, data })]
}

function fileSource(source: Spot): FileSource | undefined {
  const data = stringUnder(source, "data")
  if (data !== undefined) return wordUnder(source.value, "type") === "text" ? { text: data } : { base64: data }
  const url = stringUnder(source, "url")
  return url && { url }
}

function unread(block: Spot, unknown: string[]): PartDraft<"opaque">[] {
  const kind = nonEmptyStringUnder(block, "type")
  unknown.push(kind === undefined ? "a block of no type" : plain(kind))
  return kind === undefined ? [] : [opaquePart({ provenance: "injected", kind })]
}
