/**
 * Hermes to canonical: a row for each message, or a snapshot that is one document. Which rows are live is for `context.ts`.
 * Reads top to bottom: the session, its rows or its document, a message, its parts.
 */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  asJson,
  copied,
  jsonHere,
  matchIn,
  momentOf,
  momentOfSeconds,
  nonEmptyOf,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  nonEmptyTextUnder,
  type Placed,
  type Sealed,
  sealedOrigin,
  sealedRelativePath,
  splitAt,
  stringUnder,
  testIn,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import { injectedText, type PartDraft, reasoningPart, textPart, toolResultPart } from "../parts.ts"
import { createSessionWriter, type MessageDraft, mainFileOf, type SessionStart } from "../session-writer.ts"
import { fileOfUrl, functionCall, unknownBlock } from "../shared/common-parts.ts"
import { splitDocument } from "../shared/documents.ts"
import { itemRecord, readJson } from "../shared/read-json.ts"
import { parseRows } from "../shared/row-parser.ts"
import { composed, fieldsOf, type SourceObject, type SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, whole, wordUnder } from "../spot.ts"
import { FAILED } from "./failed.ts"
import { userTexts } from "./provenance.ts"
import { BRAND, delegatorOf, LAYOUT, listPathOf } from "./records.ts"

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  if (main.form === "document") return parseSnapshot(unit, sink, resume)
  const place = sealedRelativePath(main)
  return parseRows({ layout: LAYOUT, start: (row) => sessionOfRow(row, place), drafts: draftsOf }, unit, sink, resume)
}

// --- The session ------------------------------------------------------------------------------------------------------

function sessionOfRow(row: SourceObject, place: Sealed<string>): SessionStart | undefined {
  const id = nonEmptyOf(row, "id")
  const createdAt = momentOfSeconds(row, "started_at")
  if (id === undefined || createdAt === undefined) return undefined
  return { ...known(row, place), id, createdAt }
}

/** What a row and a snapshot say of their session in the same words. */
function known(record: SourceObject, place: Sealed<string>) {
  return {
    sourceAgent: sealedOrigin(BRAND, delegatorOf(record) === undefined ? undefined : nonEmptyOf(record, "source")),
    project: projectIn(record) ?? place,
    parentSessionId: nonEmptyOf(record, "parent_session_id"),
    title: nonEmptyOf(record, "title"),
  }
}

function projectIn(record: SourceObject): Sealed<string> | undefined {
  return (
    nonEmptyOf(record, "cwd") ?? nonEmptyStringAt(record, "model_config", "cwd") ?? nonEmptyOf(record, "git_repo_root")
  )
}

// --- A snapshot: one document, whose messages have no ids ---------------------------------------------------------------

const SHAPE = { key: "messages", idOf: () => undefined }
const SNAPSHOT_ID = /session_(.+)\.json$/

function parseSnapshot(unit: SourceUnit, sink: ParseSink, resume: ResumePoint | undefined): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const place = sealedRelativePath(main)
  return {
    push(raw) {
      const record = readJson(raw, writer)
      if (record === undefined) return
      const split = splitDocument(record, SHAPE)
      const header = fieldsOf(record)
      writer.begin({
        ...known(header, place),
        id: nonEmptyOf(header, "session_id") ?? nonEmptyOf(header, "id") ?? matchIn(place, SNAPSHOT_ID) ?? place,
        createdAt: momentOf(header, "session_start") ?? momentOfSeconds(header, "started_at"),
      })
      if (split === undefined) {
        writer.carrier(raw, record, { id: place })
        writer.issue(raw, { kind: "unknown_record", severity: "note", found: "a document without messages" })
        return
      }
      writer.carrier(raw, split.header, { id: place })
      const session = composed({ source: split.header["platform"] ?? null })
      for (const item of split.items) takeItem(raw, item, session)
    },
    end: writer.end,
  }

  function takeItem(raw: RawRecord, item: SourceValue, session: SourceObject): void {
    const note = writer.noteOn(raw)
    const drafts = isJsonObject(item) ? draftsOf(item, note, session) : []
    const each = itemRecord(raw, JSON.stringify(item))
    writer.record(each, item, drafts)
  }
}

// --- Messages ---------------------------------------------------------------------------------------------------------

type UserPart = PartDraft<"text" | "file" | "opaque">
type ModelPart = PartDraft<"text" | "reasoning" | "tool_call" | "opaque" | "file">

/** Carriers that say what a session is made of, as an early version wrote them. */
const SESSION_META = "session_meta"

function draftsOf(row: SourceObject, note: Note, session: SourceObject): MessageDraft[] {
  const timestamp = momentOfSeconds(row, "timestamp") ?? momentOf(row, "timestamp")
  const spot = whole(row)
  switch (wordUnder(row, "role")) {
    case "user":
      return [{ timestamp, role: "user", parts: userParts(spot, note, session) }]
    case "assistant":
      return [{ timestamp, role: "assistant", parts: modelParts(spot, note) }]
    case "tool":
      return toolDrafts(row, spot, note).map((draft) => ({ ...draft, timestamp }))
    case "system":
      return [{ timestamp, role: "system", content: stringUnder(spot, "content") }]
    case SESSION_META:
      return []
    default:
      note("unknown_record", wordUnder(row, "role") ?? "a message of no role")
      return []
  }
}

function userParts(spot: Spot, note: Note, session: SourceObject): UserPart[] {
  const isScheduled = session["source"] === "cron"
  const texts = (text: Placed<string>) => userTexts(text, isScheduled ? "cron" : undefined)
  return [...contentParts(spot, texts, note), ...contextParts(spot)]
}

/** What was sent instead of what the person typed, as far as it is more: it stays in the record as well. */
function contextParts(spot: Spot): UserPart[] {
  const typed = stringUnder(spot, "content")
  const sent = nonEmptyTextUnder(spot, "api_content")
  if (typed === undefined || sent === undefined || typed.value === "") return []
  const at = sent.value.indexOf(typed.value)
  if (at < 0) return [besideTyped(copied(sent))]
  const end = at + typed.value.length
  const pieces = splitAt(sent, [at, end]).filter(({ value }) => value !== typed.value)
  return pieces.map((piece) => besideTyped(copied(piece)))
}

function besideTyped(text: Placed<string>): PartDraft<"text"> {
  return injectedText(text, "internal-context")
}

/** A text, or a list of texts and pictures. */
function contentParts(
  spot: Spot,
  texts: (text: Placed<string>) => PartDraft<"text">[],
  note: Note,
): PartDraft<"text" | "file" | "opaque">[] {
  const bare = stringUnder(spot, "content")
  if (bare !== undefined) return bare.value === "" ? [] : texts(bare)
  return listOf(spot).flatMap((item): PartDraft<"text" | "file" | "opaque">[] => {
    const text = stringUnder(item, "text")
    if (text !== undefined) return text.value === "" ? [] : texts(text)
    const picture = pictureIn(item)
    if (picture !== undefined) return [picture]
    return unknownBlock(item, note)
  })
}

function listOf(spot: Spot): Spot[] {
  return itemsOf(contentList(spot))
}

function contentList(spot: Spot): Spot | undefined {
  const path = listPathOf(isJsonObject(spot.value) ? spot.value["content"] : undefined)
  return path?.reduce<Spot | undefined>((at, key) => at && inside(at, key), spot)
}

function pictureIn(item: Spot): PartDraft<"file"> | undefined {
  const holder = inside(item, "image_url") ?? item
  const url = stringUnder(holder, "url") ?? stringUnder(item, "image_url")
  return url && fileOfUrl(url)
}

function modelParts(spot: Spot, note: Note): ModelPart[] {
  // Both say the same, the second as it goes back to the provider.
  const thought = nonEmptyTextUnder(spot, "reasoning_content") ?? nonEmptyTextUnder(spot, "reasoning")
  const said = contentParts(spot, (text) => [textPart({ provenance: "conversational", text })], note)
  return [
    ...(thought === undefined ? [] : [reasoningPart({ provenance: "conversational", text: thought })]),
    ...said,
    ...itemsOf(inside(spot, "tool_calls")).flatMap((call) => callPart(call, note)),
  ]
}

function callPart(call: Spot, note: Note): ModelPart[] {
  const callId = nonEmptyStringUnder(call, "id") ?? nonEmptyStringUnder(call, "call_id")
  const made = functionCall(call, inside(call, "function"), callId)
  if (made === undefined) note("unknown_part", "a call without an id, a name or arguments")
  return made === undefined ? [] : [made]
}

function toolDrafts(row: SourceObject, spot: Spot, note: Note): { role: "tool"; parts: PartDraft<"tool_result">[] }[] {
  const callId = nonEmptyOf(row, "tool_call_id")
  const text = stringUnder(spot, "content")
  const result = text === undefined ? listResult(spot) : asJson(text)
  if (callId === undefined || result === undefined) {
    note("unknown_record", "a result without a call or a content")
    return []
  }
  const isFailure = text && testIn(nonEmptyOf(row, "content") ?? callId, FAILED)
  const name = nonEmptyOf(row, "tool_name")
  return [{ role: "tool", parts: [toolResultPart({ provenance: "injected", callId, name, isFailure, result })] }]
}

function listResult(spot: Spot): Placed<JsonValue> | undefined {
  const list = contentList(spot)
  return list && jsonHere(list)
}
