/**
 * The content of one record as parts: the blocks of the Anthropic API, each where it stood.
 * Knows one record. A block that is not understood is kept in its place and named.
 */
import type { Provenance } from "../../model/session.ts"
import {
  booleanAt,
  copied,
  isAt,
  jsonHere,
  jsonUnder,
  nonEmptyStringUnder,
  type Sealed,
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
import { injectedPart, userTextParts } from "./provenance.ts"

export type UserDraft = PartDraft<"text" | "file" | "opaque">
export type ToolDraft = PartDraft<"tool_result" | "opaque">
export type AssistantDraft = PartDraft<"text" | "file" | "reasoning" | "tool_call" | "tool_result" | "opaque">

/** Parts that stand together in one message: results of tools are a message of their own. */
export type UserRun =
  | { readonly role: "user"; readonly parts: UserDraft[] }
  | { readonly role: "tool"; readonly parts: ToolDraft[] }

export interface Blocks<T> {
  readonly parts: T
  /** The kinds of blocks that were kept without being understood. */
  readonly unknown: readonly string[]
}

/** The content is a text, or a list of blocks. `injected` says what put the whole of it there, if not a person. */
export function userRuns(content: Spot, injected: string | undefined): Blocks<UserRun[]> | undefined {
  const text = stringHere(content)
  if (text !== undefined) return { parts: [{ role: "user", parts: userTextParts(text, injected) }], unknown: [] }
  if (!Array.isArray(content.value)) return undefined
  const runs: UserRun[] = []
  const unknown: string[] = []
  for (const block of itemsOf(content)) {
    const type = wordUnder(block.value, "type")
    const last = runs.at(-1)
    if (type === "tool_result") {
      const part = toolResult(block) ?? unreadBlock(block, "injected", unknown)
      if (part === undefined) continue
      if (last?.role === "tool") last.parts.push(part)
      else runs.push({ role: "tool", parts: [part] })
      continue
    }
    const parts = userBlock(block, type, injected, unknown)
    if (last?.role === "user") last.parts.push(...parts)
    else runs.push({ role: "user", parts })
  }
  return { parts: runs.length === 0 ? [{ role: "user", parts: [] }] : runs, unknown }
}

export function assistantParts(content: Spot, injected: string | undefined): Blocks<AssistantDraft[]> | undefined {
  const text = assistantText(content, injected)
  if (text !== undefined) return { parts: [text], unknown: NOTHING_UNKNOWN }
  if (!Array.isArray(content.value)) return undefined
  const unknown: string[] = []
  const parts: AssistantDraft[] = []
  for (const block of itemsOf(content)) {
    const part = assistantBlock(block, injected, unknown)
    if (part !== undefined) parts.push(part)
  }
  return { parts, unknown }
}

const NOTHING_UNKNOWN: readonly string[] = []

// --- Single blocks ----------------------------------------------------------------------------------------------------

function userBlock(
  block: Spot,
  type: string | undefined,
  injected: string | undefined,
  unknown: string[],
): UserDraft[] {
  const text = type === undefined ? stringHere(block) : undefined
  if (text !== undefined) return userTextParts(text, injected)
  if (type === "text") {
    const inner = stringUnder(block, "text")
    if (inner !== undefined) return userTextParts(inner, injected)
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
  if (type.endsWith("tool_use")) return toolCall(block, type)
  if (type.endsWith("tool_result")) return toolResult(block)
  const text = type === "thinking" ? stringUnder(block, "thinking") : undefined
  return text === undefined ? undefined : reasoningPart({ provenance: "conversational", text })
}

function assistantText(spot: Spot, injected: string | undefined): PartDraft<"text"> | undefined {
  return said(stringHere(spot), injected)
}

function said(text: Sealed<string> | undefined, injected: string | undefined): PartDraft<"text"> | undefined {
  if (text === undefined) return undefined
  return injected === undefined ? textPart({ provenance: "conversational", text }) : injectedPart(text, injected)
}

/** `server_tool_use` and `mcp_tool_use` ran at the provider, who wrote their results into the same message. */
function toolCall(block: Spot, type: string): PartDraft<"tool_call"> | undefined {
  const callId = nonEmptyStringUnder(block, "id")
  const name = stringUnder(block, "name")
  const params = jsonUnder(block, "input")
  if (callId === undefined || name === undefined || params === undefined) return undefined
  const provider = type === "server_tool_use" ? "server_tool_use" : "mcp_tool_use"
  const providerExecuted = isAt(block.value, provider, "type")
  return toolCallPart({ provenance: "conversational", callId, name, params, providerExecuted })
}

/** What a tool gave back is the harness's text, whoever asked for it. */
function toolResult(block: Spot): PartDraft<"tool_result"> | undefined {
  const callId = nonEmptyStringUnder(block, "tool_use_id")
  if (callId === undefined) return undefined
  // A result without content says that there was none. The block itself says so, and stays where it is.
  const result = jsonUnder(block, "content") ?? copied(jsonHere(block))
  const isFailure = booleanAt(block.value, "is_error")
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
  unknown.push(kind?.value ?? "untyped")
  return kind === undefined ? undefined : opaquePart({ provenance, kind })
}
