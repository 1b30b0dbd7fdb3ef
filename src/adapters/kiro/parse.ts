/**
 * Kiro to canonical: the log of 2.x, with its header behind it, or a document of before, whose entries have a prompt or results
 * and what the model answered. Reads top to bottom: the log, a line, a document, an entry.
 */
import type { Adapter, Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  asJson,
  isAt,
  jsonUnder,
  matchIn,
  momentOf,
  momentOfSeconds,
  nonEmptyOf,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  type Sealed,
  sealedOrigin,
  sealedRelativePath,
  stringUnder,
} from "../extract.ts"
import { asTitle, type Note } from "../notes.ts"
import {
  injectedText,
  opaquePart,
  type PartDraft,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from "../parts.ts"
import { createSessionWriter, type MessageDraft, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { type Known, listedDocument, spoken } from "../shared/listed-document.ts"
import { readJson } from "../shared/read-json.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, valueUnder, whole, wordUnder } from "../spot.ts"

export const BRAND = { id: "kiro", title: "Kiro CLI" }

export const conversation = listedDocument({
  brand: BRAND,
  key: "history",
  start: documentStart,
  facts: (entry) => ({
    id: nonEmptyStringAt(entry, "request_metadata", "message_id"),
    timestamp: momentOf(valueUnder(entry, "user") ?? null, "timestamp"),
  }),
  drafts: entryDrafts,
})

export const parse: Adapter["parse"] = (unit, sink, resume) =>
  mainFileOf(unit).form === "log" ? parseLog(unit, sink, resume) : conversation.parse(unit, sink, resume)

// --- The log ----------------------------------------------------------------------------------------------------------------

function parseLog(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const place = sealedRelativePath(main)

  function begin(header: SourceValue): void {
    const id = nonEmptyOf(header, "session_id") ?? matchIn(place, /([^/]+)\.jsonl$/)
    const createdAt = momentOf(header, "created_at")
    const reason = nonEmptyOf(header, "session_created_reason")
    const parent = nonEmptyOf(header, "parent_session_id")
    const isAgent = parent !== undefined && wordUnder(header, "session_created_reason") === "subagent"
    const sourceAgent = sealedOrigin(BRAND, isAgent ? (agentName(header) ?? reason) : undefined)
    const project = nonEmptyOf(header, "cwd") ?? sealedOrigin(BRAND)
    writer.begin({ id, createdAt, sourceAgent, project, parentSessionId: parent })
  }

  return {
    push(raw) {
      const record = readJson(raw, writer)
      const isLine = raw.file.relativePath === main.relativePath
      if (!writer.hasBegun && (unit.files.length === 1 || !isLine)) begin(isLine ? null : (record ?? null))
      if (record === undefined) return
      if (isLine) return takeLine(writer, raw, record)
      const title = wordUnder(record, "title")
      writer.carrier(raw, record, {
        id: sealedRelativePath(raw.file),
        pond: asTitle(title),
      })
    },
    end(isSettled) {
      // A header that never came.
      if (!writer.hasBegun && isSettled === true) begin(null)
      writer.end()
      return { state: null, clientVersions: [] }
    },
  }
}

function agentName(header: SourceValue): Sealed<string> | undefined {
  return nonEmptyStringAt(header, "session_state", "agent_name")
}

/** A reply comes in several lines of one id, each the next piece. */
function takeLine(writer: SessionWriter, raw: RawRecord, record: SourceValue): void {
  const note = writer.noteOn(raw)
  const data = inside(whole(record), "data")
  const blocks = itemsOf(data && inside(data, "content"))
  const kind = wordUnder(record, "kind")
  const meta = data && inside(data, "meta")
  const timestamp = meta && momentOfSeconds(meta.value, "timestamp")
  const drafts = lineDrafts(kind, blocks, note)
  if (drafts.length === 0 && !KNOWN.has(kind ?? "")) note("unknown_record", kind ?? "no kind")
  writer.record(raw, record, drafts, drafts.length === 0 ? {} : { timestamp })
}

const KNOWN = new Set(["Prompt", "AssistantMessage", "ToolResults"])

function lineDrafts(kind: string | undefined, blocks: readonly Spot[], note: Note): MessageDraft[] {
  if (kind === "Prompt") return spoken({ role: "user", parts: blocks.flatMap((block) => promptParts(block, note)) })
  if (kind === "AssistantMessage")
    return spoken({ role: "assistant", parts: blocks.flatMap((block) => saidParts(block, note)) })
  if (kind === "ToolResults") return spoken({ role: "tool", parts: blocks.flatMap(lineResult) })
  return []
}

function promptParts(block: Spot, note: Note): PartDraft<"text" | "opaque">[] {
  const text = wordUnder(block.value, "kind") === "text" ? nonEmptyTextUnder(block, "data") : undefined
  return text === undefined ? unread(block, note) : [textPart({ provenance: "conversational", text })]
}

function unread(block: Spot, note: Note): PartDraft<"opaque">[] {
  const kind = nonEmptyStringUnder(block, "kind")
  if (wordUnder(block.value, "data") === "") return []
  note("unknown_part", wordUnder(block.value, "kind") ?? "no kind")
  return kind === undefined ? [] : [opaquePart({ provenance: "injected", kind })]
}

function saidParts(block: Spot, note: Note): PartDraft<"text" | "reasoning" | "tool_call" | "opaque">[] {
  const kind = wordUnder(block.value, "kind")
  const data = inside(block, "data")
  const text = kind === "text" ? nonEmptyTextUnder(block, "data") : undefined
  if (text !== undefined) return [textPart({ provenance: "conversational", text })]
  const thought = kind === "thinking" && data ? nonEmptyTextUnder(data, "text") : undefined
  if (thought !== undefined) return [reasoningPart({ provenance: "conversational", text: thought })]
  if (kind !== "toolUse" || data === undefined) return unread(block, note)
  const [callId, name] = [nonEmptyStringUnder(data, "toolUseId"), nonEmptyStringUnder(data, "name")]
  const params = jsonUnder(data, "input")
  if (callId === undefined || name === undefined || params === undefined) return unread(block, note)
  return [toolCallPart({ provenance: "conversational", callId, name, params })]
}

function lineResult(block: Spot): PartDraft<"tool_result">[] {
  const data = inside(block, "data")
  const callId = data && nonEmptyStringUnder(data, "toolUseId")
  const [piece, ...more] = itemsOf(data && inside(data, "content"))
  const text = piece !== undefined && more.length === 0 ? stringUnder(piece, "data") : undefined
  const result = text === undefined ? data && jsonUnder(data, "content") : asJson(text)
  if (callId === undefined || data === undefined || result === undefined) return []
  return [toolResultPart({ provenance: "injected", callId, isFailure: failed(data), result })]
}

/** In small letters in logs, with a capital in documents. */
function failed(result: Spot): Sealed<boolean> | undefined {
  return isAt(result.value, wordUnder(result.value, "status") === "Error" ? "Error" : "error", "status")
}

// --- Documents of before ------------------------------------------------------------------------------------------------------

function documentStart(document: SourceValue): Known {
  const own: SourceValue = valueUnder(document, "conversation") ?? null
  const row: SourceValue = valueUnder(document, "row") ?? null
  const first = nonEmptyStringAt(document, "history", 0, "user", "timestamp")
  return {
    id: nonEmptyOf(own, "conversation_id") ?? nonEmptyOf(row, "conversation_id"),
    createdAt:
      momentOf(row, "created_at") ??
      (first &&
        momentOf(
          valueUnder(valueUnder(valueUnder(document, "history") ?? null, 0) ?? null, "user") ?? null,
          "timestamp",
        )),
    project:
      nonEmptyOf(row, "key") ??
      nonEmptyStringAt(document, "history", 0, "user", "env_context", "env_state", "current_working_directory"),
  }
}

function entryDrafts(entry: Spot, note: Note): MessageDraft[] {
  const user = inside(entry, "user")
  const [content, answer] = [user && inside(user, "content"), inside(entry, "assistant")]
  const drafts = content === undefined ? [] : [...askedDrafts(content, user as Spot), ...resultDrafts(content)]
  const said = answer === undefined ? [] : answerDrafts(answer, inside(entry, "request_metadata"))
  if (drafts.length === 0 && said.length === 0)
    note("unknown_record", "an entry without a prompt, results or an answer")
  return [...drafts, ...said]
}

function askedDrafts(content: Spot, user: Spot): MessageDraft[] {
  const prompt = inside(content, "Prompt") ?? inside(content, "CancelledToolUses")
  const text = prompt && nonEmptyTextUnder(prompt, "prompt")
  const added = nonEmptyTextUnder(user, "additional_context")
  return spoken({
    role: "user",
    parts: [
      ...(text === undefined ? [] : [textPart({ provenance: "conversational", text })]),
      ...(added === undefined ? [] : [injectedText(added, "context")]),
    ],
  })
}

function resultDrafts(content: Spot): MessageDraft[] {
  const results = inside(content, "ToolUseResults") ?? inside(content, "CancelledToolUses")
  const parts = itemsOf(results && inside(results, "tool_use_results")).flatMap((result) => {
    const callId = nonEmptyStringUnder(result, "tool_use_id")
    const [piece, ...more] = itemsOf(inside(result, "content"))
    const text = piece !== undefined && more.length === 0 ? stringUnder(piece, "Text") : undefined
    const value = text === undefined ? jsonUnder(result, "content") : asJson(text)
    if (callId === undefined || value === undefined) return []
    return [toolResultPart({ provenance: "injected", callId, isFailure: failed(result), result: value })]
  })
  return spoken({ role: "tool", parts })
}

function answerDrafts(answer: Spot, metadata: Spot | undefined): MessageDraft[] {
  const said = inside(answer, "ToolUse") ?? inside(answer, "Response")
  if (said === undefined) return []
  const text = nonEmptyTextUnder(said, "content")
  const calls = itemsOf(inside(said, "tool_uses")).flatMap((use) => {
    const [callId, name, params] = [
      nonEmptyStringUnder(use, "id"),
      nonEmptyStringUnder(use, "name"),
      jsonUnder(use, "args"),
    ]
    if (callId === undefined || name === undefined || params === undefined) return []
    return [toolCallPart({ provenance: "conversational", callId, name, params })]
  })
  const model = wordUnder(metadata?.value, "model_id")
  const pond = model === undefined ? undefined : { model }
  const parts = [...(text === undefined ? [] : [textPart({ provenance: "conversational", text })]), ...calls]
  return spoken({ role: "assistant", pond, parts })
}
