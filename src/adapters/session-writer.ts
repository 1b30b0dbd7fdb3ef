/**
 * Turns an adapter's drafts into canonical events: ids, ordinals, placement of every field
 * (`model-lossless-projection`), carriers.
 * One record becomes one message, or several where it fuses roles; what is no message becomes a carrier, whole.
 * Knows no client. Every record that is handed in comes out: in a part, in `options.source`, or both.
 */

import { assert } from "../model/errors.ts"
import type { JsonObject, JsonValue } from "../model/json.ts"
import type { Issue } from "../model/report.ts"
import type { Entry, Part, ROLE_PARTS, Role, Session } from "../model/session.ts"
import { reappends } from "../model/superseded.ts"
import type { ParseEnd, ParseSink, RawRecord, ResumePoint, SourceFile, SourceUnit } from "./adapter.ts"
import { type Placed, plain, type Sealed, sealedModifiedAt } from "./extract.ts"
import { contentNote, takeOut } from "./lift.ts"
import { createMessageIds, createPartIds, idBefore } from "./message-ids.ts"
import { type Note, noteIn } from "./notes.ts"
import type { PartDraft } from "./parts.ts"

export interface SessionStart {
  readonly id: Sealed<string>
  readonly sourceAgent: Sealed<string>
  readonly project: Sealed<string>
  readonly createdAt: Sealed<string>
  readonly parentSessionId?: Sealed<string> | undefined
  readonly parentMessageId?: Sealed<string> | undefined
  readonly title?: Sealed<string> | undefined
  /** Its client appends a message again, under the id that it has, with more in it: readers see the last one (`model/superseded.ts`). */
  readonly reappends?: true
  /** Facts that pond adds about the whole session. */
  readonly pond?: Record<string, JsonValue>
}

/** What is known of a session so far. */
export type KnownStart = Omit<SessionStart, "id" | "createdAt"> & {
  readonly [K in "id" | "createdAt"]?: Sealed<string> | undefined
}

interface DraftFields {
  /** The source's own id of this message. Without one, the id is made from the content of the record. */
  readonly id?: Sealed<string> | undefined
  /** Without one, the session's own time stands in, as `model-no-synthesis` allows. */
  readonly timestamp?: Sealed<string> | undefined
  readonly pond?: Record<string, JsonValue> | undefined
}

interface RecordFields extends DraftFields {
  /** Where the length of the record's line counts and `stringifyJson` would change it: see `shared/spelling.ts`. */
  readonly spelling?: JsonValue | undefined
}

type PartDraftsOf<R extends Role> = readonly PartDraft<(typeof ROLE_PARTS)[R][number]>[]

export type MessageDraft =
  | (DraftFields & { readonly role: "system"; readonly content?: Placed<string> | undefined })
  | (DraftFields & { readonly role: "user"; readonly parts: PartDraftsOf<"user"> })
  | (DraftFields & { readonly role: "assistant"; readonly parts: PartDraftsOf<"assistant"> })
  | (DraftFields & { readonly role: "tool"; readonly parts: PartDraftsOf<"tool"> })

export function isFilled<T>(values: readonly T[]): values is readonly [T, ...T[]] {
  return values.length > 0
}

export interface SessionWriter {
  /** Whether `begin` was called, or the session was there before. */
  readonly hasBegun: boolean
  readonly nextOrdinal: number
  /** Does nothing where it has begun, or its id is not known. Without a moment that of its file stands in. */
  begin(start: KnownStart): void
  /**
   * A record and the messages that it holds; without one it is a carrier. The record belongs to the writer from here on: values
   * are taken out of it. `fields` hold for all its messages, but for the id, which the first one has. What a message says itself
   * goes before them.
   */
  record(raw: RawRecord, record: JsonValue, messages: readonly MessageDraft[], fields?: RecordFields): void
  /** A record that is no message, kept whole. */
  carrier(raw: RawRecord, record: JsonValue, fields?: RecordFields): void
  /** A file that is no records at all (a text, bytes), kept as it lay. */
  whole(raw: RawRecord, fields?: RecordFields): void
  /** A record that could not be read, kept as it lay, and the issue that says so. */
  unreadable(raw: RawRecord, kind: string, found: string): void
  /** The line of this record says more than its value: it is kept beside, and a native restore writes it. */
  keepSpelling(raw: RawRecord): void
  issue(raw: RawRecord, issue: Pick<Issue, "kind" | "severity" | "found">): void
  /** Notes what the parser does not know in this record. */
  noteOn(raw: RawRecord): Note
  /**
   * No more records. What waits for a session that never came is not kept, and an issue says so. Gives what a parser says that
   * keeps nothing for its next read.
   */
  end(): ParseEnd
}

export function mainFileOf(unit: SourceUnit): SourceFile {
  const [main] = unit.files
  assert(main !== undefined, "a unit has a file")
  return main
}

export function createSessionWriter(main: SourceFile, sink: ParseSink, resume?: ResumePoint): SessionWriter {
  const ids = createMessageIds(resume?.seen ?? new Set())
  let session = resume?.session
  let isReappending = session !== undefined && reappends(session)
  let ordinal = resume?.nextOrdinal ?? 0
  const waiting: (() => void)[] = []
  const spellings = createSpellings()

  function write(
    raw: RawRecord,
    source: JsonObject,
    record: JsonValue,
    drafts: readonly MessageDraft[],
    shared: RecordFields = NO_FIELDS,
  ): void {
    if (session === undefined) wait(raw, source, record, drafts, shared)
    else emit(session, raw, source, record, drafts, shared)
  }

  /**
   * Messages that come before their session is known wait: the session is always first. A separate function: in `write`, the
   * closure would have every record keep its variables where a closure can find them.
   */
  function wait(...record: Parameters<typeof write>): void {
    waiting.push(() => write(...record))
  }

  function emit(
    begun: Session,
    raw: RawRecord,
    source: JsonObject,
    record: JsonValue,
    drafts: readonly MessageDraft[],
    shared: RecordFields,
  ): void {
    // Every value leaves the record before the first message is handed on: a sink may write it down at once.
    // A document may be one of several that its record was put together from, and a line may have been made up.
    takeOut(record, drafts, raw.form === "log" && raw.text !== "" ? raw.text.length : undefined)
    const own = isReappending ? new Set<string>() : undefined
    let recordId = shared.id
    let kept = withSpelling(source, spellings.take(raw) ?? shared.spelling)
    for (let index = 0; index < drafts.length; index++) {
      const draft = drafts[index] as MessageDraft
      const wanted = draft.id ?? recordId
      const id = wanted === undefined ? ids.ofContent(raw) : ids.free(plain(wanted))
      const entry = entryOf(begun, id, ordinal++, draft, withLift(kept, record, draft), shared)
      sink.entry(own === undefined ? entry : superseding(entry, wanted, own))
      if (index > 0) continue
      recordId = undefined
      kept = { of: id }
    }
  }

  function keepBare(raw: RawRecord, fields?: RecordFields): void {
    write(raw, { ...recordPosition(raw, main), ...bareContent(raw) }, null, CARRIER, fields)
  }

  return {
    get hasBegun() {
      return session !== undefined
    },
    get nextOrdinal() {
      return ordinal
    },
    begin(start) {
      const { id, createdAt = sealedModifiedAt(main) } = start
      if (session !== undefined || id === undefined || createdAt === undefined) return
      session = sessionOf({ ...start, id, createdAt }, main)
      isReappending = start.reappends === true
      sink.session(session)
      for (const writeLate of waiting.splice(0)) writeLate()
    },
    record: (raw, record, drafts, fields) =>
      write(raw, sourceOf(raw, main, record), record, drafts.length === 0 ? CARRIER : drafts, fields),
    carrier: (raw, record, fields) => write(raw, sourceOf(raw, main, record), record, CARRIER, fields),
    whole: keepBare,
    unreadable(raw, kind, found) {
      keepBare(raw)
      sink.issue({ kind, severity: "fault", file: raw.file.relativePath, record: raw.line, found })
    },
    keepSpelling: spellings.keep,
    issue: (raw, issue) => sink.issue({ ...issue, file: raw.file.relativePath, record: raw.line }),
    noteOn: (raw) => noteIn(sink, raw),
    end() {
      if (waiting.length > 0) reportWaiting(waiting.length, main, sink)
      return { state: null, clientVersions: [] }
    },
  }
}

/** `model-project-non-empty`: a session that does not say which it is, and of what, is not invented. */
function reportWaiting(records: number, main: SourceFile, sink: ParseSink): void {
  const found = `records that belong to no session: ${records}`
  sink.issue({ kind: "no_session", severity: "fault", file: main.relativePath, found })
}

interface Spellings {
  keep(raw: RawRecord): void
  /** The line, once: the record is written then. */
  take(raw: RawRecord): string | undefined
}

function createSpellings(): Spellings {
  let kept: Set<RawRecord> | undefined
  return {
    keep: (raw) => {
      kept ??= new Set()
      kept.add(raw)
    },
    take: (raw) => (kept?.delete(raw) === true && raw.form === "log" ? raw.text : undefined),
  }
}

const CARRIER: readonly MessageDraft[] = [{ role: "system" }]
const NO_FIELDS: RecordFields = {}

function withSpelling(source: JsonObject, spelling: JsonValue | undefined): JsonObject {
  return spelling === undefined ? source : { ...source, spelling }
}

/** Parts say themselves what was taken out for them. */
function withLift(source: JsonObject, record: JsonValue, draft: MessageDraft): JsonObject {
  const lift = draft.role === "system" ? contentNote(record, draft.content) : undefined
  return lift === undefined ? source : { ...source, lift }
}

/** A message of a record that comes under an id again stands for the one that had it before. `own` are those of its record. */
function superseding(entry: Entry, id: Sealed<string> | undefined, own: Set<string>): Entry {
  const { message } = entry
  const before = id === undefined || message.role === "system" ? undefined : idBefore(message.id, plain(id))
  own.add(message.id)
  if (before === undefined || own.has(before)) return entry
  const { options } = message
  const pond = { ...(options["pond"] as JsonObject | undefined), supersedes: before }
  return { ...entry, message: { ...message, options: { ...options, pond } } } as Entry
}

function entryOf(
  session: Session,
  id: string,
  ordinal: number,
  draft: MessageDraft,
  source: JsonObject,
  shared: DraftFields,
): Entry {
  const { role } = draft
  const session_id = session.id
  const moment = draft.timestamp ?? shared.timestamp
  const timestamp = moment === undefined ? session.created_at : plain(moment)
  const pond = shared.pond === undefined ? draft.pond : { ...shared.pond, ...draft.pond }
  const options = pond === undefined ? { source } : { source, pond }
  if (role === "system") {
    const content = draft.content?.value ?? ""
    return { message: { id, session_id, ordinal, timestamp, options, role, content }, parts: [] }
  }
  const parts: readonly PartDraft[] = draft.parts
  const ids = parts.length > 1 ? createPartIds() : undefined
  for (let index = 0; index < parts.length; index++) place(parts[index] as PartDraft, session_id, id, index, ids)
  return { message: { id, session_id, ordinal, timestamp, options, role }, parts } as unknown as Entry
}

/** The part was made for this message alone: a copy of every part of every message would cost as much as making it. */
function place(
  draft: PartDraft,
  sessionId: string,
  messageId: string,
  index: number,
  ids: ((wanted: string) => string) | undefined,
): void {
  const part = draft as unknown as { -readonly [K in keyof Part]: Part[K] }
  const wanted = part.id === "" ? `${messageId}:${index}` : part.id
  part.id = ids === undefined ? wanted : ids(wanted)
  part.session_id = sessionId
  part.message_id = messageId
}

function sessionOf(start: SessionStart, main: SourceFile): Session {
  const pond = start.reappends === true ? { ...start.pond, reappends: true } : start.pond
  return {
    id: plain(start.id),
    ...(start.parentSessionId === undefined ? {} : { parent_session_id: plain(start.parentSessionId) }),
    ...(start.parentMessageId === undefined ? {} : { parent_message_id: plain(start.parentMessageId) }),
    source_agent: plain(start.sourceAgent),
    created_at: plain(start.createdAt),
    project: plain(start.project),
    ...(start.title === undefined ? {} : { title: plain(start.title) }),
    options: { source: { file: main.relativePath }, ...(pond === undefined ? {} : { pond }) },
  }
}

function sourceOf(raw: RawRecord, main: SourceFile, record: JsonValue): JsonObject {
  return raw.form === "log" && raw.file.relativePath === main.relativePath
    ? { record }
    : { ...recordPosition(raw, main), record }
}

/** Only what differs from a line of the main file is written down. */
function recordPosition(raw: RawRecord, main: SourceFile): Record<string, JsonValue> {
  const file = raw.file.relativePath === main.relativePath ? {} : { file: raw.file.relativePath }
  if (raw.form === "row") return { ...file, table: raw.table }
  return raw.file.form === "log" ? file : { ...file, form: raw.file.form }
}

function bareContent(raw: RawRecord): Record<string, JsonValue> {
  if (raw.form === "bytes") return { base64: Buffer.from(raw.bytes).toString("base64") }
  return raw.form === "row" ? { record: raw.row } : { text: raw.text }
}
