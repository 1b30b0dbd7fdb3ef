/**
 * The content of one record as parts: the blocks of the Anthropic API, each where it stood.
 * Knows one record. A block that is not understood is kept in its place and named.
 */
import type { JsonValue } from "../../model/json.ts"
import type { Provenance } from "../../model/session.ts"
import { booleanAt, copied, isAt, jsonAt, nonEmptyStringAt, type PathKey, stringAt, valueAt } from "../extract.ts"
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

/** `at` leads to the content: a text, or a list of blocks. `injected` says what put the whole of it there, if not a person. */
export function userRuns(
  record: JsonValue,
  at: readonly PathKey[],
  injected: string | undefined,
): Blocks<UserRun[]> | undefined {
  const text = stringAt(record, ...at)
  if (text !== undefined) return { parts: [{ role: "user", parts: userTextParts(text, injected) }], unknown: [] }
  const blocks = valueAt(record, ...at)
  if (!Array.isArray(blocks)) return undefined
  const runs: UserRun[] = []
  const unknown: string[] = []
  for (const index of blocks.keys()) {
    const here = [...at, index]
    const type = blockType(record, here)
    if (type === "tool_result") {
      const last = runs.at(-1)
      const part = toolResult(record, here) ?? unreadBlock(record, here, "injected", unknown)
      if (part === undefined) continue
      if (last?.role === "tool") last.parts.push(part)
      else runs.push({ role: "tool", parts: [part] })
      continue
    }
    const parts = userBlock(record, here, type, injected, unknown)
    const last = runs.at(-1)
    if (last?.role === "user") last.parts.push(...parts)
    else runs.push({ role: "user", parts })
  }
  return { parts: runs.length === 0 ? [{ role: "user", parts: [] }] : runs, unknown }
}

export function assistantParts(
  record: JsonValue,
  at: readonly PathKey[],
  injected: string | undefined,
): Blocks<AssistantDraft[]> | undefined {
  const text = stringAt(record, ...at)
  if (text !== undefined) return { parts: [assistantText(record, at, injected)].filter(isPresent), unknown: [] }
  const blocks = valueAt(record, ...at)
  if (!Array.isArray(blocks)) return undefined
  const unknown: string[] = []
  const parts = [...blocks.keys()].map((index) => assistantBlock(record, [...at, index], injected, unknown))
  return { parts: parts.filter(isPresent), unknown }
}

// --- Single blocks ----------------------------------------------------------------------------------------------------

function userBlock(
  record: JsonValue,
  at: readonly PathKey[],
  type: string | undefined,
  injected: string | undefined,
  unknown: string[],
): UserDraft[] {
  const text = type === undefined ? stringAt(record, ...at) : undefined
  if (text !== undefined) return userTextParts(text, injected)
  if (type === "text") {
    const inner = stringAt(record, ...at, "text")
    if (inner !== undefined) return userTextParts(inner, injected)
  }
  const provenance = injected === undefined ? "conversational" : "injected"
  const part =
    type === "image" || type === "document"
      ? fileBlock(record, at, provenance)
      : unreadBlock(record, at, provenance, unknown)
  return part === undefined ? [] : [part]
}

function assistantBlock(
  record: JsonValue,
  at: readonly PathKey[],
  injected: string | undefined,
  unknown: string[],
): AssistantDraft | undefined {
  const type = blockType(record, at)
  const provenance = injected === undefined ? "conversational" : "injected"
  const read = readAssistantBlock(record, at, type, injected)
  if (read !== undefined) return read
  if (type === "image" || type === "document") return fileBlock(record, at, provenance)
  // Reasoning that the provider hides, and the note that another model answered: nothing to read in either.
  const isKnown = type === "redacted_thinking" || type === "fallback"
  return unreadBlock(record, at, provenance, isKnown ? [] : unknown)
}

function readAssistantBlock(
  record: JsonValue,
  at: readonly PathKey[],
  type: string | undefined,
  injected: string | undefined,
): AssistantDraft | undefined {
  if (type === undefined) return assistantText(record, at, injected)
  if (type === "text") return assistantText(record, [...at, "text"], injected)
  if (type.endsWith("tool_use")) return toolCall(record, at)
  if (type.endsWith("tool_result")) return toolResult(record, at)
  const text = type === "thinking" ? stringAt(record, ...at, "thinking") : undefined
  return text === undefined ? undefined : reasoningPart({ provenance: "conversational", text })
}

function assistantText(
  record: JsonValue,
  at: readonly PathKey[],
  injected: string | undefined,
): PartDraft<"text"> | undefined {
  const text = stringAt(record, ...at)
  if (text === undefined) return undefined
  return injected === undefined ? textPart({ provenance: "conversational", text }) : injectedPart(text, injected)
}

/** `server_tool_use` and `mcp_tool_use` ran at the provider, who wrote their results into the same message. */
function toolCall(record: JsonValue, at: readonly PathKey[]): PartDraft<"tool_call"> | undefined {
  const callId = nonEmptyStringAt(record, ...at, "id")
  const name = stringAt(record, ...at, "name")
  const params = jsonAt(record, ...at, "input")
  if (callId === undefined || name === undefined || params === undefined) return undefined
  const isServer = isAt(record, "server_tool_use", ...at, "type")
  const providerExecuted = isServer?.value === true ? isServer : isAt(record, "mcp_tool_use", ...at, "type")
  return toolCallPart({ provenance: "conversational", callId, name, params, providerExecuted })
}

/** What a tool gave back is the harness's text, whoever asked for it. */
function toolResult(record: JsonValue, at: readonly PathKey[]): PartDraft<"tool_result"> | undefined {
  const callId = nonEmptyStringAt(record, ...at, "tool_use_id")
  const block = jsonAt(record, ...at)
  if (callId === undefined || block === undefined) return undefined
  // A result without content says that there was none. The block itself says so, and stays where it is.
  const result = jsonAt(record, ...at, "content") ?? copied(block)
  const isFailure = booleanAt(record, ...at, "is_error")
  return toolResultPart({ provenance: "injected", callId, isFailure, result })
}

function fileBlock(
  record: JsonValue,
  at: readonly PathKey[],
  provenance: Provenance,
): PartDraft<"file" | "opaque"> | undefined {
  const data = fileSource(record, at)
  if (data === undefined) return unreadBlock(record, at, provenance, [])
  const mediaType = nonEmptyStringAt(record, ...at, "source", "media_type")
  return filePart({ provenance, mediaType, fileName: nonEmptyStringAt(record, ...at, "title"), data })
}

function fileSource(record: JsonValue, at: readonly PathKey[]): FileSource | undefined {
  const type = valueAt(record, ...at, "source", "type")
  const data = stringAt(record, ...at, "source", "data")
  if (type === "base64" && data !== undefined) return { base64: data }
  if (type === "text" && data !== undefined) return { text: data }
  const url = stringAt(record, ...at, "source", "url")
  return url === undefined ? undefined : { url }
}

function unreadBlock(
  record: JsonValue,
  at: readonly PathKey[],
  provenance: Provenance,
  unknown: string[],
): PartDraft<"opaque"> | undefined {
  const kind = nonEmptyStringAt(record, ...at, "type")
  unknown.push(kind?.value ?? "untyped")
  return kind === undefined ? undefined : opaquePart({ provenance, kind })
}

function blockType(record: JsonValue, at: readonly PathKey[]): string | undefined {
  const type = valueAt(record, ...at, "type")
  return typeof type === "string" ? type : undefined
}

function isPresent<T>(value: T | undefined): value is T {
  return value !== undefined
}
