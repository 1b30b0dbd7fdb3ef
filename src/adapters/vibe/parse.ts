/**
 * Vibe to canonical: a log or a document of 1.x and 2.x, or a session of the store (`parse-store.ts`). Messages of the first two
 * have no times, and what the session is stands beside the log. Reads top to bottom: the session, its records.
 */
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceFile, SourceUnit } from "../adapter.ts"
import {
  localMomentInText,
  matchIn,
  nonEmptyOf,
  nonEmptyStringAt,
  sealedOrigin,
  sealedRelativePath,
  timestampAt,
} from "../extract.ts"
import { createSessionWriter, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { itemRecord, readJson } from "../shared/read-json.ts"
import { fieldsOf, type SourceValue } from "../source-value.ts"
import { inside, whole } from "../spot.ts"
import { messageDrafts, titleFacts } from "./messages.ts"
import { parseStored } from "./parse-store.ts"
import { BRAND, CURRENT, isOldDocument, messages } from "./records.ts"

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  if (main.relativePath.endsWith(CURRENT)) return parseStored(unit, main, writer)
  return isOldDocument(main.relativePath) ? parseDocument(main, writer) : parseLog(main, writer)
}

// --- 2.x: what is known of a session, and its log ---------------------------------------------------------------

function parseLog(main: SourceFile, writer: SessionWriter): Parser {
  let hasRecords = false
  return {
    push(raw) {
      hasRecords = true
      const record = readJson(raw, writer)
      // Facts that cannot be read say nothing: the session has the name of its folder.
      if (raw.file.form === "document") begin(writer, main, record ?? null)
      if (record === undefined) return
      if (raw.file.form === "log") return takeMessage(writer, raw, record)
      writer.carrier(raw, record, { id: sealedRelativePath(raw.file), pond: titleFacts(record) })
    },
    end(isSettled) {
      if (hasRecords && isSettled) begin(writer, main, null)
      if (isSettled || writer.hasBegun) writer.end()
      return { state: null, clientVersions: [] }
    },
  }
}

// --- 1.x: one document ----------------------------------------------------------------------------------------------------

function parseDocument(main: SourceFile, writer: SessionWriter): Parser {
  return {
    push(raw) {
      const record = readJson(raw, writer)
      begin(writer, main, fieldsOf(record)["metadata"] ?? null)
      if (record === undefined) return
      const split = messages.split(record)
      writer.carrier(raw, split === undefined ? record : split.header, { id: sealedRelativePath(raw.file) })
      for (const { item, text, hash } of split?.items ?? []) takeMessage(writer, itemRecord(raw, text, hash), item)
    },
    end: writer.end,
  }
}

// --- The session ----------------------------------------------------------------------------------------------------------

/** `…/session_20261120_094858_43671138/messages.jsonl`, `session_20261120_094916_7108d328.json` */
const NAME = /(?:^|\/)(session_[^/]+?)(?:\.json)?(?:\/[^/]+)?$/

function begin(writer: SessionWriter, main: SourceFile, facts: SourceValue): void {
  if (writer.hasBegun) return
  const place = sealedRelativePath(main)
  // 1.x writes local times.
  const createdAt = localMomentInText(nonEmptyOf(facts, "start_time"))
  writer.begin({
    id: nonEmptyOf(facts, "session_id") ?? matchIn(place, NAME) ?? place,
    sourceAgent: sealedOrigin(BRAND),
    project: nonEmptyStringAt(facts, "environment", "working_directory") ?? place,
    createdAt,
    parentSessionId: nonEmptyOf(facts, "parent_session_id"),
    title: nonEmptyOf(facts, "title"),
  })
}

// --- A message ------------------------------------------------------------------------------------------------------------

function takeMessage(writer: SessionWriter, raw: RawRecord, record: SourceValue): void {
  const note = writer.noteOn(raw)
  const isInjected = inside(whole(record), "injected")?.value === true
  const fields = { id: nonEmptyOf(record, "message_id"), timestamp: timestampAt(record, "timestamp") }
  const drafts = messageDrafts(whole(record), isInjected, note)
  writer.record(raw, record, drafts, fields)
}
