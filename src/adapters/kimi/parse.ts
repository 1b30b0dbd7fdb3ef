/**
 * Kimi to canonical. Kimi Code keeps a log for each agent, in which `context.…` records are what its model is sent and all
 * others say it again or say how it came about; the records of kimi-cli are read in `old-records.ts`. What was undone or
 * compacted is for `context.ts`. Reads top to bottom: the session, its records, a message, a part.
 */
import { isJsonObject } from "../../model/json.ts"
import type { Parser, ParseSink, RawRecord, ResumePoint, SourceFile, SourceUnit } from "../adapter.ts"
import {
  joined,
  matchIn,
  momentOf,
  nonEmptyOf,
  type Sealed,
  sealedModifiedAt,
  sealedOrigin,
  sealedRelativePath,
  timestampAt,
} from "../extract.ts"
import type { Note } from "../notes.ts"
import { createSessionWriter, isFilled, type MessageDraft, mainFileOf } from "../session-writer.ts"
import { readJson } from "../shared/read-json.ts"
import { fieldsOf, type SourceValue } from "../source-value.ts"
import { inside, type Spot, whole, wordUnder } from "../spot.ts"
import { messageDrafts, partDrafts, resultDrafts, summaryDrafts, takeState, toolCallDrafts } from "./messages.ts"
import { openOldSession } from "./old-records.ts"
import { APPENDED, BLOB_REFERENCE, BRAND, COMPACTED, isOfOldClient, LIVE, LOOP_EVENT } from "./records.ts"

export function parse(unit: SourceUnit, sink: ParseSink, resume?: ResumePoint): Parser {
  const main = logOf(unit)
  const writer = createSessionWriter(main, sink, resume)
  const place = sealedRelativePath(main)
  if (isOfOldClient(main.relativePath)) return openOldSession(writer, unit, place, resume)
  const start = openStart(main, place)
  const blobs = new Set(unit.files.map(({ relativePath }) => relativePath.slice(relativePath.lastIndexOf("/") + 1)))
  const before = fieldsOf(resume?.state)
  let model: string | undefined = typeof before["model"] === "string" ? before["model"] : undefined
  let hasRecords = false

  let answered = model === undefined ? undefined : { pond: { model } }
  let current: RawRecord
  const note: Note = (kind, found) => writer.noteOn(current)(kind, found)

  function takeLine(raw: RawRecord, record: SourceValue): void {
    current = raw
    if (!writer.hasBegun) start.learn(record)
    if (!writer.hasBegun && start.isKnown()) writer.begin(start.session())
    const type = wordUnder(record, "type") ?? ""
    const drafts = draftsOf(record, type, note)
    if (isFilled(drafts)) {
      for (const hash of missingBlobs(raw, record, blobs))
        note("missing_blob", `a picture whose file is gone: ${hash.slice(0, 12)}`)
      writer.record(raw, record, drafts, drafts[0].role === "assistant" ? answered : undefined)
      return
    }
    if (type === "llm.request") learnModel(record)
    writer.carrier(raw, record, { timestamp: momentOf(record, "time") })
  }

  /** The answers that follow are of the model that was asked last. */
  function learnModel(record: SourceValue): void {
    model = wordUnder(record, "model") ?? model
    answered = model === undefined ? undefined : { pond: { model } }
  }

  return {
    push(raw) {
      hasRecords = true
      const record = readJson(raw, writer)
      if (record === undefined) return
      if (raw.form !== "document") takeLine(raw, record)
      else {
        if (!writer.hasBegun) start.learnState(record)
        takeState(writer, raw, record)
      }
    },
    end(isSettled) {
      // A log that names no directory yet may still do so.
      if (hasRecords && isSettled && !writer.hasBegun) writer.begin(start.session())
      if (isSettled || writer.hasBegun) writer.end()
      return { state: model === undefined ? null : { model }, clientVersions: [] }
    },
  }
}

function logOf(unit: SourceUnit): SourceFile {
  return unit.files.find(({ relativePath }) => LIVE.test(relativePath)) ?? unit.files.find(isLog) ?? mainFileOf(unit)
}

function isLog({ form }: SourceFile): boolean {
  return form === "log"
}

// --- The session ------------------------------------------------------------------------------------------------------

const MAIN = /([^/]+)\/agents\/[^/]+\/wire\.jsonl$/
const AGENT = /\/agents\/(?!main\/)([^/]+)\/wire\.jsonl$/
const WORKING_DIRECTORY = /working directory is `([^`\n]+)`/

/** What is learned of a session until it can begin. */
function openStart(main: SourceFile, place: Sealed<string>) {
  let id = matchIn(place, MAIN)
  const agent = matchIn(place, AGENT)
  let createdAt: Sealed<string> | undefined
  let project: Sealed<string> | undefined
  let profile: Sealed<string> | undefined
  let parent: Sealed<string> | undefined
  let title: Sealed<string> | undefined
  return {
    learn(record: SourceValue) {
      createdAt ??= timestampAt(record, "created_at") ?? momentOf(record, "time")
      profile ??= nonEmptyOf(record, "profileName")
      const prompt = nonEmptyOf(record, "systemPrompt")
      project ??= nonEmptyOf(record, "cwd") ?? (prompt && matchIn(prompt, WORKING_DIRECTORY))
    },
    learnState(record: SourceValue) {
      createdAt ??= timestampAt(record, "createdAt")
      project ??= nonEmptyOf(record, "cwd") ?? nonEmptyOf(record, "workDir")
      parent ??= nonEmptyOf(record, "forkedFrom")
      title ??= nonEmptyOf(record, "title")
      id ??= nonEmptyOf(record, "id")
    },
    /** An agent says in its log of what kind it is. */
    isKnown: () => createdAt !== undefined && project !== undefined && (agent === undefined || profile !== undefined),
    session() {
      const moment = createdAt ?? sealedModifiedAt(main)
      const own = id ?? place
      return {
        id: agent === undefined ? own : joined([own, agent], ":"),
        sourceAgent: sealedOrigin(BRAND, agent && (profile ?? agent)),
        project: project ?? matchIn(place, /sessions\/([^/]+)\//) ?? place,
        createdAt: moment ?? place,
        parentSessionId: agent === undefined ? parent : own,
        title,
      }
    },
  }
}

// --- Records ----------------------------------------------------------------------------------------------------------

/** What a record is about, by the word before its dot. */
const KNOWN = new Set([
  ...["metadata", "forked", "agent", "config", "context", "cron", "file_history", "full_compaction", "goal"],
  ...[
    "interaction",
    "llm",
    "mcp",
    "permission",
    "plan",
    "plan_mode",
    "plugin",
    "profile",
    "prompt",
    "runtime",
    "skill",
  ],
  ...["staleGuard", "subagent", "swarm_mode", "task", "token_counting", "tools", "tower_mode", "turn", "usage"],
])
const STEPS = new Set(["step.begin", "step.end"])

/** None where the record is no message: it says how a turn went, or what was said once more. */
function draftsOf(record: SourceValue, type: string, note: Note): MessageDraft[] {
  const timestamp = momentOf(record, "time")
  const spot = whole(record)
  if (type === APPENDED) {
    const message = inside(spot, "message")
    return message === undefined ? [] : messageDrafts(message, { timestamp }, note)
  }
  if (type === COMPACTED) return summaryDrafts(spot, { timestamp })
  if (type !== LOOP_EVENT) {
    if (!KNOWN.has(subjectOf(type))) note("unknown_record", type === "" ? "no type" : type)
    return []
  }
  const event = inside(spot, "event")
  return event === undefined ? [] : eventDrafts(event, timestamp, note)
}

function subjectOf(type: string): string {
  const dot = type.indexOf(".")
  return dot < 0 ? type : type.slice(0, dot)
}

function eventDrafts(event: Spot, timestamp: MessageDraft["timestamp"], note: Note): MessageDraft[] {
  const kind = wordUnder(event.value, "type") ?? "no type"
  const fields = { timestamp, id: nonEmptyOf(event.value, "uuid") }
  if (kind === "content.part") return partDrafts(event, fields, note)
  if (kind === "tool.call") return toolCallDrafts(event, fields)
  if (kind === "tool.result") return resultDrafts(event, { timestamp })
  if (!STEPS.has(kind)) note("unknown_record", `an event of type ${kind}`)
  return []
}

function missingBlobs(raw: RawRecord, record: SourceValue, there: ReadonlySet<string>): string[] {
  const missing: string[] = []
  // Few lines refer to one, and all would be walked through.
  if (raw.form === "log" && !raw.text.includes("blobref:")) return missing
  const look = (value: SourceValue): void => {
    if (typeof value === "string") {
      const hash = BLOB_REFERENCE.exec(value)?.[2]
      if (hash !== undefined && !there.has(hash)) missing.push(hash)
    } else if (Array.isArray(value)) for (const item of value) look(item)
    else if (isJsonObject(value)) for (const item of Object.values(value)) look(item)
  }
  look(record)
  return missing
}
