/**
 * The content of a message as parts: the blocks of the Anthropic API, which several clients keep as they are sent. Knows one
 * message. A block that is not understood is kept in its place and named. What a client puts into a person's text is for the
 * client to read.
 */
import type { Provenance } from "../../model/session.ts"
import {
  copied,
  flagOf,
  isAt,
  jsonHere,
  jsonUnder,
  nameOf,
  nonEmptyStringUnder,
  type Placed,
  plain,
  stringHere,
  stringUnder,
} from "../extract.ts"
import {
  type FileSource,
  filePart,
  injectedText,
  opaquePart,
  type PartDraft,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from "../parts.ts"
import { inside, itemOf, type Spot, wordUnder } from "../spot.ts"

export type UserDraft = PartDraft<"text" | "file" | "opaque">
export type ToolDraft = PartDraft<"tool_result" | "opaque">
export type AssistantDraft = PartDraft<"text" | "file" | "reasoning" | "tool_call" | "tool_result" | "opaque">

/** The parts of a text in the user's place. `injected` says what put the whole of it there, if not a person. */
export type ReadUserText = (text: Placed<string>, injected: string | undefined) => PartDraft<"text">[]

/** Parts that stand together in one message: results of tools are a separate message. */
export type UserRun =
  | { readonly role: "user"; readonly parts: UserDraft[] }
  | { readonly role: "tool"; readonly parts: ToolDraft[] }

/**
 * The content is a text, or a list of blocks. `injected` says what put the whole of it there, if not a person; `unknown` gets
 * the kinds of blocks that are kept without being understood.
 */
export function userRuns(
  content: Spot,
  injected: string | undefined,
  unknown: string[],
  readText: ReadUserText,
): UserRun[] | undefined {
  const text = stringHere(content)
  if (text !== undefined) return [{ role: "user", parts: readText(text, injected) }]
  const { value } = content
  if (!Array.isArray(value)) return undefined
  const runs: UserRun[] = []
  for (let index = 0; index < value.length; index++) {
    const block = itemOf(content, index)
    const type = wordUnder(block.value, "type")
    const last = runs[runs.length - 1]
    if (type === "tool_result") {
      const part = toolResult(block) ?? unreadBlock(block, "injected", unknown)
      if (part === undefined) continue
      if (last?.role === "tool") last.parts.push(part)
      else runs.push({ role: "tool", parts: [part] })
      continue
    }
    const parts = userBlockParts(block, type, { injected, unknown, readText })
    if (last?.role === "user") last.parts.push(...parts)
    else runs.push({ role: "user", parts })
  }
  return runs.length === 0 ? [{ role: "user", parts: [] }] : runs
}

export function assistantParts(
  content: Spot,
  injected: string | undefined,
  unknown: string[],
): AssistantDraft[] | undefined {
  const { value } = content
  if (!Array.isArray(value)) {
    const text = assistantText(content, injected)
    return text && [text]
  }
  const parts: AssistantDraft[] = []
  for (let index = 0; index < value.length; index++) {
    const part = assistantBlock(itemOf(content, index), injected, unknown)
    if (part !== undefined) parts.push(part)
  }
  return parts
}

// --- Single blocks ----------------------------------------------------------------------------------------------------

interface Reading {
  readonly injected: string | undefined
  readonly unknown: string[]
  readonly readText: ReadUserText
}

function userBlockParts(block: Spot, type: string | undefined, { injected, unknown, readText }: Reading): UserDraft[] {
  const text = type === undefined ? stringHere(block) : undefined
  if (text !== undefined) return readText(text, injected)
  if (type === "text") {
    const inner = stringUnder(block, "text")
    if (inner !== undefined) return readText(inner, injected)
  }
  const provenance = injected === undefined ? "conversational" : "injected"
  const part =
    type === "image" || type === "document" ? fileBlock(block, provenance) : unreadBlock(block, provenance, unknown)
  return part === undefined ? [] : [part]
}

function assistantBlock(block: Spot, injected: string | undefined, unknown: string[]): AssistantDraft | undefined {
  const type = wordUnder(block.value, "type")
  const read = readAssistantBlock(block, type, injected)
  if (read !== undefined) return read
  const provenance = injected === undefined ? "conversational" : "injected"
  if (type === "image" || type === "document") return fileBlock(block, provenance)
  // Reasoning that the provider hides, and the note that another model answered: nothing to read in either.
  const isKnown = type === "redacted_thinking" || type === "fallback"
  return unreadBlock(block, provenance, isKnown ? [] : unknown)
}

function readAssistantBlock(
  block: Spot,
  type: string | undefined,
  injected: string | undefined,
): AssistantDraft | undefined {
  if (type === undefined) return assistantText(block, injected)
  if (type === "text") return said(stringUnder(block, "text"), injected)
  if (type === "thinking") {
    const text = stringUnder(block, "thinking")
    return text && reasoningPart({ provenance: "conversational", text })
  }
  if (type.endsWith("tool_use")) return toolCall(block, type)
  return type.endsWith("tool_result") ? toolResult(block) : undefined
}

function assistantText(spot: Spot, injected: string | undefined): PartDraft<"text"> | undefined {
  return said(stringHere(spot), injected)
}

function said(text: Placed<string> | undefined, injected: string | undefined): PartDraft<"text"> | undefined {
  if (text === undefined) return undefined
  return injected === undefined ? textPart({ provenance: "conversational", text }) : injectedText(text, injected)
}

/** `server_tool_use` and `mcp_tool_use` ran at the provider, who wrote their results into the same message. */
function toolCall(block: Spot, type: string): PartDraft<"tool_call"> | undefined {
  const callId = nonEmptyStringUnder(block, "id")
  const name = nameOf(block.value, "name")
  const params = jsonUnder(block, "input")
  if (callId === undefined || name === undefined || params === undefined) return undefined
  const isOwn = type !== "server_tool_use" && type !== "mcp_tool_use"
  const providerExecuted = isOwn ? undefined : isAt(block.value, type, "type")
  return toolCallPart({ provenance: "conversational", callId, name, params, providerExecuted })
}

/** What a tool gave back is the harness's text, whoever asked for it. */
function toolResult(block: Spot): PartDraft<"tool_result"> | undefined {
  const callId = nonEmptyStringUnder(block, "tool_use_id")
  if (callId === undefined) return undefined
  // A result without content says that there was none. The block itself says so, and stays where it is.
  const result = jsonUnder(block, "content") ?? copied(jsonHere(block))
  const isFailure = flagOf(block.value, "is_error")
  return toolResultPart({ provenance: "injected", callId, isFailure, result })
}

function fileBlock(block: Spot, provenance: Provenance): PartDraft<"file" | "opaque"> | undefined {
  const source = inside(block, "source")
  const data = source === undefined ? undefined : fileSource(source)
  if (source === undefined || data === undefined) return unreadBlock(block, provenance, [])
  const mediaType = nonEmptyStringUnder(source, "media_type")
  return filePart({ provenance, mediaType, fileName: nonEmptyStringUnder(block, "title"), data })
}

function fileSource(source: Spot): FileSource | undefined {
  const type = wordUnder(source.value, "type")
  const data = stringUnder(source, "data")
  if (type === "base64" && data !== undefined) return { base64: data }
  if (type === "text" && data !== undefined) return { text: data }
  const url = stringUnder(source, "url")
  return url === undefined ? undefined : { url }
}

function unreadBlock(block: Spot, provenance: Provenance, unknown: string[]): PartDraft<"opaque"> | undefined {
  const kind = nonEmptyStringUnder(block, "type")
  unknown.push(kind === undefined ? "untyped" : plain(kind))
  return kind === undefined ? undefined : opaquePart({ provenance, kind })
}
