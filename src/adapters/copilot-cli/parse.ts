/**
 * Copilot to canonical: one log of events for each session, in the order of the file. `parentId` of an event names the one
 * before it, so the file is a line. What was said, called and answered becomes messages; all else is a carrier. Sub-agents
 * write into the log of the session that started them, and their messages are marked.
 */
import { type JsonValue, parseJson } from "../../model/json.ts"
import type { ParseEnd, Parser, ParseSink, RawRecord, ResumePoint, SourceFile, SourceUnit } from "../adapter.ts"
import {
  asJson,
  isFalseAt,
  jsonUnder,
  matchIn,
  momentInText,
  momentOf,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  type Placed,
  type Sealed,
  sealedOrigin,
  sealedRelativePath,
  stringUnder,
  textOfFile,
  timestampAt,
  valueAt,
} from "../extract.ts"
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
import { createSessionWriter, type MessageDraft, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { readJson } from "../shared/read-json.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, itemsOf, NOWHERE, type Spot, whole, wordUnder } from "../spot.ts"
import { chatMessages } from "./legacy.ts"
import { injectedBy, sentParts, userTextParts } from "./provenance.ts"
import { WORKSPACE } from "./source.ts"

export const BRAND = { id: "copilot-cli" }

interface Reading {
  readonly file: SourceFile
  readonly writer: SessionWriter
  readonly versions: Set<string>
  /** What is known of a session whose directory is not. */
  id?: Sealed<string> | undefined
  createdAt?: Sealed<string> | undefined
}

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const file = mainFileOf(unit)
  const reading: Reading = { file, writer: createSessionWriter(file, sink, resume), versions: new Set() }
  return {
    push: (raw) => pushRaw(reading, raw),
    end(isSettled): ParseEnd {
      // Logs of before 2026 do not say their directory: then the folder that they lie in stands for it.
      if (isSettled) begin(reading, matchIn(sealedRelativePath(file), FOLDER))
      reading.writer.end()
      return { state: null, clientVersions: [...reading.versions] }
    },
  }
}

// --- The session ------------------------------------------------------------------------------------------------------

const FOLDER = /([^/]+)\/[^/]+$/
/** `session-state/<id>/events.jsonl`, `session-state/<id>.jsonl`, `history-session-state/session_<id>_<time>.json`. */
const ID = /([^/]+)\/events\.jsonl$|([^/]+)\.jsonl$|session_([^/]+)_\d+\.json$/

function begin({ file, writer, id, createdAt }: Reading, project: Sealed<string> | undefined): void {
  const place = sealedRelativePath(file)
  const own = id ?? matchIn(place, ID, 1) ?? matchIn(place, ID, 2) ?? matchIn(place, ID, 3)
  if (project !== undefined) writer.begin({ id: own, sourceAgent: sealedOrigin(BRAND), project, createdAt })
}

function learn(reading: Reading, record: SourceValue): void {
  const version = valueAt(record, "data", "copilotVersion")
  if (typeof version === "string") reading.versions.add(version)
  if (reading.writer.hasBegun) return
  reading.id ??= nonEmptyStringAt(record, "data", "sessionId")
  reading.createdAt ??= timestampAt(record, "data", "startTime") ?? timestampAt(record, "timestamp")
  begin(reading, nonEmptyStringAt(record, "data", "context", "cwd") ?? nonEmptyStringAt(record, "data", "cwd"))
}

// --- Records ----------------------------------------------------------------------------------------------------------

function pushRaw(reading: Reading, raw: RawRecord): void {
  const { writer } = reading
  if (raw.form === "text" && raw.file.relativePath.endsWith(`/${WORKSPACE}`)) pushWorkspace(reading, raw)
  else {
    const record = readJson(raw, writer)
    if (record === undefined) return
    if (raw.form === "document") pushDocument(reading, raw, record)
    else pushEvent(reading, raw, record)
  }
}

/** The client's own summary of a session, as YAML: the name that its list shows, and the directory. */
function pushWorkspace(reading: Reading, raw: Extract<RawRecord, { text: string }>): void {
  const text = textOfFile(raw)
  const cwd = matchIn(text, /^cwd: ['"]?(.*?)['"]?$/m)
  begin(reading, cwd)
  const title = scalarOf(/^name: (.*)$/m.exec(raw.text)?.[1])
  reading.writer.whole(raw, {
    timestamp: momentInText(matchIn(text, /^updated_at: (.*)$/m)),
    pond: title === undefined ? undefined : { title },
  })
}

/** A scalar of YAML on one line, without its quotes. A longer one is a title that the first prompt says as well. */
function scalarOf(text: string | undefined): string | undefined {
  if (text === undefined || text === "" || /^[|>&*!]/.test(text)) return undefined
  if (text.startsWith("'")) return text.endsWith("'") ? text.slice(1, -1).replaceAll("''", "'") : undefined
  if (!text.startsWith('"')) return text
  const parsed = parseJson(text)
  return parsed.ok && typeof parsed.value === "string" ? parsed.value : undefined
}

function pushDocument(reading: Reading, raw: RawRecord, record: SourceValue): void {
  const { writer, file } = reading
  reading.id = nonEmptyStringAt(record, "sessionId")
  reading.createdAt = timestampAt(record, "startTime")
  begin(reading, matchIn(sealedRelativePath(file), FOLDER))
  const drafts = chatMessages(whole(record))
  if (drafts.length === 0) writer.noteOn(raw)("unknown_record", "a document without messages")
  writer.record(raw, record, drafts)
}

function pushEvent(reading: Reading, raw: RawRecord, record: SourceValue): void {
  const { writer } = reading
  const type = wordUnder(record, "type")
  if (type === "session.start" || !writer.hasBegun) learn(reading, record)
  if (type === undefined || !isKnownKind(type))
    writer.issue(raw, { kind: "unknown_record", severity: "note", found: type?.slice(0, 80) ?? "no type" })
  const spot = whole(record)
  const id = nonEmptyStringUnder(spot, "id")
  const timestamp = momentOf(record, "timestamp")
  const drafts = messagesOf(reading, raw, type, inside(spot, "data") ?? NOWHERE, isOfAgent(record))
  const pond = drafts.length === 0 ? undefined : factsOf(type, record)
  writer.record(raw, record, drafts, { id, timestamp, pond })
}

/** Whether an event is of a sub-agent. Versions before 1.0.9 name only the call that started it. */
export function isOfAgent(record: JsonValue): boolean {
  return (
    typeof valueAt(record, "agentId") === "string" || typeof valueAt(record, "data", "parentToolCallId") === "string"
  )
}

function factsOf(type: string | undefined, record: SourceValue): Record<string, JsonValue> | undefined {
  const model = valueAt(record, "data", "model")
  const facts = {
    ...(isOfAgent(record) ? { sidechain: true } : {}),
    ...(type === "assistant.message" && typeof model === "string" ? { model } : {}),
    ...(type === "session.compaction_complete" ? { compaction: true } : {}),
  }
  return Object.keys(facts).length === 0 ? undefined : facts
}

// --- Messages ---------------------------------------------------------------------------------------------------------

/** The messages of an event; none where it is a carrier. */
function messagesOf(
  reading: Reading,
  raw: RawRecord,
  type: string | undefined,
  data: Spot,
  isAgent: boolean,
): MessageDraft[] {
  switch (type) {
    case "user.message":
      return userMessage(data, isAgent)
    case "assistant.message":
      return spoken([...reasoning(data, "reasoningText"), ...said(data), ...calls(reading, raw, data)])
    case "assistant.reasoning":
      return spoken(reasoning(data, "content"))
    case "tool.execution_complete":
      return toolMessage(reading, raw, data)
    case "tool.user_requested":
      return shellCommand(data)
    case "system.message":
      return [{ role: "system", content: stringUnder(data, "content") }]
    case "system.notification":
      return injected(data, "content", "notification")
    case "session.compaction_complete":
      return data.value !== null && valueAt(data.value, "success") === true
        ? injected(data, "summaryContent", "compact-summary")
        : []
    case "session.binary_asset":
      return asset(data)
    case "session.import_legacy":
      return chatMessages(inside(data, "legacySession"))
    default:
      return []
  }
}

function spoken(parts: readonly PartDraft<"text" | "reasoning" | "tool_call" | "opaque">[]): MessageDraft[] {
  return parts.length === 0 ? [] : [{ role: "assistant", parts }]
}

function userMessage(data: Spot, isAgent: boolean): MessageDraft[] {
  const typed = stringUnder(data, "content")
  const sent = nonEmptyTextUnder(data, "transformedContent")
  const source = wordUnder(data.value, "source")
  const isContinued = valueAt(data.value, "isAutopilotContinuation") === true
  const kind = injectedKind(source, isContinued, isAgent)
  const isWhole = kind === undefined && sent !== undefined && typed !== undefined
  const texts = (isWhole ? sentParts(sent, typed.value) : undefined) ?? wholeText(typed, sent, kind)
  const attachments = itemsOf(inside(data, "attachments"))
  // A prompt may be a file alone, whose bytes stand elsewhere.
  if (texts.length + attachments.length === 0) return []
  return [{ role: "user", parts: [...texts, ...attachments.flatMap(inlineFile)] }]
}

function injectedKind(source: string | undefined, isContinued: boolean, isAgent: boolean): string | undefined {
  if (source !== undefined && source !== "" && source !== "user") return injectedBy(source)
  if (isContinued) return "client-prompt"
  return isAgent ? "subagent-prompt" : undefined
}

function wholeText(
  typed: Placed<string> | undefined,
  sent: Placed<string> | undefined,
  kind: string | undefined,
): PartDraft<"text">[] {
  if (typed === undefined || typed.value === "")
    return sent === undefined ? [] : [injectedText(sent, kind ?? "client-prompt")]
  return userTextParts(typed, kind)
}

/** Bytes lie in an event of their own (`session.binary_asset`), and here only in logs that others wrote. */
function inlineFile(attachment: Spot): PartDraft<"file">[] {
  const base64 = nonEmptyTextUnder(attachment, "data")
  if (base64 === undefined) return []
  const mediaType = nonEmptyStringUnder(attachment, "mimeType")
  const fileName = nonEmptyStringUnder(attachment, "displayName")
  return [filePart({ provenance: "conversational", mediaType, fileName, data: { base64 } })]
}

/** The bytes of what a later event names by `assetId`: a file of a person, or an image of a result. */
function asset(data: Spot): MessageDraft[] {
  const base64 = nonEmptyTextUnder(data, "data")
  if (base64 === undefined) return []
  const mediaType = nonEmptyStringUnder(data, "mimeType")
  return [{ role: "user", parts: [filePart({ provenance: "conversational", mediaType, data: { base64 } })] }]
}

function reasoning(data: Spot, key: string): PartDraft<"reasoning">[] {
  const text = nonEmptyTextUnder(data, key)
  return text === undefined ? [] : [reasoningPart({ provenance: "conversational", text })]
}

function said(data: Spot): PartDraft<"text">[] {
  const text = stringUnder(data, "content")
  return text === undefined || text.value === "" ? [] : [textPart({ provenance: "conversational", text })]
}

function calls({ writer }: Reading, raw: RawRecord, data: Spot): PartDraft<"tool_call" | "opaque">[] {
  return itemsOf(inside(data, "toolRequests")).flatMap((request): PartDraft<"tool_call" | "opaque">[] => {
    const callId = nonEmptyStringUnder(request, "toolCallId")
    const name = nonEmptyStringUnder(request, "name")
    const params = jsonUnder(request, "arguments")
    if (callId !== undefined && name !== undefined && params !== undefined)
      return [toolCallPart({ provenance: "conversational", callId, name, params })]
    writer.issue(raw, { kind: "unknown_part", severity: "note", found: "a call without an id, a name or arguments" })
    const kind = callId ?? name
    return kind === undefined ? [] : [opaquePart({ provenance: "injected", kind })]
  })
}

function toolMessage({ writer }: Reading, raw: RawRecord, data: Spot): MessageDraft[] {
  const text = resultText(data)
  if (valueAt(data.value, "isUserRequested") === true)
    return text === undefined ? [] : [{ role: "user", parts: [injectedText(text, "bash-output")] }]
  const callId = nonEmptyStringUnder(data, "toolCallId")
  const result = text === undefined ? (jsonUnder(data, "result") ?? jsonUnder(data, "error")) : asJson(text)
  if (callId === undefined || result === undefined) {
    writer.issue(raw, { kind: "unknown_part", severity: "note", found: "a result without an id or content" })
    return []
  }
  const isFailure = isFalseAt(data.value, "success")
  return [{ role: "tool", parts: [toolResultPart({ provenance: "injected", callId, isFailure, result })] }]
}

/** What the model is given of a result: its content, or the message of its error. */
function resultText(data: Spot): Placed<string> | undefined {
  const result = inside(data, "result")
  const error = inside(data, "error")
  return (result && stringUnder(result, "content")) ?? (error && stringUnder(error, "message"))
}

/** A command that a person ran from the prompt. The model is told neither of it nor of its output. */
function shellCommand(data: Spot): MessageDraft[] {
  const given = inside(data, "arguments")
  const text = given && nonEmptyTextUnder(given, "command")
  if (text === undefined) return []
  return [{ role: "user", parts: [textPart({ provenance: "conversational", text, pond: { shell: "command" } })] }]
}

function injected(data: Spot, key: string, kind: string): MessageDraft[] {
  const text = nonEmptyTextUnder(data, key)
  return text === undefined ? [] : [{ role: "user", parts: [injectedText(text, kind)] }]
}

// --- Kinds of records ------------------------------------------------------------------------------------------------

// The kinds of events that a log of Copilot holds beside messages. Others are kept as well, and said aloud.

/** Whole families: bookkeeping of the client that grows with each version. */
const FAMILIES: ReadonlySet<string> = new Set([
  ...["auto_mode_switch", "canvas", "capabilities", "command", "commands", "elicitation", "exit_plan_mode"],
  ...["external_tool", "fusion", "hook", "human_response", "mcp", "mcp_app", "model", "pending_messages"],
  ...["permission", "sampling", "session_limits_exhausted", "skill", "subagent", "tool_search", "ui", "user_input"],
  ...["workflow"],
])

const KINDS: ReadonlySet<string> = new Set([
  ...["abort", "assistant.idle", "assistant.intent", "assistant.message", "assistant.reasoning", "assistant.usage"],
  ...["assistant.turn_end", "assistant.turn_start", "system.message", "system.notification"],
  ...["tool.execution_complete", "tool.execution_start", "tool.shell_output", "tool.user_requested", "user.message"],
  ...["session.auto_mode_resolved", "session.auto_tier_recommendation", "session.auto_tier_switch_failed"],
  ...["session.autopilot_objective_changed", "session.autopilot_stopped", "session.background_tasks_changed"],
  ...["session.binary_asset", "session.compaction_complete", "session.compaction_start", "session.completion_receipt"],
  ...["session.context_changed", "session.context_cleared", "session.custom_agents_updated"],
  ...["session.custom_notification", "session.error", "session.handoff", "session.idle", "session.import_legacy"],
  ...["session.indexed_search", "session.info", "session.managed_settings_enforced"],
  ...["session.managed_settings_resolved", "session.mode_changed", "session.mode_notice_delivered"],
  ...["session.model_change", "session.model_deselected", "session.permission_recovery"],
  ...["session.permissions_changed", "session.plan_changed", "session.quota_observation"],
  ...["session.remote_steerable_changed", "session.resume", "session.schedule_cancelled"],
  ...["session.schedule_created", "session.schedule_rearmed", "session.session_limits_changed"],
  ...["session.shutdown", "session.skills_loaded", "session.snapshot_rewind", "session.start", "session.task_complete"],
  ...["session.title_changed", "session.todos_changed", "session.tools_updated", "session.truncation"],
  ...["session.usage_checkpoint", "session.usage_info", "session.usage_record", "session.warning"],
  ...["session.workspace_file_changed"],
])

/** Families inside `session.` and `assistant.`, by how the rest of the name begins. */
const INNER = /^(?:session\.(?:canvas|extensions|fusion|mcp)|assistant\.fusion)[._]/

function isKnownKind(type: string): boolean {
  return KINDS.has(type) || FAMILIES.has(type.slice(0, Math.max(0, type.indexOf(".")))) || INNER.test(type)
}
