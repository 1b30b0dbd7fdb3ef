/**
 * yoi to canonical: a segment is a session, and names the one that it continues. Its first record has what was known when it began,
 * after a compaction or a fork. Reads top to bottom: the segment, a record, an item.
 */
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  copied,
  flagOf,
  jsonHere,
  jsonUnder,
  matchIn,
  momentOf,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  parsedIn,
  type Sealed,
  sealedOrigin,
  sealedRelativePath,
  textOfFile,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import { injectedText, opaquePart, type PartDraft, reasoningPart, textPart, toolResultPart } from "../parts.ts"
import { createSessionWriter, type MessageDraft, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { functionCall } from "../shared/common-parts.ts"
import { readJson } from "../shared/read-json.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, whole, wordUnder } from "../spot.ts"

export const BRAND = { id: "yoi", title: "yoi" }

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const [worker] = unit.beside ?? []
  const known = worker !== undefined && "text" in worker ? parsedIn(textOfFile(worker)) : undefined

  function begin(record: SourceValue): void {
    const place = sealedRelativePath(main)
    const id = matchIn(place, /([^/]+?)(?:\.trace)?\.jsonl$/)
    if (writer.hasBegun || id === undefined) return
    const from =
      nonEmptyStringAt(record, "compacted_from", "segment_id") ?? nonEmptyStringAt(record, "forked_from", "segment_id")
    // What started it stands in the record of another worker.
    const startedBy = nonEmptyStringAt(unit.parent ?? null, "active", "segment_id")
    const name = nonEmptyStringAt(known ?? null, "worker_name")
    const isStarted = unit.parent !== undefined
    writer.begin({
      ...{ id, createdAt: momentOf(record, "ts"), sourceAgent: sealedOrigin(BRAND, isStarted ? name : undefined) },
      // No log names a directory: without its worker's record its session is what segments have in common.
      project: nonEmptyStringAt(known ?? null, "workspace_root") ?? nonEmptyStringAt(record, "session_id") ?? id,
      parentSessionId: from ?? startedBy,
      title: name,
    })
  }

  return {
    push(raw) {
      const record = readJson(raw, writer)
      if (raw.file.relativePath !== main.relativePath) {
        if (record !== undefined) writer.carrier(raw, record, sideFields(raw, record))
        return
      }
      if (record === undefined) return
      begin(record)
      takeRecord(writer, raw, record)
    },
    end(isSettled = false) {
      if (!writer.hasBegun && isSettled) begin(null)
      writer.end()
      return { state: null, clientVersions: [] }
    },
  }
}

/** The record of a worker comes again each time, and changes. */
function sideFields(raw: RawRecord, record: SourceValue): Pick<MessageDraft, "id" | "timestamp"> {
  return raw.form === "document" ? { id: sealedRelativePath(raw.file) } : { timestamp: momentOf(record, "ts") }
}

/** Records that say nothing to read. Others are kept as well, and said aloud. */
const CARRIERS = new Set([
  ...["invoke", "turn_end", "run_completed", "run_errored", "paused_turn_abandoned", "config_changed", "llm_usage"],
  ...["extension", "run_outcome", "locked", "cache_unlocked"],
])

function takeRecord(writer: SessionWriter, raw: RawRecord, record: SourceValue): void {
  const kind = wordUnder(record, "kind")
  const note = writer.noteOn(raw)
  const timestamp = momentOf(record, "ts")
  const drafts = draftsOf(whole(record), kind, note)
  if (drafts === undefined && !CARRIERS.has(kind ?? "")) note("unknown_record", kind ?? "no kind")
  writer.record(raw, record, drafts ?? [], { timestamp })
}

function draftsOf(record: Spot, kind: string | undefined, note: Note): MessageDraft[] | undefined {
  const items = (key: string) => itemsOf(inside(record, key)).flatMap((each) => itemDrafts(each, note))
  const item = inside(record, "item")
  switch (kind) {
    case "segment_start":
    case "session_start":
      return startDrafts(record, note)
    case "user_input":
      return item === undefined ? inputDrafts(record, note) : itemDrafts(item, note)
    case "assistant_item":
    case "tool_result":
      return item === undefined ? [] : itemDrafts(item, note)
    case "system_item":
      return item === undefined ? [] : systemDrafts(item)
    // Until May 2026 several items stood in one record.
    case "assistant_items":
    case "tool_results":
    case "hook_injected_items":
      return items("items")
    default:
      return undefined
  }
}

// --- The first record: what was known -----------------------------------------------------------------------------------

const SUMMARY = "[Compacted context summary]"

/** All but the summary was said in the segment before. */
function startDrafts(record: Spot, note: Note): MessageDraft[] {
  const prompt = nonEmptyTextUnder(record, "system_prompt")
  const from =
    wordUnder(inside(record, "compacted_from")?.value, "segment_id") ??
    wordUnder(inside(record, "forked_from")?.value, "segment_id")
  const copy = from === undefined ? undefined : { replay_of: from }
  const history = itemsOf(inside(record, "history")).flatMap((item) => {
    const drafts = itemDrafts(item, note)
    return copy === undefined || isSummary(item)
      ? drafts
      : drafts.map((draft): MessageDraft => ({ ...draft, pond: { ...draft.pond, ...copy } }))
  })
  return [...(prompt === undefined ? [] : [{ role: "system" as const, content: prompt }]), ...history]
}

function isSummary(item: Spot): boolean {
  const [first] = itemsOf(inside(item, "content"))
  return wordUnder(first?.value, "text")?.startsWith(SUMMARY) === true
}

// --- Items ----------------------------------------------------------------------------------------------------------------

/** What a person sent, piece by piece. The content of a named file comes as the harness's own record. */
function inputDrafts(record: Spot, note: Note): MessageDraft[] {
  const parts = itemsOf(inside(record, "segments")).flatMap((segment): PartDraft<"text" | "opaque">[] => {
    const text =
      nonEmptyTextUnder(segment, "content") ??
      nonEmptyTextUnder(segment, "path") ??
      nonEmptyTextUnder(segment, "selector")
    const kind = nonEmptyStringUnder(segment, "kind")
    if (text !== undefined) return [textPart({ provenance: "conversational", text })]
    note("unknown_part", wordUnder(segment.value, "kind") ?? "no kind")
    return kind === undefined ? [] : [opaquePart({ provenance: "injected", kind })]
  })
  return parts.length === 0 ? [] : [{ role: "user", parts }]
}

function systemDrafts(item: Spot): MessageDraft[] {
  const text = nonEmptyTextUnder(item, "body") ?? nonEmptyTextUnder(item, "message")
  return text === undefined
    ? []
    : [{ role: "user", parts: [injectedText(text, wordUnder(item.value, "kind") ?? "system")] }]
}

/** Before the items of the log had a `kind`, they were those of the engine, with a `type`. */
function itemDrafts(item: Spot, note: Note): MessageDraft[] {
  const kind = wordUnder(item.value, "kind") ?? wordUnder(item.value, "type")
  switch (kind) {
    case "message":
      return messageDrafts(item)
    case "reasoning": {
      const text = nonEmptyTextUnder(item, "text")
      return text === undefined
        ? []
        : [{ role: "assistant", parts: [reasoningPart({ provenance: "conversational", text })] }]
    }
    case "tool_call":
      return callDrafts(item)
    case "tool_result":
      return resultDrafts(item)
    default:
      note("unknown_part", kind ?? "an item without a kind")
      return []
  }
}

function messageDrafts(item: Spot): MessageDraft[] {
  const texts = itemsOf(inside(item, "content")).flatMap(
    (piece) => nonEmptyTextUnder(piece, "text") ?? nonEmptyTextUnder(piece, "refusal") ?? [],
  )
  if (texts.length === 0) return []
  const role = wordUnder(item.value, "role")
  if (role === "assistant")
    return [{ role, parts: texts.map((text) => textPart({ provenance: "conversational", text })) }]
  // In a history a person's words are plain messages, and the harness speaks as the system.
  const injected = isSummary(item) ? "compact-summary" : "history"
  const parts = texts.map((text) =>
    role === "user" ? textPart({ provenance: "conversational", text }) : injectedText(text, injected),
  )
  return [{ role: "user", pond: injected === "compact-summary" ? { compaction: true } : undefined, parts }]
}

function callDrafts(item: Spot): MessageDraft[] {
  const made = functionCall(item, item, nonEmptyStringUnder(item, "call_id"))
  return made === undefined ? [] : [{ role: "assistant", parts: [made] }]
}

function resultDrafts(item: Spot): MessageDraft[] {
  const callId: Sealed<string> | undefined = nonEmptyStringUnder(item, "call_id")
  if (callId === undefined) return []
  const result = jsonUnder(item, "content") ?? jsonUnder(item, "summary") ?? copied(jsonHere(item))
  const isFailure = flagOf(item.value, "is_error")
  return [{ role: "tool", parts: [toolResultPart({ provenance: "injected", callId, isFailure, result })] }]
}
