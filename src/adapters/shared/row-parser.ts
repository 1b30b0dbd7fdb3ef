/**
 * Parses the rows of a session that lies in a database (`row-sessions.ts`). What is stored is never changed: a row that is
 * another one now is appended as a revision, and what was removed is named in a record behind all others.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Entry, Session, SessionLog } from "../../model/session.ts"
import type { FileSink, NativeSerializer, Parser, ParseSink, RawRecord, ResumePoint, SourceUnit } from "../adapter.ts"
import { nonEmptyOf, plain } from "../extract.ts"
import type { Note } from "../notes.ts"
import {
  createSessionWriter,
  type MessageDraft,
  mainFileOf,
  type SessionStart,
  type SessionWriter,
} from "../session-writer.ts"
import { composed, fieldsOf, fromSource, type SourceObject } from "../source-value.ts"
import { entriesByRecord, nativeRecords, revisionOf, sourceOf, wholeSession, writeRecord } from "./native.ts"
import { digestOf, digestsIn, keyOfMessage, LISTING_TABLE, messageDigest, type RowLayout } from "./row-sessions.ts"

export interface RowReading {
  readonly layout: RowLayout
  /** Undefined where the row does not say which session it is. */
  readonly start: (row: SourceObject) => SessionStart | undefined
  /** The messages of a row. None where it is no message. */
  readonly drafts: (row: SourceObject, note: Note, session: SourceObject) => MessageDraft[]
  readonly versionOf?: (row: JsonObject) => string | undefined
}

/** How it is kept that messages were removed. */
const REMOVED_TABLE = "pond:removed"

export function parseRows(
  { layout, start, drafts: draftsOf, versionOf }: RowReading,
  unit: SourceUnit,
  sink: ParseSink,
  resume?: ResumePoint,
): Parser {
  const writer = createSessionWriter(mainFileOf(unit), sink, resume)
  const seen = resume?.seen ?? new Set<string>()
  const before = fieldsOf(resume?.state)
  const digests = digestsIn(resume?.state)
  const versions = new Set<string>()
  let session = fieldsOf(before["session"])
  let sessionDigest: JsonValue = before["sessionDigest"] ?? null
  let removed: JsonValue = before["removed"] ?? ""

  function takeSession(raw: RawRecord, row: SourceObject): void {
    const begun = writer.hasBegun ? undefined : start(row)
    if (begun !== undefined) writer.begin(begun)
    const version = versionOf?.(row)
    if (version !== undefined) versions.add(version)
    session = factsOf(row)
    const id = nonEmptyOf(row, layout.session.id)
    const digest = digestOf(row)
    if (digest === sessionDigest) return
    sessionDigest = digest
    const pond = titleFact(row)
    if (id === undefined) writer.carrier(raw, row, { pond })
    else if (seen.has(plain(id))) writer.carrier(raw, row, { pond: { ...pond, revision_of: plain(id) } })
    else writer.carrier(raw, row, { id, pond })
  }

  function takeMessage(raw: RawRecord, row: SourceObject): void {
    const id = keyOfMessage(layout, row)
    const digest = messageDigest(layout, row, plain(id))
    if (digests.has(digest)) return
    digests.add(digest)
    const drafts = draftsOf(row, writer.noteOn(raw), session)
    if (seen.has(plain(id)))
      writer.carrier(raw, row, { timestamp: drafts[0]?.timestamp, pond: { revision_of: plain(id) } })
    else writer.record(raw, row, drafts, { id })
  }

  /** What is stored and is not among those that are there was removed, or came back. */
  function takeListing(raw: RawRecord & { readonly form: "row" }, row: SourceObject): void {
    const ids = row["message"]
    if (!Array.isArray(ids)) return
    const live = new Set<JsonValue>(ids)
    const gone = [...seen].filter((id) => ROW_ID.test(id) && !live.has(id)).sort(byText)
    const mark = Bun.hash.xxHash64(gone.join()).toString(36)
    if ((gone.length > 0 || removed !== "") && mark !== removed) {
      const removal = composed({ message: fromSource(gone) })
      writer.carrier({ ...raw, table: REMOVED_TABLE, row: removal }, removal)
      removed = mark
    }
  }

  return {
    push(raw) {
      if (raw.form !== "row") writer.whole(raw)
      else if (!isJsonObject(raw.row)) writer.unreadable(raw, "unparsable_row", "a row that is not an object")
      else if (raw.table === LISTING_TABLE) takeListing(raw, raw.row)
      else if (raw.table === layout.session.table) takeSession(raw, raw.row)
      else if (raw.table === layout.message.table) takeMessage(raw, raw.row)
      else takeUnknown(writer, raw, raw.row)
    },
    end() {
      writer.end()
      const state = { digests: [...digests].join(""), session, sessionDigest, removed }
      return { state, clientVersions: [...versions] }
    },
  }
}

function byText(left: string, right: string): number {
  return left < right ? -1 : 1
}

/** Keys of messages. Others are ids of sessions, of removals, and of second messages of a row. */
const ROW_ID = /^row-[0-9a-f]{16}(?:#\d+)?$/

/** What the reading of messages may ask of their session: its short values. */
function factsOf(row: SourceObject): SourceObject {
  const isShort = (value: JsonValue) => typeof value !== "object" && !(typeof value === "string" && value.length > 100)
  return composed(Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null && isShort(value))))
}

function titleFact(row: JsonObject): MessageDraft["pond"] {
  const title = row["title"] ?? row["name"]
  return typeof title === "string" && title !== "" ? { title } : undefined
}

function takeUnknown(writer: SessionWriter, raw: RawRecord & { readonly form: "row" }, row: SourceObject): void {
  writer.carrier(raw, row)
  writer.issue(raw, { kind: "unknown_record", severity: "note", found: `a row of ${raw.table}` })
}

// --- The way back -------------------------------------------------------------------------------------------------------

/** Messages as they are now, without those that were removed. */
export interface LiveRow {
  readonly row: JsonObject
  readonly entries: readonly Entry[]
}

export function liveRows(log: SessionLog, table: string): LiveRow[] {
  const gone = removedIn(log)
  const live: LiveRow[] = []
  for (const { newest, entries } of entriesByRecord(log)) {
    const { record, table: of } = sourceOf(newest)
    if (of !== table || !isJsonObject(record ?? null) || gone.has(entries[0].message.id)) continue
    live.push({ row: record as JsonObject, entries })
  }
  return live
}

/** The rows of its tables as they are now. What its client removed stays in the store. */
export function createRowSerializer(session: Session, sink: FileSink): NativeSerializer {
  return wholeSession(session, (log) => {
    const gone = removedIn(log)
    const kept = log.entries.filter(({ message }) => {
      const { of, table } = sourceOf(message)
      const id = typeof of === "string" ? of : (revisionOf(message) ?? message.id)
      return table !== REMOVED_TABLE && !gone.has(id)
    })
    for (const record of nativeRecords({ session, entries: kept })) writeRecord(record, sink)
    return { sessionId: session.id }
  })
}

/** The last record of what was removed counts: a message may have come back. */
function removedIn({ entries }: SessionLog): ReadonlySet<JsonValue> {
  const last = entries.findLast(({ message }) => sourceOf(message)["table"] === REMOVED_TABLE)
  const record = last === undefined ? undefined : sourceOf(last.message)["record"]
  const ids = isJsonObject(record) ? record["message"] : undefined
  return new Set(Array.isArray(ids) ? (ids as readonly JsonValue[]) : [])
}
