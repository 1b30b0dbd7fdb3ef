/**
 * The parts of a message that opencode sends to its model: text, calls and results as they stand, or what the client puts
 * in their place. Nothing is taken out of a record here.
 */
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import type { Entry, FilePart, Part, SessionLog, TextPart, ToolResultPart } from "../../model/session.ts"
import type { RawRecord } from "../adapter.ts"
import { plain } from "../extract.ts"
import { createSessionWriter, type MessageDraft } from "../session-writer.ts"
import { noFile } from "../shared/folders.ts"
import { fieldsOf, fromSource } from "../source-value.ts"
import { draftsOf } from "./messages.ts"
import { rowDraftsOf } from "./messages-v2.ts"
import { infoAt, type MessageView, type PartView, partAt } from "./records.ts"

const CLEARED = "[Old tool result content cleared]"
const COMPACTION_PROMPT = "What did we do so far?"
const SUBTASK_PROMPT = "The following tool was executed by the user"
const MEDIA_PROMPT = "Attached media from tool result:"

/** Their text stands beside them, as what the read tool said. */
const SHOWN_AS_TEXT = new Set(["text/plain", "application/x-directory"])

export function messageEntries(view: MessageView, render: Render): Entry[] {
  if (infoAt(view, "role") === "assistant" && isFailed(view)) return []
  const found = draftsOf(view)
  if (found === undefined) return []
  const entries = render(view.record, found.drafts)
  const media = mediaOf(view, entries)
  return entries.map((entry) => sentEntry(entry, media)).filter(({ parts }) => parts.length > 0)
}

/** An answer that failed is not sent, unless it was stopped with something in it. */
function isFailed(view: MessageView): boolean {
  const error = infoAt(view, "error")
  if (error === undefined || error === null) return false
  const hasContent = view.parts.some(({ type }) => type !== "step-start" && type !== "reasoning")
  return !(fieldsOf(error)["name"] === "MessageAbortedError" && hasContent)
}

function sentEntry(entry: Entry, media: Media): Entry {
  const { message } = entry
  const all: readonly Part[] = entry.parts
  if (!isMedia(entry)) return { message, parts: all.flatMap((part) => sentParts(part, media)) } as unknown as Entry
  // Images went with their result. What else a tool shows comes behind it, in the user's slot.
  const rest = all.filter((part) => part.type === "file" && !isImage(part) && !media.cleared.has(part.id))
  const parts = rest.length === 0 ? [] : [textPartOf(message, MEDIA_PROMPT, "tool-media"), ...rest]
  return { message, parts } as unknown as Entry
}

function sentParts(part: Part, { cleared, shown }: Media): readonly Part[] {
  switch (part.type) {
    case "opaque":
      return promptOf(part)
    case "text":
      return part.text === "" || isIgnored(part) ? [] : [part]
    case "file":
      return SHOWN_AS_TEXT.has(part.media_type) ? [] : [part]
    case "tool_result":
      return [cleared.has(part.id) ? { ...part, result: CLEARED } : withImages(part, shown.get(part.id) ?? [])]
    default:
      return [part]
  }
}

interface Media {
  /** The files that a tool shows, by the part of the tool. */
  readonly shown: ReadonlyMap<string, readonly FilePart[]>
  /** The parts of tools whose output was cleared, and the files that they showed. */
  readonly cleared: ReadonlySet<string>
}

/** The files of all tools stand in the order of the tools. */
function mediaOf(view: MessageView, entries: readonly Entry[]): Media {
  const parts: readonly Part[] = entries.filter(isMedia).flatMap((entry): readonly Part[] => entry.parts)
  const files = parts.filter((part) => part.type === "file")
  const shown = new Map<string, FilePart[]>()
  const cleared = new Set<string>()
  for (const part of view.parts) {
    const attachments = partAt(part, "state", "attachments")
    const count = Array.isArray(attachments) ? attachments.filter((file) => isFileWithUrl(fieldsOf(file))).length : 0
    const own = files.splice(0, count)
    const id = part.id && plain(part.id)
    if (id === undefined) continue
    shown.set(id, own)
    if (isCleared(part)) for (const each of [id, ...own.map((file) => file.id)]) cleared.add(each)
  }
  return { shown, cleared }
}

function isFileWithUrl({ type, url }: JsonObject): boolean {
  return type === "file" && typeof url === "string"
}

function isMedia({ message }: Entry): boolean {
  return fieldsOf(message.options["pond"] as JsonValue | undefined)["injected"] === "tool-media"
}

function isImage({ media_type: type, data }: FilePart): boolean {
  return type.startsWith("image/") && "base64" in data
}

function withImages(part: ToolResultPart, files: readonly FilePart[]): ToolResultPart {
  const images = files.flatMap(({ media_type: mimeType, data }) =>
    "base64" in data && mimeType.startsWith("image/") ? [{ type: "image", data: data.base64, mimeType }] : [],
  )
  return images.length === 0 ? part : { ...part, result: [{ type: "text", text: part.result }, ...images] }
}

function promptOf(part: Part & { readonly type: "opaque" }): TextPart[] {
  const { kind, id, session_id, message_id } = part
  if (kind !== "compaction" && kind !== "subtask") return []
  const text = kind === "compaction" ? COMPACTION_PROMPT : SUBTASK_PROMPT
  return [
    { type: "text", id, session_id, message_id, provenance: "injected", text, options: { pond: { injected: kind } } },
  ]
}

function textPartOf(message: Entry["message"], text: string, injected: string): TextPart {
  const { id, session_id } = message
  const options = { pond: { injected } }
  return { type: "text", id: `${id}:${injected}`, session_id, message_id: id, provenance: "injected", text, options }
}

function isIgnored(part: TextPart): boolean {
  return fieldsOf(part.options["pond"] as JsonValue | undefined)["injected"] === "ignored"
}

function isCleared(part: PartView): boolean {
  return Boolean(partAt(part, "state", "time", "compacted"))
}

// --- Rows of `session_message` ------------------------------------------------------------------------------------------

export function rowEntries(row: JsonObject, render: Render): Entry[] {
  const found = rowDraftsOf(fromSource(row))
  if (found === undefined) return []
  const entries = render(row, found.drafts).filter(
    ({ message, parts }) => message.role === "system" || parts.length > 0,
  )
  const failures = failuresIn(row)
  return entries.map(
    (entry) => ({ ...entry, parts: (entry.parts as readonly Part[]).map((part) => asShown(part, failures)) }) as Entry,
  )
}

/** What a tool gave back as an object is shown to the model as the JSON that it is. */
function asShown(part: Part, failures: ReadonlyMap<JsonValue, string>): Part {
  if (part.type !== "tool_result") return part
  const result = failures.get(part.call_id) ?? (part.result as JsonValue)
  return { ...part, result: isJsonObject(result) ? stringifyJson(result) : result } as Part
}

/** Of a call that failed the model is shown why, and what there was until then, as one object. */
function failuresIn(row: JsonObject): ReadonlyMap<JsonValue, string> {
  const { content } = fieldsOf(row["data"])
  const tools = (Array.isArray(content) ? content : []).map(fieldsOf).filter(({ type }) => type === "tool")
  return new Map(
    tools.flatMap(({ id = null, provider, state }) => {
      const { status, error, content: shown, structured } = fieldsOf(state)
      if (status !== "error" || fieldsOf(provider)["executed"] === true) return []
      return [[id, JSON.stringify({ error, content: shown, structured })] as const]
    }),
  )
}

// --- Entries ------------------------------------------------------------------------------------------------------------

export type Render = (record: JsonValue, drafts: readonly [MessageDraft, ...MessageDraft[]]) => Entry[]

/** The same messages as when the session was read, with the whole record beside them: nothing is taken out of it here. */
export function openRendering({ session }: SessionLog): Render {
  const file = noFile("database")
  let entries: Entry[] = []
  const sink = { session: () => undefined, entry: (entry: Entry) => void entries.push(entry), issue: () => undefined }
  const writer = createSessionWriter(file, sink, { session, nextOrdinal: 0, seen: new Set(), state: null })
  return (record, drafts) => {
    entries = []
    const raw: RawRecord = { form: "row", file, line: 1, table: "message", row: fromSource(record) }
    writer.record(raw, { ...fieldsOf(record) }, drafts)
    return entries
  }
}
