/**
 * Codex to canonical: one thread is one session, read from the rollouts that hold it, in the order in which they began.
 * An item of the model's history is a message; everything else (events for the screen, settings, token counts, what a
 * compaction left) is a carrier. History that a rollout inherits from another is not copied: `context.ts` follows it.
 */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type {
  Adapter,
  ParseEnd,
  Parser,
  ParseSink,
  RawRecord,
  ResumePoint,
  SourceFile,
  SourceUnit,
} from "../adapter.ts"
import {
  momentOf,
  nonEmptyStringAt,
  nonEmptyTextUnder,
  parsedIn,
  plain,
  stringHere,
  stringUnder,
  textOfFile,
  timestampAt,
  valueAt,
} from "../extract.ts"
import { type PartDraft, reasoningPart, textPart } from "../parts.ts"
import { createSessionWriter, type MessageDraft, type SessionWriter } from "../session-writer.ts"
import { fileOfUrl } from "../shared/common-parts.ts"
import { readJson } from "../shared/read-json.ts"
import { spellingOf } from "../shared/spelling.ts"
import type { SourceObject, SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, whole, wordUnder } from "../spot.ts"
import { type CopyState, copiedFrom } from "./copies.ts"
import { grewOlder, keptSpeech, type Speech, type SpeechState, saysAgain, speechOf } from "./duplicates.ts"
import { itemMessages } from "./items.ts"
import { unknownKind } from "./kinds.ts"
import { type Brand, createOpening, type Opening, ORIGINATOR } from "./opening.ts"
import { userTextParts } from "./provenance.ts"

/** Titles of threads lie here, one line for each change, for all threads. */
export const INDEX_PLACE = "session_index.jsonl"

/** What goes from one parse of a thread to the next. */
interface State {
  /** The rollout that was read last. */
  readonly place: string
  readonly copy: CopyState
  readonly speech: SpeechState
  /** Lines of the index that were read, by their hashes: all of them come each time. */
  readonly titles: readonly string[]
}

interface Reading {
  readonly main: SourceFile
  readonly writer: SessionWriter
  readonly opening: Opening
  readonly versions: Set<string>
  /** Lines of the index that an earlier parse read and this one has not met yet. */
  readonly known: string[]
  readonly titles: string[]
  place: string
  copy: CopyState
  speech: Speech
  lines: number
}

/** Where a rollout has not named its directory by then, it never will. */
const LINES_UNNAMED_MAX = 400

export function parserOf(brand: Brand): Adapter["parse"] {
  return (unit, sink, resume) => parse(brand, unit, sink, resume)
}

function parse(brand: Brand, unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = unit.files[0]
  if (main === undefined) return { push: () => undefined, end: () => ({ state: null, clientVersions: [] }) }
  const before = stateOf(resume?.state)
  const reading: Reading = {
    main,
    writer: createSessionWriter(main, sink, resume),
    opening: createOpening(unit, main, brand),
    versions: new Set(),
    known: [...before.titles],
    titles: [...before.titles],
    place: before.place,
    copy: before.copy,
    speech: speechOf(before.speech),
    lines: 0,
  }
  return {
    push: (raw) => pushRaw(reading, raw),
    end(isSettled): ParseEnd {
      begin(reading, isSettled || reading.opening.hasLearned())
      reading.writer.end()
      const { place, copy, speech, titles } = reading
      const state: State = { place, copy, speech: keptSpeech(speech), titles }
      return { state: state as unknown as JsonValue, clientVersions: [...reading.versions] }
    },
  }
}

function stateOf(state: SourceValue | undefined): State {
  const none: State = { place: "", copy: {}, speech: {}, titles: [] }
  return isJsonObject(state) ? { ...none, ...(state as unknown as State) } : none
}

function begin({ writer, opening }: Reading, isLast: boolean): void {
  if (writer.hasBegun) return
  const start = opening.start(isLast)
  if (start !== undefined) writer.begin(start)
}

// --- Lines and documents ----------------------------------------------------------------------------------------------

function pushRaw(reading: Reading, raw: RawRecord): void {
  const { writer } = reading
  if (raw.file.relativePath === INDEX_PLACE) pushTitle(reading, raw)
  else if (raw.form === "row") writer.unreadable(raw, "unexpected_row", "a row of a database among files")
  else pushJson(reading, raw, readJson(raw, writer))
}

function pushJson(reading: Reading, raw: Exclude<RawRecord, { form: "row" }>, record: SourceValue | undefined): void {
  const { writer } = reading
  if (record === undefined || raw.form === "bytes") return
  if (isJsonObject(record)) {
    if (raw.form === "document") pushDocument(reading, raw, record)
    else pushLine(reading, raw, record)
  } else {
    writer.issue(raw, { kind: "unknown_record", severity: "note", found: "a record that is not an object" })
    writer.carrier(raw, record)
  }
}

function pushLine(reading: Reading, raw: Extract<RawRecord, { text: string }>, record: SourceObject): void {
  const { writer } = reading
  if (raw.file.relativePath !== reading.place) {
    reading.place = raw.file.relativePath
    reading.copy = {}
    reading.speech = speechOf({})
  }
  if (record["type"] === "session_meta") learnWriter(reading, record)
  const from = copiedFrom(reading, record)
  // Other rollouts point into a paginated one by byte. Every line of it has an ordinal, and no line of another has.
  const spelling = "ordinal" in record ? spellingOf(raw.text, record) : undefined
  if (!writer.hasBegun && raw.file.relativePath === reading.main.relativePath) {
    reading.opening.learn(record)
    begin(reading, ++reading.lines > LINES_UNNAMED_MAX)
  }
  const timestamp = momentOf(record, "timestamp")
  const copied = from === undefined ? undefined : { replay_of: from }
  const drafts = messagesOf(reading, raw, record)
  const pond = copied ?? (drafts.length === 0 ? titleOf(record) : undefined)
  writer.record(raw, record, drafts, { timestamp, spelling, pond })
}

type Facts = Record<string, JsonValue>

function learnWriter(reading: Reading, record: SourceObject): void {
  const version = valueAt(record, "payload", "cli_version")
  if (typeof version === "string") reading.versions.add(version)
  if (valueAt(record, "payload", "originator") === ORIGINATOR) reading.speech.isOurs = true
}

/** The single JSON of the first client: a header and a list of items. */
function pushDocument(reading: Reading, raw: RawRecord, record: SourceObject): void {
  const { writer, opening } = reading
  const items = record["items"]
  const list: readonly SourceValue[] = Array.isArray(items) ? items : []
  opening.learn(record)
  for (const item of list) {
    if (isJsonObject(item)) opening.learn(item)
    const unknown = isJsonObject(item) ? unknownKind(item["type"] ?? impliedType(item), undefined) : "no object"
    if (unknown !== undefined) writer.issue(raw, { kind: "unknown_record", severity: "note", found: unknown })
  }
  begin(reading, true)
  const drafts = itemsOf(inside(whole(record), "items")).flatMap((item) => itemMessages(item))
  writer.record(raw, record, drafts)
}

function pushTitle(reading: Reading, raw: RawRecord): void {
  const text = "text" in raw ? raw.text : ""
  const hash = Bun.hash.xxHash64(text).toString(16)
  const index = reading.known.indexOf(hash)
  if (index >= 0) {
    reading.known.splice(index, 1)
    return
  }
  reading.titles.push(hash)
  const entry = "text" in raw ? parsedIn(textOfFile(raw)) : undefined
  if (entry === undefined) {
    reading.writer.unreadable(raw, "unparsable_line", "a line that is not JSON")
    return
  }
  const title = nonEmptyStringAt(entry, "thread_name")
  const timestamp = timestampAt(entry, "updated_at")
  reading.writer.carrier(raw, entry, {
    timestamp,
    ...(title === undefined ? {} : { pond: { title: plain(title) } }),
  })
}

// --- What a line says -------------------------------------------------------------------------------------------------

/** The messages of a record; none where it is a carrier. */
function messagesOf(reading: Reading, raw: RawRecord, record: SourceObject): MessageDraft[] {
  const type = record["type"]
  const payload = record["payload"]
  const payloadType = (isJsonObject(payload) ? payload["type"] : undefined) ?? impliedType(record)
  const isHeader = type === undefined && (typeof record["id"] === "string" || record["record_type"] === "state")
  const drafts = draftsOf(record, isHeader)
  // What gives messages is known, and nearly every record does.
  const unknown = isHeader || drafts.length > 0 ? undefined : unknownKind(type ?? impliedType(record), payloadType)
  if (unknown !== undefined) reading.writer.issue(raw, { kind: "unknown_record", severity: "note", found: unknown })
  if (type === "inter_agent_communication") return drafts
  return spoken(reading, type === "event_msg" ? "event" : "item", drafts)
}

function draftsOf(record: SourceObject, isHeader: boolean): MessageDraft[] {
  const spot = whole(record)
  switch (record["type"]) {
    case "event_msg":
      return eventMessages(inside(spot, "payload"))
    case "inter_agent_communication":
    case "response_item":
      return itemMessages(inside(spot, "payload"))
    case "compacted":
      return summary(record)
    default:
      return isHeader || isJsonObject(record["payload"]) ? [] : itemMessages(spot)
  }
}

function impliedType(record: SourceObject): string | undefined {
  const role = valueAt(record, "payload", "role") ?? record["role"]
  return typeof role === "string" ? "message" : undefined
}

/** The drafts, unless they say again what was said already. */
function spoken(reading: Reading, from: "item" | "event", drafts: MessageDraft[]): MessageDraft[] {
  const first = drafts[0]
  if (first === undefined) {
    grewOlder(reading.speech)
    return drafts
  }
  return saysAgain(reading.speech, from, first) ? [] : drafts
}

/** What an event says to the screen. All other events are about something that an item holds. */
function eventMessages(event: Spot | undefined): MessageDraft[] {
  if (event === undefined) return []
  switch (wordUnder(event.value, "type")) {
    case "user_message": {
      const text = stringUnder(event, "message")
      const files = itemsOf(inside(event, "images")).flatMap((image) => shownImage(image) ?? [])
      const texts = text === undefined ? [] : userTextParts(text, undefined, false)
      return texts.length + files.length === 0 ? [] : [{ role: "user", parts: [...texts, ...files] }]
    }
    case "agent_message": {
      const text = stringUnder(event, "message")
      return text === undefined
        ? []
        : [{ role: "assistant", parts: [textPart({ provenance: "conversational", text })] }]
    }
    case "agent_reasoning":
    case "agent_reasoning_raw_content": {
      const text = stringUnder(event, "text")
      return text === undefined
        ? []
        : [{ role: "assistant", parts: [reasoningPart({ provenance: "conversational", text })] }]
    }
    default:
      return []
  }
}

function shownImage(image: Spot): PartDraft<"file"> | undefined {
  const url = stringHere(image)
  return url && fileOfUrl(url)
}

/** What a compaction says of the history that it replaces. The history that it left is for `context.ts`. */
function summary(record: SourceObject): MessageDraft[] {
  const payload = inside(whole(record), "payload")
  const content = payload && nonEmptyTextUnder(payload, "message")
  return content === undefined ? [] : [{ role: "system", content, pond: { compaction: true } }]
}

/** A thread is renamed in its rollout by versions of before 2026, in the index by later ones. */
function titleOf(record: SourceObject): Facts | undefined {
  if (valueAt(record, "payload", "type") !== "thread_name_updated") return undefined
  const title = nonEmptyStringAt(record, "payload", "thread_name")
  return title === undefined ? undefined : { title: plain(title) }
}
