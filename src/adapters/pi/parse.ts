/**
 * pi to canonical: one log for each session, a header and then entries, in the order of the file. From v2 on the entries
 * form a tree by `id` and `parentId`; that tree is for `context.ts`. v4 says a `kind` in front: an entry as before,
 * bookkeeping of the harness, or a list of what was committed together.
 * Reads top to bottom: the log, its header, an entry, a message, a block. What is not named here stays in its record.
 */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { Provenance } from "../../model/session.ts"
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceFile, SourceUnit } from "../adapter.ts"
import {
  asJson,
  booleanAt,
  jsonUnder,
  matchIn,
  momentOf,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  type Placed,
  plain,
  type Sealed,
  sealedModifiedAt,
  sealedOrigin,
  sealedRelativePath,
  stringHere,
  stringUnder,
  timestampAt,
  valueAt,
} from "../extract.ts"
import {
  filePart,
  opaquePart,
  type PartDraft,
  reasoningPart,
  textPart,
  toolCallPart,
  toolResultPart,
} from "../parts.ts"
import { createSessionWriter, isFilled, type MessageDraft, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { readJson } from "../shared/read-json.ts"
import { fieldsOf, type SourceObject, type SourceValue } from "../source-value.ts"
import { inside, itemOf, itemsOf, NOWHERE, type Spot, whole, wordUnder } from "../spot.ts"
import type { Brand } from "./brands.ts"
import { PICTURE } from "./pictures.ts"

export function parserOf(brand: Brand) {
  return (unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser => {
    const file = mainFileOf(unit)
    const writer = createSessionWriter(file, sink, resume)
    const isAgent = AGENT.test(file.relativePath)
    let header: SourceValue = null

    function takeLine(raw: RawRecord, record: SourceValue): void {
      // Without a header (a crash took it) the name of the file still says whose entries these are.
      const isFirst = isHeader(record)
      if (isFirst) header = record
      // What an agent is stands behind the header.
      if (!writer.hasBegun && (!isAgent || SAYS_AGENT.has(wordUnder(record, "type"))))
        begin(writer, brand, file, header, nonEmptyStringAt(record, "agent"))
      if (isFirst) pushHeader(writer, raw, record)
      else pushEntry(writer, raw, record)
    }

    return {
      push(raw) {
        const record = raw.file.form === "log" ? readJson(raw, writer) : undefined
        if (raw.file.form !== "log") writer.whole(raw)
        else if (record === undefined) return
        else if (isTitleSlot(record)) pushTitleSlot(writer, raw, record)
        else takeLine(raw, record)
      },
      end(isSettled = false) {
        const waits = isAgent && !writer.hasBegun && header !== null
        if (waits && isSettled) begin(writer, brand, file, header)
        if (!waits || isSettled) writer.end()
        return { state: null, clientVersions: [] }
      },
    }
  }
}

/** An agent of oh-my-pi lies in the folder of the session that started it, and says first what it is. */
const AGENT = /\d{4}-\d\d-\d\dT[^/]*_[^/]+\/[^/]+\.jsonl$/
const SAYS_AGENT: ReadonlySet<string | undefined> = new Set(["session_init", "message"])

/** oh-my-pi keeps the name of the session in a first line of 256 bytes, which it writes over. */
function isTitleSlot(record: SourceValue): boolean {
  return wordUnder(record, "type") === "title" && valueAt(record, "pad") !== undefined
}

function pushTitleSlot(writer: SessionWriter, raw: RawRecord, record: SourceValue): void {
  const title = valueAt(record, "title")
  writer.carrier(raw, record, {
    ...{ id: nonEmptyStringAt(record, "type"), timestamp: timestampAt(record, "updatedAt") },
    pond: typeof title === "string" && title !== "" ? { title } : undefined,
  })
}

// --- The header -------------------------------------------------------------------------------------------------------

/** `--<directory>--/<time>_<id>.jsonl`, where people may choose the id. */
const DIRECTORY = /(?:^|\/)(-[^/]*)\/[^/]*$/
const NAME = /\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_([^/\\]+)\.jsonl$/
const NEWEST_VERSION = 4

function isHeader(record: SourceValue): boolean {
  return wordUnder(record, "type") === "session" || wordUnder(record, "kind") === "header"
}

/** Does nothing where neither a header nor the name of the file says which session it is. */
function begin(
  writer: SessionWriter,
  brand: Brand,
  file: SourceFile,
  header: SourceValue,
  agent?: Sealed<string>,
): void {
  const place = sealedRelativePath(file)
  const id = nonEmptyStringAt(header, "id") ?? matchIn(place, NAME)
  const project = nonEmptyStringAt(header, "cwd") ?? matchIn(place, DIRECTORY)
  const createdAt = headerTime(header) ?? sealedModifiedAt(file)
  if (id === undefined || project === undefined || createdAt === undefined) return
  writer.begin({ id, sourceAgent: sealedOrigin(brand, agent), project, createdAt, parentSessionId: parentOf(header) })
}

function headerTime(header: SourceValue): Sealed<string> | undefined {
  return timestampAt(header, "timestamp") ?? timestampAt(header, "createdAt")
}

/** A fork names the file of its parent, which holds the parent's id; from v4 on it names the parent. */
function parentOf(header: SourceValue): Sealed<string> | undefined {
  const path =
    nonEmptyStringAt(header, "parentSession") ??
    nonEmptyStringAt(header, "branchedFrom") ??
    nonEmptyStringAt(header, "legacyParentSessionPath")
  return nonEmptyStringAt(header, "parentSessionId") ?? (path === undefined ? undefined : matchIn(path, NAME))
}

function pushHeader(writer: SessionWriter, raw: RawRecord, header: SourceValue): void {
  const version = valueAt(header, "version") ?? valueAt(header, "v")
  if (typeof version === "number" && version > NEWEST_VERSION)
    writer.issue(raw, { kind: "unknown_version", severity: "note", found: `a log of version ${version}` })
  // oh-my-pi names a session in its header where it has no line for the name.
  const title = raw.line === 1 ? valueAt(header, "title") : undefined
  const pond = typeof title === "string" ? { title } : undefined
  writer.carrier(raw, header, { id: nonEmptyStringAt(header, "id"), timestamp: headerTime(header), pond })
}

/**
 * Opening a log of v1, pi writes it anew: its entries become a tree, a compaction names what it keeps by id, and what an
 * extension said has another role.
 */
export function unchangedByUpgrade(record: JsonValue): JsonValue {
  if (!isJsonObject(record)) return record
  const { id: _, parentId: __, firstKeptEntryId: ___, firstKeptEntryIndex: ____, ...rest } = record
  const { message } = rest
  if (!isJsonObject(message) || message["role"] !== "hookMessage") return rest
  return { ...rest, message: { ...message, role: "custom" } }
}

// --- Entries ----------------------------------------------------------------------------------------------------------

/** Entries that are no messages. Others are kept as well, and said aloud. */
const CARRIERS = new Set([
  ...["model_change", "thinking_level_change", "active_tools_change", "usage", "context_edit"],
  ...["custom", "label", "session_info"],
  // Those of oh-my-pi.
  ...["model_usage", "service_tier_change", "title_change", "ttsr_injection", "session_init", "mode_change"],
  ...["credential_pin", "reset_boundary"],
])
/** What v4 writes beside its entries. */
const BOOKKEEPING = new Set(["record", "lane", "fact", "usage", "value", "list"])

/** An entry, a message or a block: where it stands, and its fields. */
interface View {
  readonly spot: Spot
  readonly value: SourceObject
  /** Says that something here was read and kept, and not understood. */
  readonly note: (kind: "unknown_record" | "unknown_part", found: JsonValue | undefined) => void
}

/** Where something else than an object stands, there are no fields to read. */
function viewOf(spot: Spot, note: View["note"]): View {
  return { spot, value: fieldsOf(spot.value), note }
}

function pushEntry(writer: SessionWriter, raw: RawRecord, record: SourceValue): void {
  const note: View["note"] = (kind, found) =>
    writer.issue(raw, { kind, severity: "note", found: typeof found === "string" ? found.slice(0, 80) : "no type" })
  const spot = whole(record)
  const drafts: MessageDraft[] = []
  if (Array.isArray(record)) for (const entry of itemsOf(spot)) addDraft(drafts, entry, note)
  else addDraft(drafts, spot, note)
  const title = titleFacts(record)
  if (!isFilled(drafts)) {
    writer.carrier(raw, record, { ...commonFields(spot), pond: title })
    return
  }
  writer.record(raw, record, title === undefined ? drafts : withTitle(drafts, title))
}

function withTitle(
  [first, ...rest]: readonly [MessageDraft, ...MessageDraft[]],
  title: MessageDraft["pond"],
): readonly [MessageDraft, ...MessageDraft[]] {
  return [{ ...first, pond: { ...first.pond, ...title } }, ...rest]
}

function addDraft(drafts: MessageDraft[], entry: Spot, note: View["note"]): void {
  const draft = entryDraft(viewOf(entry, note))
  if (draft !== undefined) drafts.push(draft)
}

/** Nothing where the entry is no message. */
function entryDraft(entry: View): MessageDraft | undefined {
  const { spot, value, note } = entry
  const { type } = value
  // Before v4, some entries had a `kind` of their own. What v4 writes is numbered.
  const kind = value["seq"] === undefined ? "entry" : value["kind"]
  if (kind !== "entry") {
    if (typeof kind !== "string" || !BOOKKEEPING.has(kind)) note("unknown_record", kind)
    return undefined
  }
  switch (type) {
    case "message":
      return messageDraft(entry, viewOf(inside(spot, "message") ?? NOWHERE, note))
    case "custom_message":
      return customDraft(entry, entry)
    case "branch_summary":
      return summaryDraft(entry, entry, "branch-summary")
    case "compaction":
      return summaryDraft(entry, entry, "compact-summary")
    default:
      if (typeof type !== "string" || !CARRIERS.has(type)) note("unknown_record", type)
      return undefined
  }
}

function commonFields(entry: Spot): Pick<MessageDraft, "id" | "timestamp"> {
  const { value } = entry
  const timestamp = momentOf(value, "timestamp") ?? timestampAt(value, "message", "timestamp")
  return { id: nonEmptyStringUnder(entry, "id"), timestamp }
}

/** The name that a person gave the session, in the words of each version. The last one counts. */
function titleFacts(record: SourceValue): MessageDraft["pond"] {
  if (Array.isArray(record)) return record.map((write: SourceValue) => titleFacts(write)).findLast(isPresent)
  const isName =
    wordUnder(record, "type") === "session_info" ||
    wordUnder(record, "type") === "title_change" ||
    wordUnder(record, "fact") === "name" ||
    wordUnder(record, "namespace") === "pi.session.name"
  const name = isName ? (valueAt(record, "name") ?? valueAt(record, "title") ?? valueAt(record, "value")) : undefined
  return typeof name === "string" ? { title: name } : undefined
}

// --- Messages ---------------------------------------------------------------------------------------------------------

function messageDraft(entry: View, message: View): MessageDraft | undefined {
  const { role } = message.value
  const { id, timestamp } = commonFields(entry.spot)
  switch (role) {
    case "user":
      return { id, timestamp, role: "user", parts: contentParts(message, userBlock) }
    case "assistant":
      return {
        id,
        timestamp,
        role: "assistant",
        pond: modelFacts(message),
        parts: contentParts(message, assistantBlock),
      }
    case "toolResult":
      return { id, timestamp, role: "tool", parts: listOf(toolResult(message)) }
    case "system":
      return { id, timestamp, role: "system", content: stringUnder(message.spot, "content") }
    case "bashExecution":
      return { id, timestamp, role: "user", parts: ranParts(message, "command") }
    case "pythonExecution":
      return { id, timestamp, role: "user", parts: ranParts(message, "code") }
    case "developer":
      return { id, timestamp, role: "user", parts: contentParts(message, toldBlock) }
    case "fileMention":
      return { id, timestamp, role: "user", parts: mentionedParts(message) }
    case "custom":
    case "hookMessage":
      return customDraft(entry, message)
    case "branchSummary":
      return summaryDraft(entry, message, "branch-summary")
    case "compactionSummary":
      return summaryDraft(entry, message, "compact-summary")
    default:
      message.note("unknown_record", role)
      return undefined
  }
}

function modelFacts({ value: { model } }: View): MessageDraft["pond"] {
  return typeof model === "string" ? { model } : undefined
}

/** What the client tells its model in place of messages that it no longer sends. */
function summaryDraft(entry: View, { spot }: View, injected: string): MessageDraft {
  const text = stringUnder(spot, "summary")
  const parts = text === undefined ? [] : [textPart({ provenance: "injected", text, pond: { injected } })]
  return { ...commonFields(entry.spot), role: "user", parts }
}

/** What an extension tells the model in the user's slot. */
function customDraft(entry: View, message: View): MessageDraft {
  return { ...commonFields(entry.spot), role: "user", parts: contentParts(message, injectedBlock) }
}

/** A command or a script that a person ran from the prompt: it is theirs, the output is not. */
function ranParts({ spot }: View, key: "command" | "code"): PartDraft<"text">[] {
  const command = stringUnder(spot, key)
  const output = stringUnder(spot, "output")
  return [
    command && textPart({ provenance: "conversational", text: command, pond: { shell: "command" } }),
    output && textPart({ provenance: "injected", text: output, pond: { injected: "bash-output" } }),
  ].filter(isPresent)
}

/** Files that a person named in the prompt, as the client read them. */
function mentionedParts({ spot }: View): PartDraft<"text" | "file">[] {
  const files = inside(spot, "files")
  return [...(files === undefined ? [] : itemsOf(files))].flatMap((file): PartDraft<"text" | "file">[] => {
    const text = stringUnder(file, "content")
    const picture = inside(file, "image")
    const data = picture && stringUnder(picture, "data")
    const shown = data && pictureIn(picture, data, "injected", { injected: "file-content" })
    const told = text && textPart({ provenance: "injected", text, pond: { injected: "file-content" } })
    return [told, shown].filter(isPresent)
  })
}

/** A result that is one text stands as that text, any other as the blocks that it is. */
function toolResult(message: View): PartDraft<"tool_result" | "opaque"> | undefined {
  const { spot, value } = message
  const callId = nonEmptyStringUnder(spot, "toolCallId")
  const text = onlyText(inside(spot, "content"))
  const result = text === undefined ? jsonUnder(spot, "content") : asJson(text)
  if (callId === undefined || result === undefined) return unread(message, "role")
  const name = nonEmptyStringUnder(spot, "toolName")
  return toolResultPart({ provenance: "injected", callId, name, isFailure: booleanAt(value, "isError"), result })
}

function onlyText(content: Spot | undefined): Placed<string> | undefined {
  const blocks = content?.value
  if (content === undefined || !Array.isArray(blocks) || blocks.length !== 1) return undefined
  const block = wordUnder(blocks[0], "type") === "text" ? inside(content, 0) : undefined
  return block && stringUnder(block, "text")
}

// --- Blocks -----------------------------------------------------------------------------------------------------------

type UserPart = PartDraft<"text" | "file" | "opaque">
type AssistantPart = PartDraft<"text" | "file" | "reasoning" | "tool_call" | "opaque">

/** The content of a message: one text, or a list of blocks. */
function contentParts<P>({ spot, value, note }: View, readBlock: (block: View) => P | undefined): P[] {
  const content = inside(spot, "content")
  const { content: blocks } = value
  if (content === undefined) return []
  if (!Array.isArray(blocks)) return typeof blocks === "string" ? listOf(readBlock(viewOf(content, note))) : []
  const parts: P[] = []
  for (let index = 0; index < blocks.length; index++) {
    const part = readBlock(viewOf(itemOf(content, index), note))
    if (part !== undefined) parts.push(part)
  }
  return parts
}

function listOf<P>(part: P | undefined): P[] {
  return part === undefined ? [] : [part]
}

function userBlock(block: View): UserPart | undefined {
  return plainBlock(block, "conversational") ?? unread(block, "type")
}

function injectedBlock(block: View): UserPart | undefined {
  return plainBlock(block, "injected", { injected: "custom-message" }) ?? unread(block, "type")
}

function toldBlock(block: View): UserPart | undefined {
  return plainBlock(block, "injected", { injected: "developer" }) ?? unread(block, "type")
}

/** Of oh-my-pi: what only the provider that said it can read. */
const SEALED: ReadonlySet<JsonValue | undefined> = new Set(["redactedThinking", "fallback", "anthropicServerTool"])

function assistantBlock(block: View): AssistantPart | undefined {
  const { spot } = block
  const { type } = block.value
  if (type === "thinking") {
    const text = stringUnder(spot, "thinking")
    return text === undefined ? unread(block, "type") : reasoningPart({ provenance: "conversational", text })
  }
  const sealed = SEALED.has(type) ? nonEmptyStringUnder(spot, "type") : undefined
  if (sealed !== undefined) return opaquePart({ provenance: "conversational", kind: sealed })
  if (type !== "toolCall") return plainBlock(block, "conversational") ?? unread(block, "type")
  const callId = nonEmptyStringUnder(spot, "id")
  const name = nonEmptyStringUnder(spot, "name")
  const params = jsonUnder(spot, "arguments")
  if (callId === undefined || name === undefined || params === undefined) return unread(block, "type")
  return toolCallPart({ provenance: "conversational", callId, name, params })
}

/** A text or an image, whoever put it there. */
function plainBlock(
  { spot, value }: View,
  provenance: Provenance,
  pond?: Record<string, JsonValue>,
): PartDraft<"text" | "file"> | undefined {
  const { type } = value
  const text = type === "text" ? stringUnder(spot, "text") : stringHere(spot)
  if (text !== undefined) return textPart({ provenance, pond, text })
  const data = type === "image" ? stringUnder(spot, "data") : undefined
  return data && pictureIn(spot, data, provenance, pond)
}

/** Of oh-my-pi: a large picture lies in a separate file, and here stands which. */
function pictureIn(
  spot: Spot,
  data: Placed<string>,
  provenance: Provenance,
  pond?: Record<string, JsonValue>,
): PartDraft<"file"> {
  const mediaType = nonEmptyStringUnder(spot, "mimeType")
  const held = PICTURE.test(data.value) ? { url: data } : { base64: data }
  return filePart({ provenance, pond, mediaType, data: held })
}

/** Marks the place of what is not understood, where it says a kind. Its content stays in the record. */
function unread({ spot, note }: View, key: string): PartDraft<"opaque"> | undefined {
  const kind = nonEmptyStringUnder(spot, key)
  note("unknown_part", kind && plain(kind))
  return kind === undefined ? undefined : opaquePart({ provenance: "injected", kind })
}

function isPresent<T>(value: T | undefined): value is T {
  return value !== undefined
}
