/**
 * The live conversation: what opencode would send to its model if the session went on now. What was undone is gone, what
 * was compacted is its summary and the tail that stays behind it, what the client cleared is what it puts in its place.
 */
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import type { Entry, Part, SessionLog, TextPart, ToolCallPart, ToolResultPart } from "../../model/session.ts"
import type { RawRecord, SourceFile } from "../adapter.ts"
import { createSessionWriter, type MessageDraft } from "../session-writer.ts"
import { type LiveSession, liveSession } from "./live.ts"
import { draftsOf } from "./messages.ts"
import { rowDraftsOf } from "./messages-v2.ts"
import { infoAt, type MessageView, objectOf, type PartView, partAt } from "./records.ts"

export function context(log: SessionLog): readonly Entry[] {
  const live = liveSession(log)
  const render = openRendering(log)
  const said = compacted(reverted(live.messages, live.session)).flatMap((view) => messageEntries(view, render))
  const known = new Set(live.messages.map(({ id }) => id?.value))
  const rows = sinceCompaction(revertedRows(live)).filter((row) => !known.has(String(row["id"])))
  return [...said, ...rows.flatMap((row) => rowEntries(row, render))]
}

// --- What is left of the session ----------------------------------------------------------------------------------------

/** An undo holds until the next prompt, and then removes the message that it names and what came after. */
function reverted(messages: readonly MessageView[], session: LiveSession["session"]): readonly MessageView[] {
  const { messageID, partID } = objectOf(session["revert"])
  const start = messages.findIndex(({ id }) => id !== undefined && id.value === messageID)
  if (start < 0) return messages
  const kept = messages.slice(0, start)
  const bound = messages[start]
  const end = bound?.parts.findIndex(({ id }) => id !== undefined && id.value === partID) ?? -1
  // Inside a message: what stands before the part stays.
  if (bound === undefined || typeof partID !== "string") return kept
  return [...kept, end < 0 ? bound : { ...bound, parts: bound.parts.slice(0, end) }]
}

/** From the last finished compaction on: its prompt, its summary, the tail that it left alone, and what came after. */
function compacted(messages: readonly MessageView[]): readonly MessageView[] {
  const finished = new Set<JsonValue>()
  for (const view of messages) if (isFinishedSummary(view)) finished.add(infoAt(view, "parentID") ?? null)
  const prompt = messages.findLastIndex((view) => isPrompt(view, finished))
  const bound = messages[prompt]
  if (bound === undefined) return messages
  const tailId = compactionOf(bound)?.["tail_start_id"]
  const start =
    tailId === undefined ? prompt : messages.findLastIndex(({ id }, at) => at <= prompt && id?.value === tailId)
  // A tail that is not there any more began before everything that is.
  return summaryFirst(messages.slice(Math.max(0, start)), bound, tailId)
}

/** The prompt and its summary come first, then the tail, which is older. */
function summaryFirst(
  messages: readonly MessageView[],
  bound: MessageView,
  tailId: JsonValue | undefined,
): readonly MessageView[] {
  const prompt = messages.indexOf(bound)
  const start = messages.findIndex(({ id }) => id !== undefined && id.value === tailId)
  const summary = messages.findIndex((view, at) => at > prompt && isSummaryOf(view, bound))
  if (start < 0 || start >= prompt || summary < 0) return messages
  return [...messages.slice(prompt, summary + 1), ...messages.slice(start, prompt), ...messages.slice(summary + 1)]
}

function isPrompt(view: MessageView, finished: ReadonlySet<JsonValue>): boolean {
  const isFinished = view.id !== undefined && finished.has(view.id.value)
  return isFinished && infoAt(view, "role") === "user" && compactionOf(view) !== undefined
}

function isSummaryOf(view: MessageView, prompt: MessageView): boolean {
  return infoAt(view, "summary") === true && infoAt(view, "parentID") === prompt.id?.value
}

function isFinishedSummary(view: MessageView): boolean {
  return infoAt(view, "summary") === true && Boolean(infoAt(view, "finish")) && infoAt(view, "error") === undefined
}

function compactionOf(view: MessageView): ReturnType<typeof objectOf> | undefined {
  const part = view.parts.find(({ type }) => type?.value === "compaction")
  return part === undefined ? undefined : objectOf(partAt(view, part))
}

/** Here the message that an undo names stays. */
function revertedRows({ rows, session }: LiveSession): LiveSession["rows"] {
  const { messageID } = objectOf(session["revert"])
  const bound = rows.findIndex((row) => row["id"] === messageID)
  return bound < 0 ? rows : rows.slice(0, bound + 1)
}

function sinceCompaction(rows: LiveSession["rows"]): LiveSession["rows"] {
  return rows.slice(
    Math.max(
      0,
      rows.findLastIndex((row) => row["type"] === "compaction"),
    ),
  )
}

// --- What of a message is sent ------------------------------------------------------------------------------------------

const CLEARED = "[Old tool result content cleared]"
const INTERRUPTED = "[Tool execution was interrupted]"
const COMPACTION_PROMPT = "What did we do so far?"
const SUBTASK_PROMPT = "The following tool was executed by the user"
const MEDIA_PROMPT = "Attached media from tool result:"

/** Their text stands beside them, as what the read tool said. */
const SHOWN_AS_TEXT = new Set(["text/plain", "application/x-directory"])

function messageEntries(view: MessageView, render: Render): Entry[] {
  if (infoAt(view, "role") === "assistant" && isFailed(view)) return []
  const found = draftsOf(view)
  if (found === undefined) return []
  const entries = render(view.record, found.drafts).map((entry) => sentEntry(view, entry))
  return paired(entries.filter(({ parts }) => parts.length > 0))
}

/** An answer that failed is not sent, unless it was stopped with something in it. */
function isFailed(view: MessageView): boolean {
  const error = infoAt(view, "error")
  if (error === undefined || error === null) return false
  const hasContent = view.parts.some(({ type }) => type?.value !== "step-start" && type?.value !== "reasoning")
  return !(objectOf(error)["name"] === "MessageAbortedError" && hasContent)
}

function sentEntry(view: MessageView, entry: Entry): Entry {
  const { message } = entry
  const cleared = new Set(view.parts.filter((part) => isCleared(view, part)).map(({ id }) => id?.value))
  const isMedia = objectOf(message.options["pond"] as JsonValue | undefined)["injected"] === "tool-media"
  const parts = (entry.parts as readonly Part[]).flatMap((part): Part[] => {
    if (part.type === "opaque") return promptOf(part)
    if (part.type === "text") return part.text === "" || isIgnored(part) ? [] : [part]
    if (part.type === "file")
      return SHOWN_AS_TEXT.has(part.media_type) || (isMedia && isOfCleared(view, part)) ? [] : [part]
    if (part.type === "tool_result" && cleared.has(part.id)) return [{ ...part, result: CLEARED }]
    return [part]
  })
  if (isMedia && parts.length > 0) parts.unshift(textOf(message, MEDIA_PROMPT, "tool-media"))
  return { message, parts } as unknown as Entry
}

function promptOf(part: Part & { readonly type: "opaque" }): TextPart[] {
  const { kind, id, session_id, message_id } = part
  if (kind !== "compaction" && kind !== "subtask") return []
  const text = kind === "compaction" ? COMPACTION_PROMPT : SUBTASK_PROMPT
  return [
    { type: "text", id, session_id, message_id, provenance: "injected", text, options: { pond: { injected: kind } } },
  ]
}

function textOf(message: Entry["message"], text: string, injected: string): TextPart {
  const { id, session_id } = message
  const options = { pond: { injected } }
  return { type: "text", id: `${id}:${injected}`, session_id, message_id: id, provenance: "injected", text, options }
}

function isIgnored(part: TextPart): boolean {
  return objectOf(part.options["pond"] as JsonValue | undefined)["injected"] === "ignored"
}

function isCleared(view: MessageView, part: PartView): boolean {
  return Boolean(partAt(view, part, "state", "time", "compacted"))
}

function isOfCleared(view: MessageView, file: Part): boolean {
  return view.parts.some((part) => {
    const attachments = isCleared(view, part) ? partAt(view, part, "state", "attachments") : undefined
    return Array.isArray(attachments) && attachments.some((attachment) => objectOf(attachment)["id"] === file.id)
  })
}

/** Each call has its result behind it: of one that never came, the client says so. */
function paired(entries: readonly Entry[]): Entry[] {
  const answered = new Set(
    entries
      .flatMap(({ parts }) => parts as readonly Part[])
      .map((part) => (part.type === "tool_result" ? part.call_id : "")),
  )
  const all: Entry[] = []
  for (const [index, entry] of entries.entries()) {
    const before = entries[index - 1]
    const open = before?.message.role === "assistant" ? unanswered(before, answered) : []
    if (entry.message.role === "tool") {
      const { message, parts } = entry
      all.push({ message, parts: [...parts, ...open.map((call) => interrupted(call, message.id))] } as Entry)
    } else all.push(...toolEntry(before, open), entry)
  }
  const last = entries.at(-1)
  if (last?.message.role === "assistant") all.push(...toolEntry(last, unanswered(last, answered)))
  return all
}

function unanswered(entry: Entry, answered: ReadonlySet<string>): ToolCallPart[] {
  const calls = (entry.parts as readonly Part[]).filter((part) => part.type === "tool_call")
  return calls.filter(({ call_id: id }) => !answered.has(id))
}

function toolEntry(entry: Entry | undefined, open: readonly ToolCallPart[]): Entry[] {
  if (entry === undefined || open.length === 0) return []
  const id = `${entry.message.id}#interrupted`
  const { session_id, ordinal, timestamp } = entry.message
  const message = { id, session_id, ordinal, timestamp, role: "tool" as const, options: {} }
  return [{ message, parts: open.map((call) => interrupted(call, id)) }]
}

function interrupted(call: ToolCallPart, messageId: string): ToolResultPart {
  const { id, session_id, call_id, name } = call
  const said = { provenance: "injected" as const, is_failure: true, result: INTERRUPTED, options: {} }
  return { type: "tool_result", id, session_id, message_id: messageId, call_id, name, ...said }
}

// --- Rows of `session_message` ------------------------------------------------------------------------------------------

function rowEntries(row: JsonObject, render: Render): Entry[] {
  const found = rowDraftsOf(row)
  if (found === undefined) return []
  const entries = render(row, found.drafts).filter(
    ({ message, parts }) => message.role === "system" || parts.length > 0,
  )
  return paired(entries).map((entry) => ({ ...entry, parts: (entry.parts as readonly Part[]).map(shown) }) as Entry)
}

/** What a tool gave back as an object is shown to the model as the JSON that it is. */
function shown(part: Part): Part {
  const result = part.type === "tool_result" ? (part.result as JsonValue) : null
  return isJsonObject(result) ? ({ ...part, result: stringifyJson(result) } as Part) : part
}

// --- Entries ------------------------------------------------------------------------------------------------------------

type Render = (record: JsonValue, drafts: readonly [MessageDraft, ...MessageDraft[]]) => Entry[]

/** The same messages as when the session was read, with the whole record beside them: nothing is taken out of it here. */
function openRendering({ session }: SessionLog): Render {
  const file: SourceFile = { path: "", place: "", form: "database", sizeBytes: 0, modifiedMs: 0, inode: 0 }
  let entries: Entry[] = []
  const sink = { session: () => undefined, entry: (entry: Entry) => void entries.push(entry), issue: () => undefined }
  const writer = createSessionWriter(file, sink, { session, nextOrdinal: 0, seen: new Set(), state: null })
  return (record, drafts) => {
    entries = []
    const raw: RawRecord = { form: "row", file, line: 1, table: "message", row: record }
    writer.record(raw, { ...objectOf(record) }, drafts)
    return entries
  }
}
