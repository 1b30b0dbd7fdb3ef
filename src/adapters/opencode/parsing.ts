/** What the readers of rows and of documents share: the writer, what is stored already, and how a message is put down. */
import type { JsonObject, JsonValue } from "../../model/json.ts"
import type { RawRecord } from "../adapter.ts"
import type { SessionWriter } from "../session-writer.ts"
import type { MessageDrafts } from "./messages.ts"
import { viewOf } from "./records.ts"
import type { Layout } from "./session-start.ts"

export interface Parsing {
  readonly writer: SessionWriter
  /** The ids of the messages that are stored. */
  readonly seen: ReadonlySet<string>
  begin(record: JsonValue, layout: Layout): void
  /** A record that exists once. It is written down when it is new or has changed. */
  single(name: string, raw: RawRecord, record: JsonValue): void
}

/** A message as what it holds; as a whole record where it is stored already or is no message that we know. */
export function putMessage(
  { writer, seen }: Parsing,
  raw: RawRecord,
  record: JsonObject,
  { drafts, unknown }: MessageDrafts,
): void {
  const id = viewOf(record).id?.value
  if (id !== undefined && seen.has(id)) {
    writer.carrier(raw, record, { timestamp: drafts[0].timestamp, pond: { revision_of: id } })
    return
  }
  writer.record(raw, record, drafts)
  for (const type of new Set(unknown))
    writer.issue(raw, { kind: "unknown_part", severity: "note", found: `parts of type ${type.slice(0, 80)}` })
}

export function putUnknown({ writer }: Parsing, raw: RawRecord, record: JsonValue, kind: string, found: string): void {
  writer.carrier(raw, record)
  writer.issue(raw, { kind, severity: "note", found: found.slice(0, 120) })
}
