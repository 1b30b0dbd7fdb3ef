/**
 * OpenHands to canonical: a document for each event, in the order of their numbers, and one about the conversation. Times have
 * no zone. Which branch is live, and what was summed up, is for `context.ts`. Reads top to bottom: the conversation, an
 * event, its content.
 */
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceFile, SourceUnit } from "../adapter.ts"
import {
  asJson,
  flagOf,
  isAt,
  jsonUnder,
  localMomentInText,
  matchIn,
  nonEmptyOf,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  sealedOrigin,
  sealedRelativePath,
  stringHere,
  stringUnder,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import { injectedText, type PartDraft, reasoningPart, textPart, toolResultPart } from "../parts.ts"
import { createSessionWriter, type MessageDraft, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { fileOfUrl, functionCall, unknownBlock } from "../shared/common-parts.ts"
import { spoken } from "../shared/listed-document.ts"
import { readJson } from "../shared/read-json.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, itemsOf, NOWHERE, type Spot, whole, wordUnder } from "../spot.ts"
import { BRAND, isState, kindOf, SUMMED_UP } from "./records.ts"

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  let state: SourceValue = null
  return {
    push(raw) {
      const record = readJson(raw, writer)
      if (isState(record)) {
        state = record
        writer.carrier(raw, record)
        return
      }
      begin(writer, main, state, record ?? null)
      if (record !== undefined) takeEvent(writer, raw, record)
    },
    end: writer.end,
  }
}

// --- The conversation -------------------------------------------------------------------------------------------------

/** `conversations/<id>/events/…`, and that of a sub-agent inside the folder of its parent. */
const FOLDER = /([^/]+)\/(?:events\/)?[^/]+$/
const PARENT = /([0-9a-f]{32})\/(?:[^/]+\/)?[0-9a-f]{32}\/(?:events\/)?[^/]+$/
const AGENT = /[0-9a-f]{32}\/([^/]+)\/[0-9a-f]{32}\/(?:events\/)?[^/]+$/

function begin(writer: SessionWriter, main: SourceFile, state: SourceValue, first: SourceValue): void {
  if (writer.hasBegun) return
  const place = sealedRelativePath(main)
  const createdAt = momentOfEvent(first)
  const parent = matchIn(place, PARENT)
  writer.begin({
    id: matchIn(place, FOLDER) ?? place,
    sourceAgent: sealedOrigin(BRAND, parent && (matchIn(place, AGENT) ?? parent)),
    project: nonEmptyStringAt(state, "workspace", "working_dir") ?? place,
    createdAt,
    parentSessionId: parent,
  })
}

function momentOfEvent(record: SourceValue) {
  return localMomentInText(nonEmptyOf(record, "timestamp"))
}

// --- An event ---------------------------------------------------------------------------------------------------------

/** Events that say how the conversation went. */
const KNOWN = new Set<string | undefined>([
  ...["CondensationRequest", "PauseEvent", "InterruptEvent", "ConversationStateUpdateEvent", "ConversationErrorEvent"],
  ...["HookExecutionEvent", "TokenEvent", "LLMCompletionLogEvent", "ACPToolCallEvent", "StreamingDeltaEvent"],
  ...["ResumeTranscriptEvent", "UserActionEvent"],
])

function takeEvent(writer: SessionWriter, raw: RawRecord, record: SourceValue): void {
  const note = writer.noteOn(raw)
  const fields = { id: nonEmptyOf(record, "id"), timestamp: momentOfEvent(record) }
  const drafts = eventDrafts(whole(record), note)
  writer.record(raw, record, drafts, fields)
}

function eventDrafts(event: Spot, note: Note): MessageDraft[] {
  const kind = kindOf(event.value)
  switch (kind) {
    case "SystemPromptEvent":
      return [{ role: "system", content: stringUnder(inside(event, "system_prompt") ?? NOWHERE, "text") }]
    case "MessageEvent":
      return messageDrafts(event, inside(event, "llm_message") ?? NOWHERE, note)
    case "ActionEvent":
      return [{ role: "assistant", parts: actionParts(event, note) }]
    case "ObservationEvent":
      return resultDrafts(event, observed(inside(event, "observation") ?? NOWHERE), note)
    case "UserRejectObservation":
      return resultDrafts(event, textAsResult(event, "rejection_reason", "UserRejectObservation"), note)
    case "AgentErrorEvent":
      return resultDrafts(event, textAsResult(event, "error", "AgentErrorEvent"), note)
    case SUMMED_UP:
      return summaryDrafts(event)
    default:
      if (!KNOWN.has(kind)) note("unknown_record", kind ?? "no kind")
      return []
  }
}

/** What stands for events that the model gets no more. */
function summaryDrafts(event: Spot): MessageDraft[] {
  const text = nonEmptyTextUnder(event, "summary")
  if (text === undefined) return []
  return [{ role: "user", parts: [injectedText(text, "compact-summary")] }]
}

// --- Messages -----------------------------------------------------------------------------------------------------------

/** A transcript for an agent that was started anew. */
const RESUMED = /^<<RESUMED CONVERSATION>>/

function messageDrafts(event: Spot, message: Spot, note: Note): MessageDraft[] {
  const role = wordUnder(message.value, "role")
  if (role === "system")
    return [{ role, content: stringUnder(inside(inside(message, "content") ?? NOWHERE, 0) ?? NOWHERE, "text") }]
  if (role === "assistant") {
    const calls = itemsOf(inside(message, "tool_calls")).flatMap((call) => callPart(call, note))
    const parts = [...thoughtParts(message), ...contentParts(message, "content", note), ...calls]
    return spoken({ role, parts })
  }
  if (role !== "user") {
    note("unknown_record", `a message of ${role ?? "nobody"}`)
    return []
  }
  const isTyped = wordUnder(event.value, "source") === "user"
  const added = itemsOf(inside(event, "extended_content")).flatMap((block) => {
    const text = nonEmptyTextUnder(block, "text")
    return text === undefined ? [] : [injectedText(text, "system-reminder")]
  })
  const parts = [...(isTyped ? contentParts(message, "content", note) : asInjected(message)), ...added]
  return spoken({ role, parts })
}

type ContentPart = PartDraft<"text" | "file" | "opaque">

function contentParts(holder: Spot, key: string, note: Note): ContentPart[] {
  return itemsOf(inside(holder, key)).flatMap((block): ContentPart[] => {
    const text = stringUnder(block, "text")
    if (text !== undefined) {
      if (text.value === "") return []
      const isResumed = wordUnder(holder.value, "role") === "user" && RESUMED.test(text.value)
      return [isResumed ? injectedText(text, "transcript") : textPart({ provenance: "conversational", text })]
    }
    const urls = itemsOf(inside(block, "image_urls"))
    if (urls.length === 0) return unknownBlock(block, note)
    return urls.flatMap((item) => {
      const url = stringHere(item)
      return url === undefined ? [] : [fileOfUrl(url)]
    })
  })
}

function asInjected(message: Spot): ContentPart[] {
  return itemsOf(inside(message, "content")).flatMap((block) => {
    const text = nonEmptyTextUnder(block, "text")
    return text === undefined ? [] : [injectedText(text, "environment")]
  })
}

// --- What the model does ------------------------------------------------------------------------------------------------

type ModelPart = PartDraft<"text" | "file" | "reasoning" | "tool_call" | "opaque">

function actionParts(event: Spot, note: Note): ModelPart[] {
  const called = inside(event, "tool_call")
  return [
    ...thoughtParts(event),
    ...contentParts(event, "thought", note),
    ...(called === undefined ? [] : callPart(called, note)),
  ]
}

/** Blocks that a provider has signed say the same again. */
function thoughtParts(holder: Spot): ModelPart[] {
  const text = nonEmptyTextUnder(holder, "reasoning_content")
  if (text !== undefined) return [reasoningPart({ provenance: "conversational", text })]
  const blocks = [
    ...itemsOf(inside(holder, "thinking_blocks")),
    ...itemsOf(inside(inside(holder, "responses_reasoning_item") ?? NOWHERE, "summary")),
  ]
  return blocks.flatMap((block): ModelPart[] => {
    const thought = nonEmptyTextUnder(block, "thinking") ?? stringHere(block)
    return thought === undefined ? [] : [reasoningPart({ provenance: "conversational", text: thought })]
  })
}

function callPart(call: Spot, note: Note): ModelPart[] {
  const made = functionCall(call, call)
  if (made === undefined) note("unknown_part", "a call without an id, a name or arguments")
  return made === undefined ? [] : [made]
}

// --- Results ------------------------------------------------------------------------------------------------------------

type Result = Pick<Parameters<typeof toolResultPart>[0], "result" | "isFailure">

/** The line that the client puts before a failure is not kept. */
function observed(observation: Spot): Result | undefined {
  const [only, ...more] = itemsOf(inside(observation, "content"))
  const text = more.length === 0 ? only && stringUnder(only, "text") : undefined
  const result = text === undefined ? jsonUnder(observation, "content") : asJson(text)
  return result && { result, isFailure: flagOf(observation.value, "is_error") }
}

function textAsResult(event: Spot, key: string, kind: string): Result | undefined {
  const text = stringUnder(event, key)
  return text && { result: asJson(text), isFailure: isAt(event.value, kind, "kind") }
}

function resultDrafts(event: Spot, result: Result | undefined, note: Note): MessageDraft[] {
  const callId = nonEmptyStringUnder(event, "tool_call_id")
  if (callId === undefined || result === undefined) {
    note("unknown_record", "a result without a call or a content")
    return []
  }
  const name = nonEmptyStringUnder(event, "tool_name")
  return [{ role: "tool", parts: [toolResultPart({ provenance: "injected", callId, name, ...result })] }]
}
