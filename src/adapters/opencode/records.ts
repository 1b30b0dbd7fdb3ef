/**
 * One message with its parts, as a record: how opencode itself hands a message on, whichever way it was kept.
 *   a row:      `{id, session_id, time_created, time_updated, data: {…}, part: [{id, message_id, …, data: {…}}]}`
 *   documents:  `{info: {…}, parts: [{…}], files?: […]}`, from a tree of files or from an export
 * A view says where in the record things stand, so that everything else is written once. Knows no file and no database.
 */
import { isJsonObject } from "../../model/json.ts"
import {
  momentOf,
  nameOf,
  nonEmptyStringAt,
  nonEmptyStringUnder,
  plain,
  type Sealed,
  timestampAt,
  valueAt,
} from "../extract.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, itemsOf, NOWHERE, type PathKey, type Spot, whole, wordUnder } from "../spot.ts"

export type Path = readonly PathKey[]

export interface PartView {
  readonly spot: Spot
  readonly id: Sealed<string> | undefined
  readonly type: string | undefined
}

export interface MessageView {
  readonly record: SourceValue
  /** Where the fields of the message stand: `role`, `time`, `error`, … */
  readonly info: Spot
  readonly id: Sealed<string> | undefined
  readonly time: Sealed<string> | undefined
  readonly parts: readonly PartView[]
}

export function viewOf(record: SourceValue): MessageView {
  return isDocument(record) ? documentView(record) : rowView(record)
}

/** The id of a message, without a view of the rest of it. */
export function idOf(record: SourceValue): string | undefined {
  const id = isDocument(record) ? nonEmptyStringAt(record, "info", "id") : nonEmptyStringAt(record, "id")
  return id && plain(id)
}

function isDocument(record: SourceValue): boolean {
  return isJsonObject(record) && "info" in record
}

function rowView(record: SourceValue): MessageView {
  const spot = whole(record)
  const parts: PartView[] = []
  for (const row of itemsOf(inside(spot, "part"))) {
    const data = inside(row, "data") ?? NOWHERE
    parts.push({ spot: data, id: nonEmptyStringUnder(row, "id"), type: wordUnder(data.value, "type") })
  }
  return {
    record,
    info: inside(spot, "data") ?? NOWHERE,
    id: nonEmptyStringUnder(spot, "id"),
    time: momentOf(record, "time_created") ?? timestampAt(record, "data", "time", "created"),
    parts,
  }
}

function documentView(record: SourceValue): MessageView {
  const spot = whole(record)
  const info = inside(spot, "info") ?? NOWHERE
  // Until July 2025 the parts stood inside their message.
  const early = itemsOf(inside(info, "parts"))
  const parts = early.length > 0 ? early : itemsOf(inside(spot, "parts"))
  return {
    record,
    info,
    id: nonEmptyStringUnder(info, "id"),
    time: timestampAt(info.value, "time", "created") ?? timestampAt(info.value, "metadata", "time", "created"),
    parts: parts.map((part) => ({
      spot: part,
      id: nonEmptyStringUnder(part, "id"),
      type: wordUnder(part.value, "type"),
    })),
  }
}

export function infoAt(view: MessageView, ...path: Path): SourceValue | undefined {
  return view.info === NOWHERE ? undefined : valueAt(view.info.value, ...path)
}

export function partAt({ spot }: PartView, ...path: Path): SourceValue | undefined {
  return spot === NOWHERE ? undefined : valueAt(spot.value, ...path)
}

/** The type of a part, for a mark in its place. */
export function partKind({ spot }: PartView): Sealed<string> | undefined {
  return nameOf(spot.value, "type")
}
