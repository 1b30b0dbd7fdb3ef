/**
 * Turns an adapter's drafts into canonical events: ids, ordinals, placement of every field (spec 6.5), carriers.
 * One record becomes one message, or several where it fuses roles; what is no message becomes a carrier, whole.
 * Knows no client. Every record that is handed in comes out: in a part, in `options.source`, or both.
 */
import { assert } from "../model/errors.ts"
import { type JsonObject, type JsonValue, stringifyJson } from "../model/json.ts"
import type { Issue } from "../model/report.ts"
import type { Entry, Part, ROLE_PARTS, Role, Session } from "../model/session.ts"
import { createKeySet } from "../platform/key-set.ts"
import type { ParseSink, RawRecord, ResumePoint, SourceFile, SourceUnit } from "./adapter.ts"
import type { Sealed } from "./extract.ts"
import { takeOut, takeOutContent } from "./lift.ts"
import type { PartDraft } from "./parts.ts"

export interface SessionStart {
  readonly id: Sealed<string>
  readonly sourceAgent: Sealed<string>
  readonly project: Sealed<string>
  readonly createdAt: Sealed<string>
  readonly parentSessionId?: Sealed<string> | undefined
  readonly parentMessageId?: Sealed<string> | undefined
  readonly title?: Sealed<string> | undefined
  /** Facts of pond's own about the whole session. */
  readonly pond?: Record<string, JsonValue>
}

interface DraftFields {
  /** The source's own id of this message. Without one, the id is made from the content of the record. */
  readonly id?: Sealed<string> | undefined
  /** Without one, the session's own time stands in (spec 4.8). */
  readonly timestamp?: Sealed<string> | undefined
  readonly pond?: Record<string, JsonValue> | undefined
  /** Where the length of the record's line counts and `stringifyJson` would change it: see `shared/spelling.ts`. */
  readonly spelling?: JsonValue | undefined
}

type PartDraftsOf<R extends Role> = readonly PartDraft<(typeof ROLE_PARTS)[R][number]>[]

export type MessageDraft =
  | (DraftFields & { readonly role: "system"; readonly content?: Sealed<string> | undefined })
  | (DraftFields & { readonly role: "user"; readonly parts: PartDraftsOf<"user"> })
  | (DraftFields & { readonly role: "assistant"; readonly parts: PartDraftsOf<"assistant"> })
  | (DraftFields & { readonly role: "tool"; readonly parts: PartDraftsOf<"tool"> })

export interface SessionWriter {
  /** Whether `begin` was called, or the session was there before. */
  readonly hasBegun: boolean
  readonly nextOrdinal: number
  begin(start: SessionStart): void
  /** A record and the messages that it holds. The record belongs to the writer from here on: values are taken out of it. */
  record(raw: RawRecord, record: JsonValue, messages: readonly [MessageDraft, ...MessageDraft[]]): void
  /** A record that is no message, kept whole. */
  carrier(raw: RawRecord, record: JsonValue, fields?: DraftFields): void
  /** A file that is no records at all (a text, bytes), kept as it lay. */
  whole(raw: RawRecord, fields?: DraftFields): void
  /** A record that could not be read, kept as it lay, and the issue that says so. */
  unreadable(raw: RawRecord, kind: string, found: string): void
  issue(raw: RawRecord, issue: Pick<Issue, "kind" | "severity" | "found">): void
  /** No more records. What waits for a session that never came is not kept, and an issue says so. */
  end(): void
}

export function mainFileOf(unit: SourceUnit): SourceFile {
  const [main] = unit.files
  assert(main !== undefined, "a unit has a file")
  return main
}

export function createSessionWriter(main: SourceFile, sink: ParseSink, resume?: ResumePoint): SessionWriter {
  const freeId = idsBeside(resume?.seen ?? new Set())
  let session = resume?.session
  let ordinal = resume?.nextOrdinal ?? 0
  const waiting: (() => void)[] = []

  /** Messages that come before their session is known wait: the session is always first. */
  function write(raw: RawRecord, source: JsonObject, record: JsonValue, drafts: readonly MessageDraft[]): void {
    if (session === undefined) waiting.push(() => write(raw, source, record, drafts))
    else emit(session, raw, source, record, drafts)
  }

  function emit(
    begun: Session,
    raw: RawRecord,
    source: JsonObject,
    record: JsonValue,
    drafts: readonly MessageDraft[],
  ): void {
    // Every value leaves the record before the first message is handed on: a sink may write it down at once.
    // A document may be one of several that its record was put together from, and a line may have been made up.
    const lineUnits = raw.form === "log" && raw.text !== "" ? raw.text.length : undefined
    const contents: (JsonObject | undefined)[] = []
    for (const draft of drafts) contents.push(takenOut(record, draft, lineUnits))
    let hash: string | undefined
    let first: string | undefined
    for (let index = 0; index < drafts.length; index++) {
      const draft = drafts[index] as MessageDraft
      if (draft.id === undefined) hash ??= contentHash(raw)
      const id = freeId(draft.id?.value ?? hash ?? "")
      const own = draft.spelling === undefined ? source : { ...source, spelling: draft.spelling }
      const kept = first === undefined ? own : { of: first }
      sink.entry(entryOf(begun, id, ordinal++, draft, kept, contents[index]))
      first ??= id
    }
  }

  function keepBare(raw: RawRecord, fields: DraftFields = {}): void {
    write(raw, { ...placeOf(raw, main), ...bareContent(raw) }, null, [{ ...fields, role: "system" }])
  }

  return {
    get hasBegun() {
      return session !== undefined
    },
    get nextOrdinal() {
      return ordinal
    },
    begin(start) {
      if (session !== undefined) return
      session = sessionOf(start, main)
      sink.session(session)
      for (const writeLate of waiting.splice(0)) writeLate()
    },
    record: (raw, record, drafts) => write(raw, sourceOf(raw, main, record), record, drafts),
    carrier: (raw, record, fields) =>
      write(raw, sourceOf(raw, main, record), record, [fields === undefined ? BARE : { ...fields, role: "system" }]),
    whole: keepBare,
    unreadable(raw, kind, found) {
      keepBare(raw)
      sink.issue({ kind, severity: "fault", file: raw.file.place, record: raw.line, found })
    },
    issue: (raw, issue) => sink.issue({ ...issue, file: raw.file.place, record: raw.line }),
    end() {
      if (waiting.length === 0) return
      // `model-project-non-empty`: a session that does not say which it is, and of what, is not invented.
      const found = `records that belong to no session: ${waiting.length}`
      sink.issue({ kind: "no_session", severity: "fault", file: main.place, found })
    },
  }
}

const BARE: MessageDraft = { role: "system" }

/** Parts say themselves what was taken out for them. What was taken out as the content of a message of the system. */
function takenOut(record: JsonValue, draft: MessageDraft, lineUnits: number | undefined): JsonObject | undefined {
  if (draft.role === "system") return takeOutContent(record, draft.content)
  takeOut(record, draft.parts, lineUnits)
  return undefined
}

function entryOf(
  session: Session,
  id: string,
  ordinal: number,
  draft: MessageDraft,
  source: JsonObject,
  lift: JsonObject | undefined,
): Entry {
  const { role, pond } = draft
  const session_id = session.id
  const timestamp = draft.timestamp?.value ?? session.created_at
  const kept = lift === undefined ? source : { ...source, lift }
  const options = pond === undefined ? { source: kept } : { source: kept, pond }
  if (role === "system") {
    const content = draft.content?.value ?? ""
    return { message: { id, session_id, ordinal, timestamp, options, role, content }, parts: [] }
  }
  const parts: Part[] = []
  for (const part of draft.parts) parts.push(placed(part, session_id, id, parts.length))
  return { message: { id, session_id, ordinal, timestamp, options, role }, parts } as Entry
}

/** The body was made for this part alone, and a copy of every part of every message would cost as much as making it. */
function placed(draft: PartDraft, sessionId: string, messageId: string, index: number): Part {
  const part = draft.body as unknown as { -readonly [K in keyof Part]: Part[K] }
  part.id = draft.id ?? `${messageId}:${index}`
  part.session_id = sessionId
  part.message_id = messageId
  return part as Part
}

function sessionOf(start: SessionStart, main: SourceFile): Session {
  return {
    id: start.id.value,
    ...(start.parentSessionId === undefined ? {} : { parent_session_id: start.parentSessionId.value }),
    ...(start.parentMessageId === undefined ? {} : { parent_message_id: start.parentMessageId.value }),
    source_agent: start.sourceAgent.value,
    created_at: start.createdAt.value,
    project: start.project.value,
    ...(start.title === undefined ? {} : { title: start.title.value }),
    options: { source: { file: main.place }, ...(start.pond === undefined ? {} : { pond: start.pond }) },
  }
}

function sourceOf(raw: RawRecord, main: SourceFile, record: JsonValue): JsonObject {
  return raw.form === "log" && raw.file.place === main.place ? { record } : { ...placeOf(raw, main), record }
}

/** Only what differs from a line of the main file is written down. */
function placeOf(raw: RawRecord, main: SourceFile): Record<string, JsonValue> {
  const file = raw.file.place === main.place ? {} : { file: raw.file.place }
  if (raw.form === "row") return { ...file, table: raw.table }
  return raw.file.form === "log" ? file : { ...file, form: raw.file.form }
}

function bareContent(raw: RawRecord): Record<string, JsonValue> {
  if (raw.form === "bytes") return { base64: Buffer.from(raw.bytes).toString("base64") }
  return raw.form === "row" ? { record: raw.row } : { text: raw.text }
}

const CONTENT_ID = "pond-"

/** Whether a message's id was made from the content of its record, because its source gave it none. */
export function hasContentId(id: string): boolean {
  return id.startsWith(CONTENT_ID)
}

/** The same record gives the same id on every machine, in every version (`lance-deterministic-pk`): xxHash is a fixed algorithm. */
function contentHash(raw: RawRecord): string {
  const content = raw.form === "row" ? stringifyJson(raw.row) : contentOf(raw)
  return `${CONTENT_ID}${Bun.hash.xxHash64(content).toString(16).padStart(16, "0")}`
}

function contentOf(raw: Exclude<RawRecord, { form: "row" }>): string | Uint8Array {
  return raw.form === "bytes" ? raw.bytes : raw.text
}

/** So many ids are held as they are, which is more than a session has. Of a log of gigabytes the others are held by their hashes. */
const EXACT_IDS_MAX = 100_000

/** An id that is taken already gets a number: the same record twice is two records (`adapter-integrity-no-silent-drops`). */
function idsBeside(known: ReadonlySet<string>): (wanted: string) => string {
  const taken = new Set<string>()
  const others = createKeySet()
  // The number that the next one like it gets: a client that writes the same record thousands of times must not make us
  // count from two each time.
  const next = new Map<string, number>()
  /** Gives whether it was free. One question for nearly every id: this is asked for every message. */
  function take(id: string): boolean {
    if (taken.size < EXACT_IDS_MAX) {
      const before = taken.size
      taken.add(id)
      return taken.size > before && !known.has(id)
    }
    if (taken.has(id) || known.has(id) || others.mayHave(id)) return false
    others.add(id)
    return true
  }
  return (wanted) => {
    if (take(wanted)) return wanted
    let count = next.get(wanted) ?? 2
    let id = `${wanted}#${count}`
    while (!take(id)) id = `${wanted}#${++count}`
    next.set(wanted, count + 1)
    return id
  }
}
