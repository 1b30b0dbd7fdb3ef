/**
 * Goose to canonical: a row for each message, or a log whose first line says what it is. Which rows its model is shown is for
 * `context.ts`. Reads top to bottom: the session, its rows or its lines, a message, its blocks.
 */
import { isJsonObject } from "../../model/json.ts"
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import {
  matchIn,
  momentOfSeconds,
  momentOfSqlite,
  nonEmptyOf,
  type Sealed,
  sealedOrigin,
  sealedRelativePath,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import { createSessionWriter, type MessageDraft, mainFileOf, type SessionStart } from "../session-writer.ts"
import { readJson } from "../shared/read-json.ts"
import { parseRows } from "../shared/row-parser.ts"
import { fieldsOf, type SourceObject, type SourceValue } from "../source-value.ts"
import { inside, NOWHERE, type Spot, whole, wordUnder } from "../spot.ts"
import { modelParts, userRuns } from "./blocks.ts"
import { datedIdOf } from "./identity.ts"
import { BRAND, LAYOUT } from "./records.ts"

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  if (main.form === "log") return parseLog(unit, sink, resume)
  const place = sealedRelativePath(main)
  const start = (row: SourceObject) => sessionOfRow(row, place, unit.parent)
  return parseRows({ layout: LAYOUT, start, drafts: rowDrafts }, unit, sink, resume)
}

// --- The session ------------------------------------------------------------------------------------------------------

function sessionOfRow(
  row: SourceObject,
  place: Sealed<string>,
  parent: SourceValue | undefined,
): SessionStart | undefined {
  const id = datedIdOf(row)
  const createdAt = momentOfSqlite(row, "created_at")
  if (id === undefined || createdAt === undefined) return undefined
  const isAgent = wordUnder(row, "session_type") === "sub_agent"
  return {
    ...{ id, createdAt, sourceAgent: sealedOrigin(BRAND, isAgent ? nonEmptyOf(row, "session_type") : undefined) },
    project: nonEmptyOf(row, "working_dir") ?? place,
    parentSessionId: parent === undefined ? undefined : datedIdOf(parent),
    title: nonEmptyOf(row, "name") ?? nonEmptyOf(row, "description"),
  }
}

// --- A log: its first line describes it, each other one is a message --------------------------------------------------

const LOG_ID = /([^/]+)\.jsonl$/

function parseLog(unit: SourceUnit, sink: ParseSink, resume: ResumePoint | undefined): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const place = sealedRelativePath(main)

  function begin(header: SourceObject): void {
    writer.begin({
      ...{ id: matchIn(place, LOG_ID) ?? place, sourceAgent: sealedOrigin(BRAND) },
      project: nonEmptyOf(header, "working_dir") ?? place,
      title: nonEmptyOf(header, "description"),
    })
  }

  function pushMessage(raw: RawRecord, record: SourceValue): void {
    const note = writer.noteOn(raw)
    const timestamp = momentOfSeconds(record, "created")
    const drafts = isJsonObject(record) ? messageDrafts(record, inside(whole(record), "content"), note) : []
    writer.record(raw, record, drafts, { id: nonEmptyOf(record, "id"), timestamp })
  }

  return {
    push(raw) {
      const record = readJson(raw, writer)
      if (record === undefined) return
      const isHeader = !writer.hasBegun && wordUnder(record, "role") === undefined
      begin(isHeader ? fieldsOf(record) : fieldsOf(null))
      if (isHeader) writer.carrier(raw, record)
      else pushMessage(raw, record)
    },
    end(isSettled) {
      if (isSettled || writer.hasBegun) writer.end()
      return { state: null, clientVersions: [] }
    },
  }
}

// --- Messages ---------------------------------------------------------------------------------------------------------

function rowDrafts(row: SourceObject, note: Note): MessageDraft[] {
  const timestamp = momentOfSeconds(row, "created_timestamp")
  const drafts = messageDrafts(row, inside(whole(row), "content_json"), note)
  return drafts.map((draft) => ({ ...draft, timestamp }))
}

/** None where the record is no message. `content`: its blocks. */
function messageDrafts(record: SourceObject, content: Spot | undefined, note: Note): MessageDraft[] {
  const role = wordUnder(record, "role")
  if (content === undefined || !Array.isArray(content.value)) {
    note("unknown_record", `a message of ${role ?? "nobody"} without blocks`)
    return []
  }
  const metadata = inside(whole(record), "metadata_json") ?? inside(whole(record), "metadata") ?? NOWHERE
  if (role === "user") return userRuns(content, injectedBy(metadata.value), note)
  if (role === "assistant") {
    const model = wordUnder(fieldsOf(metadata.value)["inference"], "requestedModel")
    const pond = model === undefined ? undefined : { model }
    return [{ role: "assistant", pond, parts: modelParts(content, note) }]
  }
  note("unknown_record", `a message of ${role ?? "nobody"}`)
  return []
}

/** What put the whole of a message there, if no person did. */
function injectedBy(metadata: SourceValue): string | undefined {
  const { turnContext, userVisible, agentVisible } = fieldsOf(metadata)
  if (turnContext === true) return "environment-context"
  return userVisible === false && agentVisible !== false ? "compact-summary" : undefined
}
