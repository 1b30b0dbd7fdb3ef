/**
 * Devin's command line to canonical: a session is a list of steps, or of nodes, of which each has a message. Reads top to bottom:
 * the session, a step, a node, what both hold.
 */
import {
  asJson,
  flagOf,
  jsonOrText,
  jsonUnder,
  momentOf,
  momentOfSeconds,
  nonEmptyOf,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  stringUnder,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import { opaquePart, type PartDraft, reasoningPart, textPart, toolCallPart, toolResultPart } from "../parts.ts"
import type { MessageDraft } from "../session-writer.ts"
import { type Known, listedDocument, spoken } from "../shared/listed-document.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, itemsOf, NOWHERE, type Spot, valueUnder, wordUnder } from "../spot.ts"

export const BRAND = { id: "devin", title: "Devin CLI" }

export const session = listedDocument({
  brand: BRAND,
  key: "messages",
  start,
  title: (document) => wordUnder(valueUnder(document, "session"), "title"),
  facts: (item) => ({ timestamp: momentOf(item, "timestamp") ?? momentOfSeconds(item, "created_at") }),
  drafts: (item, note) =>
    valueUnder(item.value, "source") === undefined ? nodeDrafts(item, note) : stepDrafts(item, note),
})

function start(document: SourceValue): Known {
  const row: SourceValue = valueUnder(document, "session") ?? null
  const transcript: SourceValue = valueUnder(document, "transcript") ?? null
  return {
    id: nonEmptyOf(row, "id"),
    createdAt: momentOfSeconds(row, "created_at") ?? momentOf(transcript, "created_at"),
    project:
      nonEmptyOf(row, "working_directory") ??
      nonEmptyStringAt(transcript, "working_directory") ??
      nonEmptyStringAt(transcript, "agent", "working_directory"),
  }
}

// --- Steps of a transcript ------------------------------------------------------------------------------------------------

function stepDrafts(step: Spot, note: Note): MessageDraft[] {
  const source = wordUnder(step.value, "source")
  const text = nonEmptyTextUnder(step, "message")
  const observed = inside(inside(step, "observation") ?? NOWHERE, "results")
  const results = [
    ...itemsOf(observed).flatMap((result) => resultParts(result, "source_call_id")),
    ...itemsOf(inside(step, "tool_result")).flatMap((result) => resultParts(result, "tool_use_id")),
  ]
  const told: MessageDraft[] = [
    ...saidDrafts(
      step,
      source === "agent" ? "assistant" : source,
      text ? [spokenText(text)] : blockParts(inside(step, "message"), note),
      note,
    ),
    ...spoken({ role: "tool", parts: results }),
  ]
  return told
}

type Said = PartDraft<"text" | "reasoning" | "tool_call" | "opaque">

function spokenText(text: NonNullable<ReturnType<typeof nonEmptyTextUnder>>): PartDraft<"text"> {
  return textPart({ provenance: "conversational", text })
}

/** What a person, the model or the program said, whichever of the two forms has it. */
function saidDrafts(spot: Spot, role: string | undefined, parts: readonly Said[], note: Note): MessageDraft[] {
  if (role === "user") {
    const typed = parts.filter(
      (part): part is PartDraft<"text" | "opaque"> => isOf(part, "text") || isOf(part, "opaque"),
    )
    return spoken({ role, parts: typed })
  }
  if (role === "assistant") {
    const model = wordUnder(valueUnder(spot.value, "extra"), "generation_model") ?? wordUnder(spot.value, "model_name")
    const pond = model === undefined ? undefined : { model }
    const thought = nonEmptyTextUnder(spot, "reasoning_content") ?? nonEmptyTextUnder(spot, "thinking")
    const thoughts = thought === undefined ? [] : [reasoningPart({ provenance: "conversational", text: thought })]
    const calls = ["tool_calls", "tool_use"].flatMap((key) => itemsOf(inside(spot, key)).flatMap(callParts))
    return spoken({ role, pond, parts: [...thoughts, ...parts, ...calls] })
  }
  if (role === "system") {
    const content = stringUnder(spot, "message") ?? stringUnder(spot, "content")
    return content === undefined || content.value === "" ? [] : [{ role, content }]
  }
  if (role !== "tool") note("unknown_record", `a message of ${role ?? "nobody"}`)
  return []
}

function isOf(part: Said, type: string): boolean {
  return part.type === type
}

// --- Nodes of the database ------------------------------------------------------------------------------------------------

function nodeDrafts(node: Spot, note: Note): MessageDraft[] {
  const message = inside(node, "chat_message") ?? NOWHERE
  const role = wordUnder(message.value, "role")
  const text = nonEmptyTextUnder(message, "content")
  if (role === "tool") return spoken({ role, parts: resultParts(message, "tool_call_id") })
  const parts = text === undefined ? blockParts(inside(message, "content"), note) : [spokenText(text)]
  return saidDrafts(message, role === "agent" ? "assistant" : role, parts, note)
}

// --- What both hold -------------------------------------------------------------------------------------------------------

function blockParts(blocks: Spot | undefined, note: Note): Said[] {
  return itemsOf(blocks).flatMap((block): Said[] => {
    const [text, thought] = [nonEmptyTextUnder(block, "text"), nonEmptyTextUnder(block, "thinking")]
    if (text !== undefined) return [spokenText(text)]
    if (thought !== undefined) return [reasoningPart({ provenance: "conversational", text: thought })]
    const calls = wordUnder(block.value, "type") === "tool_use" ? callParts(block) : []
    const kind = nonEmptyStringUnder(block, "type")
    if (calls.length > 0) return calls
    note("unknown_part", wordUnder(block.value, "type") ?? "no type")
    return kind === undefined ? [] : [opaquePart({ provenance: "injected", kind })]
  })
}

/** Of three forms: that of ATIF, that of Anthropic's API and that of OpenAI's, whose parameters are text. */
function callParts(call: Spot): PartDraft<"tool_call">[] {
  const own = inside(call, "function") ?? NOWHERE
  const callId = nonEmptyStringUnder(call, "tool_call_id") ?? nonEmptyStringUnder(call, "id")
  const name =
    nonEmptyStringUnder(call, "function_name") ?? nonEmptyStringUnder(call, "name") ?? nonEmptyStringUnder(own, "name")
  const text = stringUnder(own, "arguments") ?? stringUnder(call, "arguments")
  const params =
    (text && jsonOrText(text)) ??
    jsonUnder(call, "arguments") ??
    jsonUnder(call, "input") ??
    jsonUnder(own, "arguments")
  if (callId === undefined || name === undefined || params === undefined) return []
  return [toolCallPart({ provenance: "conversational", callId, name, params })]
}

function resultParts(result: Spot, key: string): PartDraft<"tool_result">[] {
  const callId = nonEmptyStringUnder(result, key)
  const text = stringUnder(result, "content")
  const value = text === undefined ? jsonUnder(result, "content") : asJson(text)
  if (callId === undefined || value === undefined) return []
  const isFailure = flagOf(result.value, "is_error")
  return [toolResultPart({ provenance: "injected", callId, isFailure, result: value })]
}
