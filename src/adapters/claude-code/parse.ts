/**
 * Claude Code to canonical: one JSON Lines file per session, every record kept, in the order of the file.
 * A record of a person or of the model becomes messages, everything else a carrier. The tree that the records form by
 * `uuid` and `parentUuid` is not followed here: that is for `context.ts`, which reads it from the kept records.
 */
import { isJsonObject, type JsonValue } from "../../model/json.ts"
import type { Adapter, ParseEnd, Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  joined,
  matchIn,
  nonEmptyOf,
  nonEmptyStringAt,
  plain,
  sealedRelativePath,
  stringAt,
  timestampAt,
  valueAt,
} from "../extract.ts"
import { createSessionWriter, isFilled, type MessageDraft } from "../session-writer.ts"
import { assistantParts, type UserRun, userRuns } from "../shared/anthropic-blocks.ts"
import { readJson } from "../shared/read-json.ts"
import type { SourceObject } from "../source-value.ts"
import { inside, type Spot, whole, wordUnder } from "../spot.ts"
import type { Brand } from "./brands.ts"
import {
  beginSession,
  isAgentLog,
  isLeftOfSession,
  learn,
  logOf,
  META,
  nothingLearned,
  type Opening,
  STEM,
  TASK,
} from "./opening.ts"
import { userTextParts } from "./provenance.ts"
import {
  injectedAssistant,
  injectedQueued,
  injectedUser,
  isKnownRecord,
  isSideRecord,
  timeIn,
  titleSaid,
} from "./records.ts"

interface Reading extends Opening {
  readonly unit: SourceUnit
  /** The name of the session's own log, where it is a session id. */
  readonly ownId: string | undefined
  /** Its log is gone: what is left are files that lay beside it. */
  readonly isLeft: boolean
  readonly versions: Set<string>
  /** The version of the last record that named one: most name the same. */
  version: string | undefined
  /** Kinds of blocks of the record that is being read that nobody understood. */
  readonly unknown: string[]
  /** The side files that the unit has, by name: a spilled result that is not among them is missing. */
  readonly spilled: ReadonlySet<string>
}

export function parserOf(brand: Brand): Adapter["parse"] {
  return (unit, sink, resume) => parse(brand, unit, sink, resume)
}

function parse(brand: Brand, unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = unit.files[0]
  if (main === undefined) return { push: () => undefined, end: () => ({ state: null, clientVersions: [] }) }
  const reading: Reading = {
    brand,
    unit,
    main,
    ownId: uuidIn(STEM.exec(main.relativePath)?.[1]),
    isAgent: isAgentLog(main.relativePath),
    isLeft: isLeftOfSession(main.relativePath),
    writer: createSessionWriter({ ...main, relativePath: logOf(main.relativePath) }, sink, resume),
    learned: nothingLearned(),
    versions: new Set(),
    version: undefined,
    unknown: [],
    spilled: new Set(unit.files.map(({ relativePath }) => relativePath.slice(relativePath.lastIndexOf("/") + 1))),
  }
  let hasRecords = false
  const hasMeta = unit.files.some(({ relativePath }) => relativePath.endsWith(META) || TASK.test(relativePath))
  return {
    push(raw) {
      hasRecords = true
      pushRecord(reading, raw)
      const { project, createdAt } = reading.learned
      if (!reading.writer.hasBegun && !hasMeta && project !== undefined && createdAt !== undefined)
        beginSession(reading)
    },
    end(isSettled): ParseEnd {
      const { project, createdAt } = reading.learned
      // A log begins with records that name no directory: what they do not say yet, the first prompt will. Versions around
      // 2.0.76 leave a log without a line beside each one that they write to.
      if (hasRecords && (isSettled || (project !== undefined && createdAt !== undefined))) beginSession(reading)
      if (isSettled) reading.writer.end()
      return { state: null, clientVersions: [...reading.versions] }
    },
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

// --- Records ----------------------------------------------------------------------------------------------------------

function pushRecord(reading: Reading, raw: RawRecord): void {
  const { writer, main } = reading
  if (raw.form === "row") writer.unreadable(raw, "unexpected_row", "a row of a database among files")
  if (raw.form === "row") return
  const record = readJson(raw, writer)
  if (record === undefined) return
  if (!isJsonObject(record)) {
    writer.issue(raw, { kind: "unknown_record", severity: "note", found: "a record that is not an object" })
    writer.carrier(raw, record)
  } else if (raw.file.relativePath === main.relativePath && !reading.isLeft) {
    if (!writer.hasBegun) learn(reading, record)
    pushMain(reading, raw, record)
  } else pushSide(reading, raw, record)
}

/** A record of another file of the session: an agent's description, a workflow's journal. */
function pushSide(reading: Reading, raw: RawRecord, record: SourceObject): void {
  if (raw.file.relativePath.endsWith(META) && reading.isAgent) {
    reading.learned.agent = nonEmptyStringAt(record, "agentType") ?? reading.learned.agent
    reading.learned.title ??= nonEmptyStringAt(record, "description")
    reading.learned.spawnedBy ??= nonEmptyStringAt(record, "toolUseId")
  }
  if (TASK.test(raw.file.relativePath)) pushTask(reading, raw, record)
  else reading.writer.carrier(raw, record, { timestamp: timestampAt(record, "timestamp") })
}

/** The record of a task of Cowork is written anew at each turn. Each of several logs has it, under its own id. */
function pushTask({ writer, main, learned }: Reading, raw: RawRecord, record: SourceObject): void {
  const title = nonEmptyStringAt(record, "title")
  if (!writer.hasBegun) {
    learned.title = title ?? learned.title
    learned.chosen = nonEmptyStringAt(record, "userSelectedFolders", 0)
  }
  const id = nonEmptyStringAt(record, "sessionId")
  const stem = matchIn(sealedRelativePath(main), STEM)
  writer.carrier(raw, record, {
    id: id && stem && joined([id, stem], ":"),
    timestamp: undefined,
    pond: title && { title: plain(title) },
  })
}

function pushMain(reading: Reading, raw: RawRecord, record: SourceObject): void {
  const { writer } = reading
  const version = record["version"] ?? record["claude_code_version"]
  if (version !== reading.version && typeof version === "string") {
    reading.version = version
    reading.versions.add(version)
  }
  const type = record["type"]
  const drafts = messagesOf(reading, raw, record)
  if (drafts !== undefined) {
    writer.record(raw, record, drafts)
    return
  }
  if (typeof type !== "string" || !isKnownRecord(type)) {
    const found = typeof type === "string" ? type : `a record without a type: ${Object.keys(record).slice(0, 5)}`
    writer.issue(raw, { kind: "unknown_record", severity: "note", found })
  } else if (type === "user" || type === "assistant") {
    writer.issue(raw, { kind: "unknown_record", severity: "note", found: `${type} without content` })
  }
  const { title, pond } = titleSaid(record)
  if (!writer.hasBegun && title !== undefined) reading.learned.title = title
  writer.carrier(raw, record, { id: nonEmptyOf(record, "uuid"), timestamp: timeIn(record), pond })
}

function messagesOf(
  reading: Reading,
  raw: RawRecord,
  record: SourceObject,
): readonly [MessageDraft, ...MessageDraft[]] | undefined {
  switch (record["type"]) {
    case "user":
      return userMessages(reading, raw, record)
    case "assistant": {
      const content = contentOf(record)
      const parts = content && assistantParts(content, injectedAssistant(record), reading.unknown)
      if (parts === undefined) return undefined
      nameUnknown(reading, raw)
      const { id, timestamp, pond } = fieldsOf(reading, record)
      return [{ id, timestamp, pond, role: "assistant", parts }]
    }
    case "attachment": {
      // What a person typed while the model was at work. All other attachments are the harness's own notes.
      if (valueAt(record, "attachment", "type") !== "queued_command") return undefined
      const attachment = inside(whole(record), "attachment")
      const prompt = attachment && inside(attachment, "prompt")
      const runs = prompt && userRuns(prompt, injectedQueued(record), [], reading.brand.userText ?? userTextParts)
      const fields = fieldsOf(reading, record)
      return runs && draftsOf(runs, { ...fields, pond: { ...fields.pond, queued: true } })
    }
    case "system": {
      const content = stringAt(record, "content")
      return content === undefined ? undefined : [{ ...fieldsOf(reading, record), role: "system", content }]
    }
    default:
      return undefined
  }
}

type Fields = Pick<MessageDraft, "id" | "timestamp" | "pond">

function userMessages(
  reading: Reading,
  raw: RawRecord,
  record: SourceObject,
): readonly [MessageDraft, ...MessageDraft[]] | undefined {
  noteMissingSpill(reading, raw, record)
  const content = contentOf(record) ?? inside(whole(record), "message")
  const runs =
    content && userRuns(content, injectedUser(record), reading.unknown, reading.brand.userText ?? userTextParts)
  if (runs === undefined) return undefined
  nameUnknown(reading, raw)
  return draftsOf(runs, fieldsOf(reading, record))
}

function contentOf(record: SourceObject): Spot | undefined {
  const message = inside(whole(record), "message")
  return message && inside(message, "content")
}

function draftsOf(
  runs: readonly UserRun[],
  { id, timestamp, pond }: Fields,
): readonly [MessageDraft, ...MessageDraft[]] | undefined {
  const drafts: MessageDraft[] = []
  for (let index = 0; index < runs.length; index++) {
    const run = runs[index] as UserRun
    if (run.role === "user") drafts.push({ id, timestamp, pond, role: run.role, parts: run.parts })
    else drafts.push({ id, timestamp, pond, role: run.role, parts: run.parts })
  }
  return isFilled(drafts) ? drafts : undefined
}

function fieldsOf(reading: Reading, record: SourceObject): Fields {
  const timestamp = timeIn(record)
  return { id: nonEmptyOf(record, "uuid"), timestamp, pond: factsOf(reading, record) }
}

// --- What else a record says ---------------------------------------------------------------------------------------------

/** Facts about one record that later readers need and that the record does not say in so many words. */
function factsOf({ isAgent, ownId }: Reading, record: SourceObject): Record<string, JsonValue> | undefined {
  let facts: Record<string, JsonValue> | undefined
  // Versions 1.0 wrote their agents into the session itself.
  const isSidechain = isSideRecord(record)
  if (isSidechain && !isAgent) facts = { sidechain: true }
  if (isSidechain && record["type"] === "user") facts = { ...facts, author: "model" }
  if (record["isCompactSummary"] === true) facts = { ...facts, compaction: true }
  const model = wordUnder(record["message"], "model")
  if (model !== undefined && model !== "<synthetic>") facts = facts === undefined ? { model } : { ...facts, model }
  const replayed = isAgent ? undefined : replayedFrom(record, ownId)
  return replayed === undefined ? facts : { ...facts, replay_of: replayed }
}

/** The session that a record was copied from, where it still says so. A fork of today rewrites the ids and says nothing. */
function replayedFrom(record: SourceObject, ownId: string | undefined): string | undefined {
  const forked = wordUnder(record["forkedFrom"], "sessionId")
  if (forked !== undefined) return forked
  const written = record["sessionId"]
  return typeof written === "string" && written !== ownId && ownId !== undefined ? uuidIn(written) : undefined
}

function uuidIn(text: string | undefined): string | undefined {
  return text !== undefined && UUID.test(text) ? text : undefined
}

/** The saved output of a sub-agent's tool is stored beside its session, or beside another sub-agent of that session. */
function noteMissingSpill({ spilled, writer, isAgent }: Reading, raw: RawRecord, record: SourceObject): void {
  if (isAgent) return
  const path = wordUnder(record["toolUseResult"], "persistedOutputPath")
  if (path === undefined) return
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1)
  if (spilled.has(name)) return
  writer.issue(raw, {
    kind: "missing_file",
    severity: "fault",
    found: `the saved output ${name} is not beside the session`,
  })
}

function nameUnknown({ writer, unknown }: Reading, raw: RawRecord): void {
  if (unknown.length === 0) return
  for (const found of unknown) writer.issue(raw, { kind: "unknown_block", severity: "note", found })
  unknown.length = 0
}
