/**
 * Gemini CLI to canonical. Since 0.39 a chat is a log of events: messages, which are appended again under their id when
 * there is more in them; patches, which may put other messages in the place of all; rewinds; and metadata. Before, it was one
 * document with a list of messages, each of which is a separate record here.
 * Reads top to bottom: the chat, its records, a message, a part. What is not named here stays in its record.
 */
import { isJsonObject } from "../../model/json.ts"
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  asJson,
  joined,
  jsonUnder,
  keyAt,
  momentOf,
  nonEmptyStringUnder,
  plain,
  type Sealed,
  stringUnder,
} from "../extract.ts"
import { injectedText, opaquePart, type PartDraft, reasoningPart, textPart, toolResultPart } from "../parts.ts"
import { createSessionWriter, type MessageDraft, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { splitDocument } from "../shared/documents.ts"
import {
  dataPart,
  failed,
  functionCallPart,
  functionResponsePart,
  isThought,
  onlyText,
  partText,
  partUnder,
} from "../shared/google-parts.ts"
import { readJson } from "../shared/read-json.ts"
import { fieldsOf, type SourceObject, type SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, whole } from "../spot.ts"
import { createOpening, type Opening } from "./opening.ts"
import { createUserTexts, isAcknowledgement } from "./provenance.ts"
import { contentItems, kindOf, messagesIn, SHAPE, textOf } from "./records.ts"

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const reading: Reading = { writer, opening: createOpening(main), known: new Set(), before: resume?.seen ?? new Set() }
  return {
    push(raw) {
      const record = readJson(raw, writer)
      if (record === undefined) return
      if (!writer.hasBegun) reading.opening.learn(record)
      if (raw.form === "document") pushDocument(reading, raw, record)
      else pushLine(reading, raw, record)
      begin(reading, false)
    },
    end(isSettled) {
      begin(reading, true)
      if (writer.hasBegun || reading.opening.isDamaged) writer.end()
      else if (isSettled) sink.issue(nothingSaid(main.relativePath))
      return { state: null, clientVersions: [] }
    },
  }
}

interface Reading {
  readonly writer: SessionWriter
  readonly opening: Opening
  /** The ids of the messages so far, and of those that were there before. */
  readonly known: Set<string>
  readonly before: ReadonlySet<string>
}

function begin({ writer, opening }: Reading, isLast: boolean): void {
  if (writer.hasBegun) return
  const start = opening.start(isLast)
  if (start !== undefined) writer.begin(start)
}

/**
 * A resume in another minute leaves a second file under the id of the chat, with nothing in it but what the client says of
 * itself. Stored, it would stand for the chat.
 */
function nothingSaid(file: string) {
  return { kind: "nothing_said", severity: "note", file, found: "a chat in which nobody said anything" } as const
}

// --- Records ----------------------------------------------------------------------------------------------------------

function pushDocument(reading: Reading, raw: RawRecord, document: SourceValue): void {
  const { writer } = reading
  const split = splitDocument(document, SHAPE)
  if (split === undefined) noteUnknown(writer, raw, "a document without messages")
  const header = split?.header ?? document
  writer.carrier(raw, header, { id: nonEmptyStringUnder(whole(header), "sessionId"), pond: titleIn(header) })
  for (const item of split?.items ?? []) pushMessage(reading, raw, item)
}

function pushLine(reading: Reading, raw: RawRecord, record: SourceValue): void {
  const { writer } = reading
  const kind = kindOf(record)
  if (kind === "message") pushMessage(reading, raw, record)
  else if (kind === "patch" || kind === "metadata") pushPatch(reading, raw, record)
  else {
    if (kind === undefined) noteUnknown(writer, raw, "a record of no known kind")
    writer.carrier(raw, record)
  }
}

function noteUnknown(writer: SessionWriter, raw: RawRecord, found: string): void {
  writer.issue(raw, { kind: "unknown_record", severity: "note", found })
}

function pushMessage(reading: Reading, raw: RawRecord, record: SourceValue): void {
  const message = viewOf(reading, raw, whole(record))
  const drafts = messageDrafts(message)
  remember(reading, message.id, drafts)
  reading.writer.record(raw, record, drafts, drafts.length === 0 ? commonFields(message) : {})
}

/** Messages of a patch that were read before stay in the patch only: after a resume those are all of them, with fewer fields. */
function pushPatch(reading: Reading, raw: RawRecord, record: SourceValue): void {
  const isPatch = kindOf(record) === "patch"
  const patch = isPatch ? inside(whole(record), "$set") : whole(record)
  const pond = titleIn(patch?.value ?? null)
  const drafts: MessageDraft[] = [{ role: "system", timestamp: momentOf(patch?.value ?? null, "lastUpdated"), pond }]
  if (messagesIn(record) !== undefined) {
    for (const item of itemsOf(patch && inside(patch, "messages"))) {
      const message = viewOf(reading, raw, item)
      if (message.id === undefined || isKnown(reading, plain(message.id))) continue
      const found = messageDrafts(message)
      remember(reading, message.id, found)
      drafts.push(...found)
    }
  }
  if (drafts.length > 0) reading.writer.record(raw, record, drafts)
}

function isKnown({ known, before }: Reading, id: string): boolean {
  return known.has(id) || before.has(id)
}

function remember({ known }: Reading, id: Sealed<string> | undefined, drafts: readonly MessageDraft[]): void {
  if (id !== undefined) known.add(plain(id))
  for (const draft of drafts) if (draft.id !== undefined) known.add(plain(draft.id))
}

/** The title that the client had its model make. The last one counts. */
function titleIn(holder: SourceValue): MessageDraft["pond"] {
  const summary = isJsonObject(holder) ? holder["summary"] : undefined
  return typeof summary === "string" && summary.trim() !== "" ? { title: summary } : undefined
}

// --- Messages ---------------------------------------------------------------------------------------------------------

interface View {
  readonly reading: Reading
  readonly raw: RawRecord
  readonly spot: Spot
  readonly value: SourceObject
  readonly id: Sealed<string> | undefined
}

function viewOf(reading: Reading, raw: RawRecord, spot: Spot): View {
  return { reading, raw, spot, value: fieldsOf(spot.value), id: nonEmptyStringUnder(spot, "id") }
}

function commonFields({ value, id }: View): Pick<MessageDraft, "id" | "timestamp"> {
  return { id, timestamp: momentOf(value, "timestamp") }
}

/** None where it is no message: what the client says of itself, and copies of results. */
function messageDrafts(message: View): MessageDraft[] {
  const { reading, raw, value } = message
  switch (value["type"]) {
    case "user":
      return userDrafts(message)
    case "gemini":
    case "model":
    case "assistant":
      return [assistantDraft(message), ...resultDrafts(message)]
    case "info":
    case "warning":
    case "error":
      return []
    default:
      noteUnknown(reading.writer, raw, "a message of no known type")
      return []
  }
}

/** Each result stands in its call, and since 0.44 once more in a message of the user: the second is a copy. */
function userDrafts(message: View): MessageDraft[] {
  const { value } = message
  const responses = partsOf(message).filter(isResponse)
  const results = responses.flatMap((part) => responseDraft(message, part) ?? [])
  const texts = createUserTexts(typedIn(value), contentItems(value).length === 1)
  const parts = partsOf(message).flatMap((part): PartDraft<"text" | "file" | "opaque">[] => {
    if (isResponse(part)) return []
    const text = partText(part)
    if (text === undefined) return fileParts(message, part)
    return responses.length > 0 ? [injectedText(text, "tool-output")] : texts.parts(text)
  })
  if (parts.length === 0 && responses.length > 0) return results
  return [...results, { ...commonFields(message), role: "user", parts }]
}

function isResponse({ value }: Spot): boolean {
  return partUnder(value, "functionResponse") !== undefined
}

/** None where the result already exists. */
function responseDraft(message: View, part: Spot): MessageDraft | undefined {
  const { reading } = message
  const response = inside(part, "functionResponse")
  const callId = response && nonEmptyStringUnder(response, "id")
  if (callId !== undefined && isKnown(reading, plain(callId))) return undefined
  const result = response && functionResponsePart(response)
  if (result !== undefined) return { ...commonFields(message), id: callId, role: "tool", parts: [result] }
  const unknown = unread(message, part)
  return unknown.length === 0 ? undefined : { ...commonFields(message), role: "tool", parts: unknown }
}

/** What a person typed, where the message says it beside what was sent. */
function typedIn({ displayContent }: SourceObject): string[] | undefined {
  if (displayContent === undefined) return undefined
  return contentItems({ content: displayContent }).flatMap((part) => textOf(part) ?? [])
}

function partsOf({ spot }: View): Spot[] {
  const content = inside(spot, "content")
  if (content === undefined || content.value === null) return []
  return Array.isArray(content.value) ? itemsOf(content) : [content]
}

// --- The model --------------------------------------------------------------------------------------------------------

type ModelPart = PartDraft<"text" | "file" | "reasoning" | "tool_call" | "opaque">

function assistantDraft(message: View): MessageDraft {
  const { value } = message
  const content = contentItems(value)
  // Thoughts and calls that stand in the content are what is sent; those beside it are the same ones.
  const called = new Set(content.map((part) => partUnder(part, "functionCall")?.["id"]))
  const parts = [
    ...(content.some(isThought) ? [] : thoughtParts(message)),
    ...partsOf(message).flatMap((part) => contentParts(message, part)),
    ...callsOf(message).flatMap((call) => (called.has(idIn(call)) ? [] : (callPart(message, call) ?? []))),
  ]
  const { model } = value
  const pond = typeof model === "string" ? { model } : undefined
  return { ...commonFields(message), role: "assistant", pond, parts }
}

function thoughtParts({ spot }: View): ModelPart[] {
  return itemsOf(inside(spot, "thoughts")).flatMap((thought): ModelPart[] => {
    const text = stringUnder(thought, "description") ?? stringUnder(thought, "subject")
    return text === undefined ? [] : [reasoningPart({ provenance: "conversational", text })]
  })
}

function contentParts(message: View, part: Spot): ModelPart[] {
  const text = partText(part)
  if (text !== undefined) {
    if (isThought(part.value)) return [reasoningPart({ provenance: "conversational", text })]
    if (text.value === "") return []
    if (isAcknowledgement(text.value)) return [injectedText(text, "compact-summary")]
    return [textPart({ provenance: "conversational", text })]
  }
  const call = inside(part, "functionCall")
  const found = call === undefined ? undefined : callPart(message, call)
  return found === undefined ? fileParts(message, part) : [found]
}

function callsOf({ spot }: View): Spot[] {
  return itemsOf(inside(spot, "toolCalls"))
}

function idIn({ value }: Spot): SourceValue | undefined {
  return isJsonObject(value) ? value["id"] : undefined
}

function callPart(message: View, call: Spot): PartDraft<"tool_call" | "opaque"> | undefined {
  return functionCallPart(call, "conversational", callIdOf(message, call)) ?? unread(message, call)[0]
}

/** The first versions gave calls no ids. */
function callIdOf({ id }: View, call: Spot): Sealed<string> | undefined {
  const name = nonEmptyStringUnder(call, "name")
  const made = id === undefined || name === undefined ? undefined : joined([id, name], "/")
  return nonEmptyStringUnder(call, "id") ?? made
}

// --- Results ----------------------------------------------------------------------------------------------------------

/** The results of its calls, each a message under the id of the call. */
function resultDrafts(message: View): MessageDraft[] {
  return callsOf(message).flatMap((call): MessageDraft[] => {
    const callId = callIdOf(message, call)
    const result = jsonUnder(call, "result")
    if (callId === undefined || result === undefined || result.value === null) return []
    const text = stringUnder(call, "result")
    const only = onlyResponse(inside(call, "result"))
    const status = nonEmptyStringUnder(call, "status")
    const timestamp = momentOf(call.value, "timestamp") ?? momentOf(message.value, "timestamp")
    const part = toolResultPart({
      provenance: "injected",
      callId,
      name: nonEmptyStringUnder(call, "name"),
      isFailure: status && failed(status),
      result: text === undefined ? (only ?? result) : asJson(text),
    })
    return [{ id: callId, timestamp, role: "tool", parts: [part] }]
  })
}

/** A result of one text stands as that text, any other as the parts that it is. */
function onlyResponse(result: Spot | undefined) {
  const parts = itemsOf(result)
  const response = parts.length === 1 && parts[0] !== undefined ? inside(parts[0], "functionResponse") : undefined
  return response === undefined || inside(response, "parts") !== undefined ? undefined : onlyText(response)
}

// --- Parts ------------------------------------------------------------------------------------------------------------

function fileParts(message: View, part: Spot): PartDraft<"file" | "opaque">[] {
  const file = dataPart(part, "conversational")
  return file === undefined ? unread(message, part) : [file]
}

/** Marks the place of what is not understood, where it says a kind. Its content stays in the record. */
function unread({ reading, raw }: View, part: Spot): PartDraft<"opaque">[] {
  const kind = nonEmptyStringUnder(part, "name") ?? keyAt(part.value)
  const found = kind === undefined ? "a part of no known kind" : plain(kind).slice(0, 80)
  reading.writer.issue(raw, { kind: "unknown_part", severity: "note", found })
  return kind === undefined ? [] : [opaquePart({ provenance: "injected", kind })]
}
