/** What the readers of rows and of documents share: the writer, what is stored already, and how a record is put down. */
import { stringifyJson } from "../../model/json.ts"
import type { RawRecord } from "../adapter.ts"
import { nonEmptyStringAt, plain, type Sealed, stringAt } from "../extract.ts"
import type { SessionWriter } from "../session-writer.ts"
import type { SourceObject, SourceValue } from "../source-value.ts"
import type { Brand } from "./brands.ts"
import { hashOf } from "./digests.ts"
import type { MessageDrafts } from "./messages.ts"
import { idOf } from "./records.ts"
import type { Layout } from "./session-start.ts"

/** A record that exists once, as it was last: its hash, and the id of the message that holds its first form. */
export type Singles = Record<string, { readonly hash: string; readonly id: string }>

export interface Parsing {
  readonly brand: Pick<Brand, "id">
  readonly writer: SessionWriter
  /** The ids of the messages that are stored. */
  readonly seen: ReadonlySet<string>
  /** What an earlier parse left, changed as this one goes on. */
  readonly singles: Singles
  begin(record: SourceValue, layout: Layout, directory?: Sealed<string>): void
}

/** A message as what it holds; as a whole record where it is stored already. */
export function putMessage(
  { writer, seen }: Parsing,
  raw: RawRecord,
  record: SourceObject,
  { drafts, unknown }: MessageDrafts,
): void {
  const id = idOf(record)
  if (id !== undefined && seen.has(id)) {
    writer.carrier(raw, record, { timestamp: drafts[0].timestamp, pond: { revision_of: id } })
    return
  }
  writer.record(raw, record, drafts)
  if (unknown.length === 0) return
  for (const type of new Set(unknown))
    writer.issue(raw, { kind: "unknown_part", severity: "note", found: `parts of type ${type.slice(0, 80)}` })
}

/** A record that exists once: written down when it is new, and whole once more when it has changed. */
export function putSingle(
  { writer, seen, singles }: Parsing,
  raw: RawRecord,
  record: SourceValue,
  id: Sealed<string>,
): void {
  const name = raw.form === "row" ? `${raw.table} ${plain(id)}` : raw.file.relativePath
  const hash = hashOf(stringifyJson(record))
  const before = singles[name]
  if (before?.hash === hash && seen.has(before.id)) return
  singles[name] = { hash, id: before?.id ?? plain(id) }
  const title = stringAt(record, "title") ?? stringAt(record, "info", "title")
  const fact = title === undefined ? {} : { title: title.value }
  if (before !== undefined && seen.has(before.id))
    writer.carrier(raw, record, { pond: { ...fact, revision_of: before.id } })
  else writer.carrier(raw, record, { id, pond: fact })
}

/** A record that is no message that we know, kept whole and named. */
export function putUnknown(
  { writer }: Parsing,
  raw: RawRecord,
  record: SourceValue,
  kind: string,
  found: string,
): void {
  const id = nonEmptyStringAt(record, "id")
  writer.carrier(raw, record, id === undefined ? {} : { id })
  writer.issue(raw, { kind, severity: "note", found: found.slice(0, 120) })
}
