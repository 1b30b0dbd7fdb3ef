/**
 * iFlow to canonical: one log for each session, in the order of the file. While a step streams, each call is written with the
 * one before it, so a call stands in two records or more: the first of them has it. Reads top to bottom: the log, a record,
 * its blocks. What is not named here stays in its record.
 */
import type { JsonValue } from "../../model/json.ts"
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  isAt,
  jsonUnder,
  matchIn,
  momentOf,
  nonEmptyOf,
  nonEmptyStringUnder,
  plain,
  sealedOrigin,
  sealedRelativePath,
  stringUnder,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import { type PartDraft, textPart, toolCallPart, toolResultPart } from "../parts.ts"
import { createSessionWriter, type MessageDraft, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { unknownBlock } from "../shared/common-parts.ts"
import { dataPart, functionResponsePart } from "../shared/google-parts.ts"
import { readJson } from "../shared/read-json.ts"
import { fieldsOf, type SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, whole, wordUnder } from "../spot.ts"

export const BRAND = { id: "iflow" }

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const { said } = fieldsOf(resume?.state)
  /** What the model said in the current step: calls by their ids, texts as they are. */
  const step = new Set<JsonValue>(Array.isArray(said) ? said : [])
  const versions = new Set<string>()
  let hasRecords = false

  function begin(record: SourceValue): void {
    const place = sealedRelativePath(main)
    const id = nonEmptyOf(record, "sessionId") ?? matchIn(place, NAME)
    const project = nonEmptyOf(record, "cwd") ?? matchIn(place, FOLDER) ?? place
    const createdAt = momentOf(record, "timestamp")
    writer.begin({ id, sourceAgent: sealedOrigin(BRAND), project, createdAt })
  }

  return {
    push(raw) {
      hasRecords = true
      const record = readJson(raw, writer)
      if (record === undefined) return
      // Answers name no directory.
      if (!writer.hasBegun && nonEmptyOf(record, "cwd") !== undefined) begin(record)
      const version = wordUnder(record, "version")
      if (version !== undefined && version !== "") versions.add(version)
      takeRecord(writer, raw, record, step)
    },
    end(isSettled) {
      if (!writer.hasBegun && hasRecords && isSettled) begin(null)
      if (isSettled || writer.hasBegun) writer.end()
      return { state: { said: [...step] }, clientVersions: [...versions] }
    },
  }
}

const NAME = /(session-[^/]+)\.jsonl$/
const FOLDER = /(?:^|\/)([^/]+)\/[^/]+$/

function takeRecord(writer: SessionWriter, raw: RawRecord, record: SourceValue, step: Set<JsonValue>): void {
  const note = writer.noteOn(raw)
  const common = { id: nonEmptyOf(record, "uuid"), timestamp: momentOf(record, "timestamp") }
  writer.record(raw, record, draftsOf(whole(record), step, note), common)
}

function draftsOf(record: Spot, step: Set<JsonValue>, note: Note): MessageDraft[] {
  const message = inside(record, "message")
  const type = wordUnder(record.value, "type")
  if (message === undefined || (type !== "user" && type !== "assistant")) {
    note("unknown_record", type ?? "no type")
    return []
  }
  if (type === "assistant") return assistantDrafts(record, message, step, note)
  const parts = userParts(record, message, note)
  const results = parts.filter((part) => part.type === "tool_result")
  // What a person says begins a step.
  if (results.length === 0) step.clear()
  const others = parts.filter((part) => part.type !== "tool_result")
  return [
    ...(results.length === 0 ? [] : [{ role: "tool" as const, parts: results }]),
    ...(others.length === 0 ? [] : [{ role: "user" as const, parts: others }]),
  ]
}

// --- User records -------------------------------------------------------------------------------------------------------

type UserPart = PartDraft<"text" | "file" | "opaque">

/** What the client wraps into its own tag, and what it marks as not a person's. */
const WRAPPED = /^\s*<(?:system-reminder|local-command-[\w-]+|command-[\w-]+|bash-[\w-]+)>/

function userParts(record: Spot, message: Spot, note: Note): (UserPart | PartDraft<"tool_result">)[] {
  const isMeta = inside(record, "isMeta")?.value === true
  const text = stringUnder(message, "content")
  if (text !== undefined) return text.value === "" ? [] : [saidPart(text, isMeta)]
  return itemsOf(inside(message, "content")).flatMap((block): (UserPart | PartDraft<"tool_result">)[] => {
    const type = wordUnder(block.value, "type")
    const said = type === "text" ? stringUnder(block, "text") : undefined
    if (said !== undefined) return said.value === "" ? [] : [saidPart(said, isMeta)]
    const result = type === "tool_result" ? resultPart(record, block) : undefined
    if (result !== undefined) return [result]
    const data = dataPart(block, isMeta ? "injected" : "conversational")
    return data === undefined ? unknownBlock(block, note) : [data]
  })
}

function saidPart(text: NonNullable<ReturnType<typeof stringUnder>>, isMeta: boolean): PartDraft<"text"> {
  if (!isMeta && !WRAPPED.test(text.value)) return textPart({ provenance: "conversational", text })
  return textPart({ provenance: "injected", text, pond: { injected: isMeta ? "meta" : "system-reminder" } })
}

/** A result is wrapped in the words of Google's API, alone or as a list; what tools of others gave is kept as it is. */
function resultPart(record: Spot, block: Spot): PartDraft<"tool_result"> | undefined {
  const content = inside(block, "content")
  const response = content && (responseIn(content) ?? responseIn(inside(content, "responseParts")))
  const callId = nonEmptyStringUnder(block, "tool_use_id")
  if (callId === undefined) return undefined
  const read = response && functionResponsePart(response)
  if (read?.type === "tool_result" && read.call_id === plain(callId)) return read
  const result = jsonUnder(block, "content")
  const isFailure = isAt(record.value, "error", "toolUseResult", "status")
  return result && toolResultPart({ provenance: "injected", callId, isFailure, result })
}

function responseIn(holder: Spot | undefined): Spot | undefined {
  if (holder === undefined) return undefined
  const [only, ...more] = Array.isArray(holder.value) ? itemsOf(holder) : [holder]
  return only === undefined || more.length > 0 ? undefined : inside(only, "functionResponse")
}

// --- Answers ------------------------------------------------------------------------------------------------------------

/** Records of one step share a parent: a text that comes again under another one is said again. */
function assistantDrafts(record: Spot, message: Spot, step: Set<JsonValue>, note: Note): MessageDraft[] {
  const parent = wordUnder(record.value, "parentUuid") ?? ""
  const keys: string[] = []
  const parts = itemsOf(inside(message, "content")).flatMap((block): PartDraft<"text" | "tool_call" | "opaque">[] => {
    const key = wordUnder(block.value, "id") ?? `${parent} ${wordUnder(block.value, "text")}`
    if (step.has(key)) return []
    keys.push(key)
    return assistantBlock(block, note)
  })
  for (const key of keys) step.add(key)
  const model = wordUnder(message.value, "model")
  if (parts.length === 0) return []
  return [{ role: "assistant", pond: model === undefined ? undefined : { model }, parts }]
}

function assistantBlock(block: Spot, note: Note): PartDraft<"text" | "tool_call" | "opaque">[] {
  const type = wordUnder(block.value, "type")
  const text = type === "text" ? stringUnder(block, "text") : undefined
  if (text !== undefined) return text.value === "" ? [] : [textPart({ provenance: "conversational", text })]
  const callId = type === "tool_use" ? nonEmptyStringUnder(block, "id") : undefined
  const name = nonEmptyStringUnder(block, "name")
  const params = jsonUnder(block, "input")
  if (callId === undefined || name === undefined || params === undefined) return unknownBlock(block, note)
  return [toolCallPart({ provenance: "conversational", callId, name, params })]
}
