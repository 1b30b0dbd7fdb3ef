/**
 * Continue to canonical: a session is one document with its history, and an entry in the list of all sessions. Messages have
 * no ids and no times; an answer has its calls, and what became of each. Which of them are sent is for `context.ts`.
 * Reads top to bottom: the document, an item of its history, a message, its content.
 */
import type { JsonValue } from "../../model/json.ts"
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  asJson,
  isAt,
  jsonUnder,
  matchIn,
  momentOfDigits,
  nonEmptyOf,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  type Placed,
  pathInUrl,
  type Sealed,
  sealedOrigin,
  sealedRelativePath,
  splitAt,
  stringUnder,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import { injectedText, type PartDraft, reasoningPart, textPart, toolResultPart } from "../parts.ts"
import { createSessionWriter, type MessageDraft, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { fileOfUrl, functionCall, unknownBlock } from "../shared/common-parts.ts"
import { itemRecord, readJson } from "../shared/read-json.ts"
import { fieldsOf, type SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, whole, wordUnder } from "../spot.ts"
import { BRAND, history, isIndex } from "./documents.ts"

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const { keys } = fieldsOf(resume?.state)
  const known = new Set<JsonValue>(Array.isArray(keys) ? keys : [])
  let document: SourceValue = null
  let hasRecords = false
  let listed: SourceValue = null

  function takeDocument(raw: RawRecord, record: SourceValue): void {
    document = record
    const split = history.split(record)
    // A document without a history is no session; whatever else it is, it is kept.
    const header = split === undefined ? record : split.header
    writer.carrier(raw, header, { id: sealedRelativePath(raw.file), pond: titleFacts(record) })
    for (const { key, item, text, hash } of split?.items ?? []) {
      if (known.has(key)) continue
      known.add(key)
      takeItem(writer, itemRecord(raw, text, hash), item)
    }
  }

  /** The list says when a session began, and comes behind it. */
  function begin(): void {
    const place = sealedRelativePath(main)
    const id = nonEmptyOf(document, "sessionId") ?? matchIn(place, NAME)
    const createdAt = momentOfDigits(nonEmptyOf(listed, "dateCreated"))
    const directory = nonEmptyOf(document, "workspaceDirectory") ?? nonEmptyOf(listed, "workspaceDirectory")
    const project = directory === undefined ? place : (pathInUrl(directory) ?? directory)
    writer.begin({ id, sourceAgent: sealedOrigin(BRAND), project, createdAt, reappends: true })
  }

  return {
    push(raw) {
      hasRecords = true
      const record = readJson(raw, writer)
      if (record === undefined) return
      if (!isIndex(raw.file.relativePath)) return takeDocument(raw, record)
      listed = record
      writer.carrier(raw, record, { id: sealedRelativePath(raw.file), pond: titleFacts(record) })
    },
    end() {
      // A document that was cut off is called by its name.
      if (!writer.hasBegun && hasRecords) begin()
      writer.end()
      return { state: { keys: [...known] }, clientVersions: [] }
    },
  }
}

const NAME = /([^/]+)\.json$/
/** What a session is called before somebody names it. */
const UNNAMED: ReadonlySet<string | undefined> = new Set(["", "Untitled Session", "New Session"])

function titleFacts(record: SourceValue): MessageDraft["pond"] {
  const title = wordUnder(record, "title")
  return title === undefined || UNNAMED.has(title) ? undefined : { title }
}

// --- An item of the history ---------------------------------------------------------------------------------------------

function takeItem(writer: SessionWriter, raw: RawRecord, item: SourceValue): void {
  const note = writer.noteOn(raw)
  const drafts = itemDrafts(whole(item), note)
  writer.record(raw, item, drafts)
}

function itemDrafts(item: Spot, note: Note): MessageDraft[] {
  const message = inside(item, "message")
  if (message === undefined) {
    note("unknown_record", "an item without a message")
    return []
  }
  switch (wordUnder(message.value, "role")) {
    case "user":
      return [{ role: "user", parts: userParts(item, message, note) }, ...summaryDrafts(item, message)]
    case "assistant":
      return [...assistantDrafts(item, message, note), ...summaryDrafts(item, message)]
    case "thinking":
      return [{ role: "assistant", parts: thoughtParts(message, note) }]
    case "tool":
      return [{ role: "tool", parts: resultOfTool(message) }]
    case "system":
      return [{ role: "system", content: stringUnder(message, "content") }]
    default:
      note("unknown_record", wordUnder(message.value, "role") ?? "no role")
      return []
  }
}

/** What stands for all before it from then on. The command line says it as an answer, too. */
function summaryDrafts(item: Spot, message: Spot): MessageDraft[] {
  const text = nonEmptyTextUnder(item, "conversationSummary")
  if (text === undefined || text.value === wordUnder(message.value, "content")) return []
  return [{ role: "user", parts: [injectedText(text, "compact-summary")] }]
}

// --- What a person said -------------------------------------------------------------------------------------------------

type UserPart = PartDraft<"text" | "file" | "opaque">

function userParts(item: Spot, message: Spot, note: Note): UserPart[] {
  const typed = wordUnder(item.value, "editorState")
  return [...contentParts(message, note, typed), ...itemsOf(inside(item, "contextItems")).flatMap(attachedParts)]
}

/** A file or another thing that a prompt names: its text is not the person's. */
function attachedParts(attached: Spot): UserPart[] {
  const text = nonEmptyTextUnder(attached, "content")
  return text === undefined ? [] : [injectedText(text, "file-content")]
}

function contentParts(message: Spot, note: Note, typed?: string): UserPart[] {
  const text = stringUnder(message, "content")
  if (text !== undefined) return text.value === "" ? [] : typedParts(text, typed)
  return itemsOf(inside(message, "content")).flatMap((block): UserPart[] => {
    const said = wordUnder(block.value, "type") === "text" ? stringUnder(block, "text") : undefined
    if (said !== undefined) return said.value === "" ? [] : typedParts(said, typed)
    const picture = inside(block, "imageUrl")
    const url = picture && stringUnder(picture, "url")
    return url === undefined ? unknownBlock(block, note) : [fileOfUrl(url)]
  })
}

/** Editors write what a prompt names before or behind what was typed. */
function typedParts(text: Placed<string>, typed: string | undefined): UserPart[] {
  if (typed === "") return [injectedText(text, "file-content")]
  const from = typed === undefined || typed.trim() === "" ? -1 : text.value.indexOf(typed)
  if (typed === undefined || from < 0 || typed.length === text.value.length)
    return [textPart({ provenance: "conversational", text })]
  let at = 0
  return splitAt(text, [from, from + typed.length]).map((piece) => {
    const isTyped = at === from
    at += piece.value.length
    if (isTyped) return textPart({ provenance: "conversational", text: piece })
    return injectedText(piece, "file-content")
  })
}

// --- What the model said ------------------------------------------------------------------------------------------------

type AssistantPart = PartDraft<"text" | "file" | "reasoning" | "tool_call" | "opaque">

function assistantDrafts(item: Spot, message: Spot, note: Note): MessageDraft[] {
  const calls = itemsOf(inside(message, "toolCalls"))
  const results = itemsOf(inside(item, "toolCallStates")).flatMap(resultOfState)
  const model = wordUnder(inside(message, "usage")?.value, "model")
  const said: MessageDraft = {
    // An answer is written anew when its calls are done: they tell that it is the same.
    id: calls[0] && nonEmptyStringUnder(calls[0], "id"),
    role: "assistant",
    pond: model === undefined ? undefined : { model },
    parts: [...reasoningIn(item), ...contentParts(message, note), ...calls.flatMap((call) => callPart(call, note))],
  }
  return results.length === 0 ? [said] : [said, { role: "tool", parts: results }]
}

function reasoningIn(item: Spot): AssistantPart[] {
  const reasoning = inside(item, "reasoning")
  const text = reasoning && nonEmptyTextUnder(reasoning, "text")
  return text === undefined ? [] : [reasoningPart({ provenance: "conversational", text })]
}

function thoughtParts(message: Spot, note: Note): AssistantPart[] {
  const text = stringUnder(message, "content")
  if (text !== undefined) return [reasoningPart({ provenance: "conversational", text })]
  return itemsOf(inside(message, "content")).flatMap((block): AssistantPart[] => {
    const said = stringUnder(block, "text")
    return said === undefined
      ? unknownBlock(block, note)
      : [reasoningPart({ provenance: "conversational", text: said })]
  })
}

function callPart(call: Spot, note: Note): AssistantPart[] {
  const made = functionCall(call)
  return made === undefined ? unknownBlock(call, note) : [made]
}

/** Nothing of a call that is still running. */
function resultOfState(state: Spot): PartDraft<"tool_result">[] {
  const callId: Sealed<string> | undefined = nonEmptyStringUnder(state, "toolCallId")
  const [only, ...more] = itemsOf(inside(state, "output"))
  if (callId === undefined || only === undefined) return []
  const text = more.length === 0 ? stringUnder(only, "content") : undefined
  const result = text === undefined ? jsonUnder(state, "output") : asJson(text)
  if (result === undefined) return []
  const isFailure = isAt(state.value, "errored", "status")
  return [toolResultPart({ provenance: "injected", callId, isFailure, result })]
}

/** Editors write a result as a message, too. */
function resultOfTool(message: Spot): PartDraft<"tool_result">[] {
  const callId = nonEmptyStringUnder(message, "toolCallId")
  const text = stringUnder(message, "content")
  if (callId === undefined || text === undefined) return []
  return [toolResultPart({ provenance: "injected", callId, result: asJson(text) })]
}
