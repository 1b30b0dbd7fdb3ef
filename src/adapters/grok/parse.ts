/**
 * Grok to canonical: its log of updates, as an editor is shown them, with what lies beside it. The history that its model is sent
 * is kept by `history.ts`. Reads top to bottom: the files, the session, an update, a block.
 */
import type { JsonValue } from "../../model/json.ts"
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  asJson,
  isAt,
  jsonUnder,
  matchIn,
  momentOf,
  momentOfSeconds,
  nonEmptyOf,
  nonEmptyStringUnder,
  type Placed,
  plain,
  sealedOrigin,
  sealedRelativePath,
  stringUnder,
  valueAt,
} from "../extract.ts"
import { asTitle, type Note } from "../notes.ts"
import { filePart, type PartDraft, reasoningPart, textPart, toolCallPart, toolResultPart } from "../parts.ts"
import { createSessionWriter, type MessageDraft, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { unknownBlock } from "../shared/common-parts.ts"
import { readJson } from "../shared/read-json.ts"
import { fieldsOf, type SourceValue } from "../source-value.ts"
import { inside, NOWHERE, type Spot, whole, wordUnder } from "../spot.ts"
import { pushHistory } from "./history.ts"
import { BRAND, INJECTED, isHistory, SUMMARY, TOOL, UPDATES } from "./records.ts"

type TextRecord = Extract<RawRecord, { readonly text: string }>

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const writer = createSessionWriter(mainFileOf(unit), sink, resume)
  const seen = resume?.seen ?? new Set<string>()
  const state = fieldsOf(resume?.state)
  let history = wordUnder(state, "history")
  const documents = new Map(Object.entries(fieldsOf(state["documents"])).map(([place, hash]) => [place, String(hash)]))

  function pushDocument(raw: TextRecord, record: SourceValue): void {
    if (isNamed(raw, SUMMARY)) begin(writer, record)
    const id = sealedRelativePath(raw.file)
    const hash = Bun.hash.xxHash64(raw.text).toString(36)
    const before = documents.get(plain(id))
    documents.set(plain(id), hash)
    const pond = isNamed(raw, SUMMARY) ? titleIn(record) : undefined
    if (before === undefined) writer.carrier(raw, record, { id, pond })
    else if (before !== hash) writer.carrier(raw, record, { pond: { ...pond, revision_of: plain(id) } })
  }

  function pushWhole(raw: RawRecord): void {
    const id = sealedRelativePath(raw.file)
    if (!seen.has(plain(id))) writer.whole(raw, { id })
  }

  function pushRecord(raw: TextRecord): void {
    const record = readJson(raw, writer)
    if (record === undefined) return
    if (raw.form === "document") pushDocument(raw, record)
    else if (isNamed(raw, UPDATES)) pushUpdate(writer, raw, record)
    else writer.carrier(raw, record)
  }

  return {
    push(raw) {
      if (raw.form === "text" && isHistory(raw.file.relativePath)) history = pushHistory(writer, raw, history, seen)
      else if (raw.form === "log" || raw.form === "document") pushRecord(raw)
      else pushWhole(raw)
    },
    end() {
      writer.end()
      const kept: JsonValue = {
        ...(history === undefined ? {} : { history }),
        documents: Object.fromEntries(documents),
      }
      return { state: kept, clientVersions: [] }
    },
  }
}

function isNamed({ file }: RawRecord, name: string): boolean {
  return file.relativePath === name || file.relativePath.endsWith(`/${name}`)
}

// --- The session ------------------------------------------------------------------------------------------------------

function begin(writer: SessionWriter, summary: SourceValue): void {
  const info = valueAt(summary, "info") ?? null
  const [id, project] = [nonEmptyOf(info, "id"), nonEmptyOf(info, "cwd")]
  const createdAt = momentOf(summary, "created_at")
  if (id === undefined || project === undefined || createdAt === undefined) return
  const kind = nonEmptyOf(summary, "session_kind")
  writer.begin({
    ...{ id, project, createdAt, sourceAgent: sealedOrigin(BRAND, kind && matchIn(kind, /^(subagent)/)) },
    parentSessionId: nonEmptyOf(summary, "parent_session_id"),
    title: nonEmptyOf(summary, "generated_title") ?? nonEmptyOf(summary, "session_summary"),
  })
}

function titleIn(summary: SourceValue): MessageDraft["pond"] {
  return asTitle(wordUnder(summary, "generated_title"))
}

// --- Updates ----------------------------------------------------------------------------------------------------------

/** Updates that say how it went. Others are kept as well, and said aloud. */
const CARRIERS: ReadonlySet<string | undefined> = new Set([
  ...["plan", "current_mode_update", "available_commands_update", "config_option_update", "session_info_update"],
  ...["turn_completed", "rewind_marker", "compaction_checkpoint", "session_recap", "session_summary_generated"],
  ...["auto_compact_started", "auto_compact_completed", "auto_compact_failed", "auto_compact_cancelled"],
  ...["subagent_spawned", "subagent_progress", "subagent_finished", "task_backgrounded", "task_completed"],
  ...["background_tasks", "scheduled_task_created", "scheduled_task_deleted", "scheduled_task_fired", "monitor_event"],
  ...["hook_annotation", "hook_execution", "diff_review", "retry_state", "model_changed", "model_auto_switched"],
  ...["image_compressed", "image_dropped", "workflow_updated", "goal_updated", "feedback_request"],
])

/** Of the oldest lines the notification stands alone, without what it was sent in. */
function pushUpdate(writer: SessionWriter, raw: RawRecord, record: SourceValue): void {
  const note = writer.noteOn(raw)
  const outer = inside(whole(record), "params") ?? whole(record)
  const update = inside(outer, "update") ?? NOWHERE
  const sent = valueAt(outer.value, "_meta") ?? null
  const timestamp = momentOf(sent, "agentTimestampMs") ?? momentOfSeconds(record, "timestamp")
  const draft = draftOf(update, note)
  writer.record(raw, record, draft === undefined ? [] : [draft], { timestamp })
}

function draftOf(update: Spot, note: Note): MessageDraft | undefined {
  const kind = wordUnder(update.value, "sessionUpdate")
  switch (kind) {
    case "user_message_chunk":
      return userDraft(update, note)
    case "agent_message_chunk":
      return { role: "assistant", parts: blockParts(inside(update, "content"), note) }
    case "agent_thought_chunk":
      return { role: "assistant", parts: thoughtParts(update, note) }
    case "tool_call":
      return callDraft(update, note)
    case "tool_call_update":
      return resultDraft(update)
    default:
      if (!CARRIERS.has(kind) && kind?.startsWith("memory_") !== true) note("unknown_record", kind ?? "no kind")
      return undefined
  }
}

/** Empty where it only says that a turn begins. */
function userDraft(update: Spot, note: Note): MessageDraft | undefined {
  const meta = fieldsOf(valueAt(update.value, "_meta") ?? null)
  if (meta["hostTurn"] === true) return undefined
  const kind = meta["hideFromScrollback"] === true ? (wordUnder(meta, INJECTED) ?? "internal-context") : undefined
  return { role: "user", parts: blockParts(inside(update, "content"), note, kind) }
}

function thoughtParts(update: Spot, note: Note): PartDraft<"reasoning" | "opaque">[] {
  const content = inside(update, "content")
  const text = content && stringUnder(content, "text")
  if (text !== undefined) return text.value === "" ? [] : [reasoningPart({ provenance: "conversational", text })]
  return content === undefined ? [] : unknownBlock(content, note)
}

function callDraft(update: Spot, note: Note): MessageDraft | undefined {
  const meta = inside(update, "_meta")
  const tool = meta && inside(meta, TOOL)
  const callId = nonEmptyStringUnder(update, "toolCallId")
  const name = (tool && nonEmptyStringUnder(tool, "name")) ?? nonEmptyStringUnder(update, "title")
  const params = jsonUnder(update, "rawInput")
  if (callId === undefined || name === undefined || params === undefined) {
    note("unknown_part", "a call that does not say of what")
    return undefined
  }
  return { role: "assistant", parts: [toolCallPart({ provenance: "conversational", callId, name, params })] }
}

// --- Results ----------------------------------------------------------------------------------------------------------

/** An update without an outcome says more of the call, and is no result. */
function resultDraft(update: Spot): MessageDraft | undefined {
  const status = wordUnder(update.value, "status")
  const callId = nonEmptyStringUnder(update, "toolCallId")
  if (callId === undefined || (status !== "completed" && status !== "failed")) return undefined
  const result = toldResult(inside(update, "rawOutput")) ?? shownResult(update)
  if (result === undefined) return undefined
  const isFailure = isAt(update.value, "failed", "status")
  return { role: "tool", parts: [toolResultPart({ provenance: "injected", callId, isFailure, result })] }
}

/** What the model was told, which is not always what a person was shown: the words of each tool, and one text for others. */
function toldResult(raw: Spot | undefined): Placed<JsonValue> | undefined {
  if (raw === undefined) return undefined
  const read = inside(raw, "FileContent")
  const edited = inside(raw, "EditsApplied")
  const text =
    stringUnder(raw, "output_for_prompt") ??
    (read && stringUnder(read, "content")) ??
    (edited && stringUnder(edited, "tool_output_for_prompt")) ??
    stringUnder(raw, "text") ??
    onlyText(raw)
  return text && asJson(text)
}

/** `{type: "ReadFile", FileNotFound: "Error: …"}` */
function onlyText(raw: Spot): Placed<string> | undefined {
  const names = Object.keys(fieldsOf(raw.value)).filter((name) => name !== "type")
  return names.length === 1 && names[0] !== undefined ? stringUnder(raw, names[0]) : undefined
}

function shownResult(update: Spot): Placed<JsonValue> | undefined {
  const content = inside(update, "content")
  const blocks = content?.value
  const first = Array.isArray(blocks) && blocks.length === 1 && content ? inside(content, 0) : undefined
  const inner = first && inside(first, "content")
  const text = inner && wordUnder(inner.value, "type") === "text" ? stringUnder(inner, "text") : undefined
  return text === undefined ? jsonUnder(update, "content") : asJson(text)
}

// --- Blocks -----------------------------------------------------------------------------------------------------------

type Said = PartDraft<"text" | "file" | "opaque">

/** `injected`: of what kind it is where no person said it. */
function blockParts(block: Spot | undefined, note: Note, injected?: string): Said[] {
  if (block === undefined) return []
  const provenance = injected === undefined ? "conversational" : "injected"
  const pond = injected === undefined ? undefined : { injected }
  const type = wordUnder(block.value, "type")
  const text = type === "text" ? stringUnder(block, "text") : undefined
  if (text !== undefined) return text.value === "" ? [] : [textPart({ provenance, text, pond })]
  const data = type === "image" || type === "audio" ? stringUnder(block, "data") : undefined
  const mediaType = nonEmptyStringUnder(block, "mimeType")
  if (data !== undefined) return [filePart({ provenance, pond, mediaType, data: { base64: data } })]
  const url = type === "resource_link" ? stringUnder(block, "uri") : undefined
  if (url !== undefined) return [filePart({ provenance, pond, mediaType, data: { url } })]
  return unknownBlock(block, note)
}
