/** The blocks of a message of Goose as parts. A block that is not understood keeps its place, and is named. */

import {
  asJson,
  copied,
  flagOf,
  isAt,
  jsonHere,
  jsonUnder,
  nonEmptyStringUnder,
  type Placed,
  type Sealed,
  stringUnder,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import {
  filePart,
  injectedText,
  opaquePart,
  type PartDraft,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from "../parts.ts"
import { inside, itemsOf, type Spot, wordUnder } from "../spot.ts"

type UserPart = PartDraft<"text" | "file" | "opaque">
type ToolPart = PartDraft<"tool_result">
type ModelPart = PartDraft<"text" | "file" | "reasoning" | "tool_call" | "opaque">

export type UserRun =
  | { readonly role: "user"; readonly parts: UserPart[] }
  | { readonly role: "tool"; readonly parts: ToolPart[] }

/** What a person said, and what tools gave back, each in separate messages. `injected`: none of it is a person's. */
export function userRuns(content: Spot, injected: string | undefined, note: Note): UserRun[] {
  const runs: UserRun[] = []
  for (const block of itemsOf(content)) {
    const result = wordUnder(block.value, "type") === "toolResponse" ? resultPart(block) : undefined
    const last = runs.at(-1)
    if (result !== undefined) {
      if (last?.role === "tool") last.parts.push(result)
      else runs.push({ role: "tool", parts: [result] })
    } else if (last?.role === "user") last.parts.push(...userBlock(block, injected, note))
    else runs.push({ role: "user", parts: userBlock(block, injected, note) })
  }
  return runs.length === 0 ? [{ role: "user", parts: [] }] : runs
}

/** Texts that are the client's as a whole. */
const OPENINGS: readonly (readonly [opening: RegExp, injected: string])[] = [
  [/^<turn-context>[\s\S]*<\/turn-context>\s*$/, "environment-context"],
  [/^<info-msg>[\s\S]*<\/info-msg>\s*$/, "environment-context"],
]

function userBlock(block: Spot, injected: string | undefined, note: Note): UserPart[] {
  const text = wordUnder(block.value, "type") === "text" ? stringUnder(block, "text") : undefined
  if (text === undefined) return otherBlock(block, note)
  if (text.value === "") return []
  const kind = injected ?? OPENINGS.find(([opening]) => opening.test(text.value))?.[1]
  return [kind === undefined ? textPart({ provenance: "conversational", text }) : injectedText(text, kind)]
}

export function modelParts(content: Spot, note: Note): ModelPart[] {
  return itemsOf(content).flatMap((block) => modelBlock(block, note))
}

const CALLS: ReadonlySet<string | undefined> = new Set(["toolRequest", "frontendToolRequest"])

function modelBlock(block: Spot, note: Note): ModelPart[] {
  const type = wordUnder(block.value, "type")
  const text = type === "text" ? stringUnder(block, "text") : undefined
  if (text !== undefined) return text.value === "" ? [] : [textPart({ provenance: "conversational", text })]
  const thought = thoughtIn(block, type)
  if (thought !== undefined) return [reasoningPart({ provenance: "conversational", text: thought })]
  if (!CALLS.has(type)) return otherBlock(block, note)
  const call = callPart(block)
  if (call !== undefined) return [call]
  // What the model called could not be read: what it was is not there.
  const isKnown = wordUnder(inside(block, "toolCall")?.value, "status") === "error"
  return otherBlock(block, isKnown ? () => undefined : note)
}

function thoughtIn(block: Spot, type: string | undefined): Placed<string> | undefined {
  if (type === "thinking") return stringUnder(block, "thinking")
  return type === "reasoning" ? stringUnder(block, "text") : undefined
}

/** A call that could not be read has no name: its error stays in the record. */
function callPart(block: Spot): PartDraft<"tool_call"> | undefined {
  const called = inside(block, "toolCall")
  const value = called && inside(called, "value")
  const callId = nonEmptyStringUnder(block, "id")
  const name = value && nonEmptyStringUnder(value, "name")
  if (value === undefined || callId === undefined || name === undefined) return undefined
  const params = jsonUnder(value, "arguments") ?? copied(jsonHere(value))
  return toolCallPart({ provenance: "conversational", callId, name, params })
}

function resultPart(block: Spot): ToolPart | undefined {
  const callId = nonEmptyStringUnder(block, "id")
  const outer = inside(block, "toolResult")
  if (callId === undefined || outer === undefined) return undefined
  const { result, isFailure } = resultIn(outer)
  return toolResultPart({ provenance: "injected", callId, isFailure, result })
}

interface Result {
  readonly result: Placed<ReturnType<typeof jsonHere>["value"]>
  readonly isFailure: Sealed<boolean> | undefined
}

/** `{status, value: {content, isError}}`; at first the value was the content itself; an error says it in words. */
function resultIn(outer: Spot): Result {
  const error = stringUnder(outer, "error")
  if (error !== undefined) return { result: asJson(error), isFailure: isAt(outer.value, "error", "status") }
  const value = inside(outer, "value")
  if (value === undefined) return { result: copied(jsonHere(outer)), isFailure: undefined }
  return { result: jsonUnder(value, "content") ?? jsonHere(value), isFailure: flagOf(value.value, "isError") }
}

/** Kinds that say how it went, or are sealed: nothing of them is sent as a text. */
const KNOWN: ReadonlySet<string | undefined> = new Set([
  ...["redactedThinking", "toolConfirmationRequest", "actionRequired", "systemNotification"],
  ...["conversationCompacted", "contextLengthExceeded", "summarizationRequested"],
])

function otherBlock(block: Spot, note: Note): PartDraft<"file" | "opaque">[] {
  const type = wordUnder(block.value, "type")
  const data = stringUnder(block, "data")
  if (type === "image" && data !== undefined) {
    const mediaType = nonEmptyStringUnder(block, "mimeType")
    return [filePart({ provenance: "conversational", mediaType, data: { base64: data } })]
  }
  if (!KNOWN.has(type)) note("unknown_part", type ?? "a block of no type")
  const kind = nonEmptyStringUnder(block, "type")
  return kind === undefined ? [] : [opaquePart({ provenance: "injected", kind })]
}
