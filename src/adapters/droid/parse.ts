/**
 * Droid to canonical: a log whose first line says which session it is, and settings beside. A line is written once, but for
 * the first. Reads top to bottom: the session, its records, a message.
 */

import { isJsonObject } from "../../model/json.ts"
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceFile, SourceUnit } from "../adapter.ts"
import {
  matchIn,
  momentOf,
  nonEmptyOf,
  type Sealed,
  sealedModifiedAt,
  sealedOrigin,
  sealedRelativePath,
  stringUnder,
} from "../extract.ts"
import { asTitle, type Note } from "../notes.ts"
import { injectedText } from "../parts.ts"
import { createSessionWriter, type MessageDraft, mainFileOf, type SessionWriter } from "../session-writer.ts"
import { assistantParts, userRuns } from "../shared/anthropic-blocks.ts"
import { readJson } from "../shared/read-json.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, NOWHERE, whole, wordUnder } from "../spot.ts"
import { userTexts } from "./provenance.ts"
import { BRAND, COMPACTION, messageOf, START, visibilityOf } from "./records.ts"

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = mainFileOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  let hasRecords = false
  /** The first line, which says all of a session but when it began. */
  let start: SourceValue = null
  return {
    push(raw) {
      hasRecords = true
      const record = readJson(raw, writer)
      if (record === undefined) return
      if (raw.form === "document") {
        writer.carrier(raw, record, { id: sealedRelativePath(raw.file) })
        return
      }
      if (!writer.hasBegun && wordUnder(record, "type") === START) start = record
      const moment = momentOf(record, "timestamp")
      if (moment !== undefined && start !== null) begin(writer, main, start, moment)
      pushRecord(writer, raw, record)
    },
    end(isSettled) {
      if (hasRecords && isSettled) begin(writer, main, start, sealedModifiedAt(main))
      if (isSettled || writer.hasBegun) writer.end()
      return { state: null, clientVersions: [] }
    },
  }
}

// --- The session ------------------------------------------------------------------------------------------------------

const ID = /([^/]+)\.jsonl$/
/** `sessions/<key>/<id>.jsonl` */
const FOLDER = /([^/]+)\/[^/]+$/
/** A sub-agent's session is named after its type and its task. */
const AGENT = /^([\w-]+): /

/** The first line has no time: that of the first message stands in, or else that of the file. */
function begin(
  writer: SessionWriter,
  main: SourceFile,
  record: SourceValue,
  createdAt: Sealed<string> | undefined,
): void {
  if (writer.hasBegun || createdAt === undefined) return
  const place = sealedRelativePath(main)
  const caller = nonEmptyOf(record, "callingSessionId")
  const title = nonEmptyOf(record, "sessionTitle") ?? nonEmptyOf(record, "title")
  const call = wordUnder(record, "callingToolUseId")
  const forkedAt = nonEmptyOf(record, "forkedAtMessageId")
  writer.begin({
    id: nonEmptyOf(record, "id") ?? nonEmptyOf(record, "session_id") ?? matchIn(place, ID) ?? place,
    sourceAgent: sealedOrigin(BRAND, caller && agentOf(title, caller)),
    project: nonEmptyOf(record, "cwd") ?? nonEmptyOf(record, "lastCwd") ?? matchIn(place, FOLDER) ?? place,
    createdAt,
    parentSessionId: caller ?? nonEmptyOf(record, "parent"),
    ...(caller === undefined && forkedAt !== undefined ? { parentMessageId: forkedAt } : {}),
    title,
    ...(call === undefined ? {} : { pond: { spawned_by: call } }),
  })
}

function agentOf(title: Sealed<string> | undefined, caller: Sealed<string>): Sealed<string> {
  return (title && matchIn(title, AGENT)) ?? caller
}

// --- Records ----------------------------------------------------------------------------------------------------------

/** Records that say how the session went. */
const KNOWN: ReadonlySet<string | undefined> = new Set([START, "todo_state", "agent_turn_outcome", "session_end"])

function pushRecord(writer: SessionWriter, raw: RawRecord, record: SourceValue): void {
  const note = writer.noteOn(raw)
  const drafts = draftsOf(record, note)
  const fields = { id: nonEmptyOf(record, "id"), timestamp: momentOf(record, "timestamp") }
  writer.record(raw, record, drafts, { ...fields, pond: titleIn(record) })
}

function titleIn(record: SourceValue): MessageDraft["pond"] {
  if (wordUnder(record, "type") !== START) return undefined
  return asTitle(wordUnder(record, "sessionTitle") ?? wordUnder(record, "title"))
}

/** None where the record is no message. */
function draftsOf(record: SourceValue, note: Note): MessageDraft[] {
  const type = wordUnder(record, "type")
  if (type === COMPACTION) return summaryDrafts(record)
  if (type === "message" && isJsonObject(messageOf(record))) return messageDrafts(record, note)
  if (!KNOWN.has(type)) note("unknown_record", type ?? "no type")
  return []
}

/** What stands in the place of all that was said before. */
function summaryDrafts(record: SourceValue): MessageDraft[] {
  const spot = whole(record)
  const texts = ["summaryText", "systemInfoText"].flatMap((key) => stringUnder(spot, key) ?? [])
  const parts = texts.filter(({ value }) => value !== "").map((text) => injectedText(text, "compact-summary"))
  return parts.length === 0 ? [] : [{ role: "user", parts }]
}

function messageDrafts(record: SourceValue, note: Note): MessageDraft[] {
  const message = inside(whole(record), "message") ?? NOWHERE
  const content = inside(message, "content")
  const role = wordUnder(message.value, "role")
  if (content === undefined) {
    note("unknown_record", `a message of ${role ?? "nobody"} without content`)
    return []
  }
  const unknown: string[] = []
  const drafts = roleDrafts()
  for (const kind of unknown) note("unknown_part", kind)
  return drafts

  function roleDrafts(): MessageDraft[] {
    if (role === "assistant")
      return [
        { role, pond: modelFact(message.value), parts: assistantParts(content ?? NOWHERE, undefined, unknown) ?? [] },
      ]
    if (role === "user" || role === "tool")
      return userRuns(content ?? NOWHERE, injectedBy(record), unknown, userTexts) ?? [{ role: "user", parts: [] }]
    if (role === "system") return [{ role, content: stringUnder(message, "content") }]
    note("unknown_record", `a message of ${role ?? "nobody"}`)
    return []
  }
}

function modelFact(message: SourceValue): MessageDraft["pond"] {
  const model = wordUnder(message, "modelId")
  return model === undefined ? undefined : { model }
}

/** What put the whole of a message there, if no person did. */
function injectedBy(record: SourceValue): string | undefined {
  const message = messageOf(record)
  if (wordUnder(message, "hookEventName") !== undefined) return "hook"
  const visibility = visibilityOf(record)
  if (visibility === "llm_only") return "hidden"
  return visibility === "user_only" ? "shown" : undefined
}
