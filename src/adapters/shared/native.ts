/**
 * Native restore for every client: each record is filled again and goes back to the file that it came from.
 * A document exists once, so the last record of it counts (a change is recorded as a revision, at the end).
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import type { Entry, Message, Session, SessionLog } from "../../model/session.ts"
import type { FileSink, NativeEnd, NativeSerializer, OutputLine, OutputRow, SourceForm } from "../adapter.ts"
import { fill } from "../lift.ts"
import { spelled } from "./spelling.ts"

/** One record of the source, and where it lay. */
export interface NativeRecord {
  readonly relativePath: string
  readonly form: SourceForm
  readonly table: string | undefined
  readonly content:
    | { readonly json: JsonValue; readonly spelling?: JsonValue }
    | { readonly text: string }
    | { readonly base64: string }
}

/** The serializer of every client whose files are made of records: each goes back to the file that it came from. */
export function createNativeSerializer(
  session: Session,
  sink: FileSink,
  isShared?: (relativePath: string) => boolean,
): NativeSerializer {
  return {
    push: (entries) => {
      for (const record of nativeRecords({ session, entries }))
        writeRecord(record, sink, isShared?.(record.relativePath) === true ? true : undefined)
    },
    end: () => ({ sessionId: session.id }),
  }
}

/** For a client of which only the whole session tells what its files are: it is held until the last entry came. */
export function wholeSession(session: Session, write: (log: SessionLog) => NativeEnd): NativeSerializer {
  const entries: Entry[] = []
  return {
    push: (more) => {
      for (const entry of more) entries.push(entry)
    },
    end: () => write({ session, entries }),
  }
}

export function writeRecord(record: NativeRecord, sink: FileSink, isShared?: true): void {
  const { form, relativePath, table, content } = record
  if (form === "log") sink.line(relativePath, lineOf(content), isShared)
  else if (form === "database") {
    // Rows that are no objects were read from nowhere but damage, and are given back as they came.
    if (table !== undefined && "json" in content)
      sink.row(relativePath, { table, row: content.json as OutputRow["row"] })
  } else if ("base64" in content)
    sink.file({ form: "bytes", relativePath, bytes: decodeBase64(content.base64), ...(isShared && { isShared }) })
  else sink.file({ form: form === "document" ? "document" : "text", relativePath, text: String(lineOf(content)) })
}

/** The records of a session in the order of its source: the messages of one record are together again. */
export function* nativeRecords(log: SessionLog): Generator<NativeRecord> {
  const mainPlace = mainPlaceOf(log)
  for (const { newest, entries } of entriesByRecord(log)) {
    const record = recordOf(newest, entries, mainPlace)
    if (record !== undefined) yield record
  }
}

/** The messages that one record became. The first of them holds it, or a later revision that replaces it: `newest`. */
export interface RecordEntries {
  readonly newest: Message
  readonly entries: readonly [Entry, ...Entry[]]
}

/** Revisions are not entries of their own here. */
export function* entriesByRecord(log: SessionLog): Generator<RecordEntries> {
  const revisions = revisionsOf(log)
  const isOwn = ({ message }: Entry) => revisionOf(message) === undefined
  const entries = revisions.size === 0 ? log.entries : log.entries.filter(isOwn)
  for (let index = 0; index < entries.length; ) {
    const first = entries[index]
    if (first === undefined) return
    const group: [Entry, ...Entry[]] = [first]
    for (index++; continues(entries[index], first.message.id); index++) group.push(entries[index] as Entry)
    yield { newest: revisions.get(first.message.id) ?? first.message, entries: group }
  }
}

/** The record of a message as the source had it, where the message holds one. */
export function sourceOf(message: Message): JsonObject {
  const source = message.options["source"]
  return isJsonObject(source) ? source : {}
}

/** Of a revision: the message whose record it replaces. */
export function revisionOf(message: Message): string | undefined {
  const pond = message.options["pond"]
  const of = isJsonObject(pond) ? pond["revision_of"] : undefined
  return typeof of === "string" ? of : undefined
}

/** The newest revision of each message that has one. */
function revisionsOf({ entries }: SessionLog): ReadonlyMap<string, Message> {
  const revisions = new Map<string, Message>()
  for (const { message } of entries) {
    const of = revisionOf(message)
    if (of !== undefined) revisions.set(of, message)
  }
  return revisions
}

export function mainPlaceOf({ session }: SessionLog): string {
  const source = session.options["source"]
  const file = isJsonObject(source) ? source["file"] : undefined
  return typeof file === "string" ? file : `${session.id}.jsonl`
}

/** The last record that begins in a stretch of a session may go on behind it: how many entries there are before it. */
export function lastRecordAt(entries: readonly Entry[]): number {
  return Math.max(
    0,
    entries.findLastIndex(({ message }) => sourceOf(message)["of"] === undefined),
  )
}

function continues(entry: Entry | undefined, first: string): boolean {
  return entry !== undefined && sourceOf(entry.message)["of"] === first
}

function recordOf(message: Message, group: readonly Entry[], mainPlace: string): NativeRecord | undefined {
  const { file, form, table, record, text, base64, spelling } = sourceOf(message)
  const placed = {
    relativePath: typeof file === "string" ? file : mainPlace,
    form: typeof table === "string" ? ("database" as const) : ((form ?? "log") as SourceForm),
    table: typeof table === "string" ? table : undefined,
  }
  if (record !== undefined) {
    // A revision holds its record whole: nothing of the message that it replaces belongs into it.
    const json = revisionOf(message) === undefined ? fill(record, group) : record
    return { ...placed, content: spelling === undefined ? { json } : { json, spelling } }
  }
  if (typeof text === "string") return { ...placed, content: { text } }
  return typeof base64 === "string" ? { ...placed, content: { base64 } } : undefined
}

function lineOf(content: NativeRecord["content"]): OutputLine {
  if ("json" in content) return spelled(content.json, content.spelling)
  return "text" in content ? content.text : decodeBase64(content.base64)
}

function decodeBase64(base64: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64, "base64"))
}
