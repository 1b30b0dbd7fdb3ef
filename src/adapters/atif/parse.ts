/**
 * ATIF to canonical: a trajectory is one document with its steps. A step of the agent has what it thought, said and called, and
 * what was observed. Reads top to bottom: the trajectory, a step, its content.
 */
import {
  asJson,
  flagOf,
  jsonUnder,
  momentOf,
  nonEmptyOf,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  sealedOrigin,
  stringUnder,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import {
  filePart,
  opaquePart,
  type PartDraft,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from "../parts.ts"
import type { MessageDraft } from "../session-writer.ts"
import { listedDocument, spoken } from "../shared/listed-document.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, valueUnder, wordUnder } from "../spot.ts"

export const BRAND = { id: "atif", title: "ATIF trajectories" }

export const trajectory = listedDocument({
  brand: BRAND,
  key: "steps",
  start: (document: SourceValue) => ({
    id: nonEmptyOf(document, "trajectory_id") ?? nonEmptyOf(document, "session_id"),
    createdAt:
      nonEmptyStringAt(document, "steps", 0, "timestamp") &&
      momentOf(valueUnder(valueUnder(document, "steps") ?? null, 0) ?? null, "timestamp"),
    project: nonEmptyStringAt(document, "agent", "name") ?? sealedOrigin(BRAND),
  }),
  facts: (step) => ({ timestamp: momentOf(step, "timestamp") }),
  drafts,
})

function drafts(step: Spot, note: Note): MessageDraft[] {
  const text = stringUnder(step, "message")
  switch (wordUnder(step.value, "source")) {
    case "system":
      if (text !== undefined) return text.value === "" ? [] : [{ role: "system", content: text }]
      return spoken({ role: "user", parts: contentParts(step, "injected", note) })
    case "user":
      return spoken({ role: "user", parts: contentParts(step, "conversational", note) })
    case "agent":
      return agentDrafts(step, note)
    default:
      note("unknown_record", `a step of ${wordUnder(step.value, "source") ?? "nobody"}`)
      return []
  }
}

/** One text, or pieces; pictures and sound lie in files beside. */
function contentParts(
  step: Spot,
  provenance: "conversational" | "injected",
  note: Note,
): PartDraft<"text" | "file" | "opaque">[] {
  const pond = provenance === "injected" ? { injected: "context" } : undefined
  const only = nonEmptyTextUnder(step, "message")
  if (only !== undefined) return [textPart({ provenance, text: only, pond })]
  return itemsOf(inside(step, "message")).flatMap((piece): PartDraft<"text" | "file" | "opaque">[] => {
    const text = nonEmptyTextUnder(piece, "text")
    if (text !== undefined) return [textPart({ provenance, text, pond })]
    const source = inside(piece, "source")
    const url = source && nonEmptyTextUnder(source, "path")
    const mediaType = source && nonEmptyStringUnder(source, "media_type")
    if (url !== undefined) return [filePart({ provenance, mediaType, data: { url } })]
    const kind = nonEmptyStringUnder(piece, "type")
    note("unknown_part", wordUnder(piece.value, "type") ?? "no type")
    return kind === undefined ? [] : [opaquePart({ provenance: "injected", kind })]
  })
}

function agentDrafts(step: Spot, note: Note): MessageDraft[] {
  const thought = nonEmptyTextUnder(step, "reasoning_content")
  const calls = itemsOf(inside(step, "tool_calls")).flatMap((call) => {
    const [callId, name] = [nonEmptyStringUnder(call, "tool_call_id"), nonEmptyStringUnder(call, "function_name")]
    const params = jsonUnder(call, "arguments")
    if (callId === undefined || name === undefined || params === undefined) return []
    return [toolCallPart({ provenance: "conversational", callId, name, params })]
  })
  const model = wordUnder(step.value, "model_name")
  const pond = model === undefined ? undefined : { model }
  const thoughts = thought === undefined ? [] : [reasoningPart({ provenance: "conversational", text: thought })]
  const parts = [...thoughts, ...contentParts(step, "conversational", note), ...calls]
  const observed = inside(step, "observation")
  return [
    ...spoken({ role: "assistant", pond, parts }),
    ...spoken({ role: "tool", parts: itemsOf(observed && inside(observed, "results")).flatMap(resultParts) }),
  ]
}

/** What a sub-agent did stands under the name of its trajectory. */
function resultParts(result: Spot): PartDraft<"tool_result">[] {
  const callId = nonEmptyStringUnder(result, "source_call_id")
  const text = stringUnder(result, "content")
  const value =
    text === undefined ? (jsonUnder(result, "content") ?? jsonUnder(result, "subagent_trajectory_ref")) : asJson(text)
  if (callId === undefined || value === undefined) return []
  const isFailure = flagOf(inside(result, "extra")?.value ?? null, "is_error")
  return [toolResultPart({ provenance: "injected", callId, isFailure, result: value })]
}
