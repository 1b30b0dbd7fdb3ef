/**
 * One message with its parts, as a record: how opencode itself hands a message on, whichever way it was kept.
 *   a row:      `{id, session_id, time_created, time_updated, data: {…}, part: [{id, message_id, …, data: {…}}]}`
 *   documents:  `{info: {…}, parts: [{…}], files?: […]}`, from a tree of files or from an export
 * A view says where in the record things stand, so that everything else is written once. Knows no file and no database.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../model/json.ts"
import { nonEmptyStringAt, type PathKey, type Sealed, stringAt, timestampAt, valueAt } from "../extract.ts"

export type Path = readonly PathKey[]

export interface PartView {
  readonly at: Path
  readonly id: Sealed<string> | undefined
  readonly type: Sealed<string> | undefined
}

export interface MessageView {
  readonly record: JsonValue
  /** Where the fields of the message stand: `role`, `time`, `error`, … */
  readonly info: Path
  readonly id: Sealed<string> | undefined
  readonly time: Sealed<string> | undefined
  readonly parts: readonly PartView[]
}

export function viewOf(record: JsonValue): MessageView {
  return isJsonObject(record) && "info" in record ? documentView(record) : rowView(record)
}

function rowView(record: JsonValue): MessageView {
  return {
    record,
    info: ["data"],
    id: nonEmptyStringAt(record, "id"),
    time: timestampAt(record, "time_created") ?? timestampAt(record, "data", "time", "created"),
    parts: itemsAt(record, "part").map((index) => ({
      at: ["part", index, "data"],
      id: nonEmptyStringAt(record, "part", index, "id"),
      type: stringAt(record, "part", index, "data", "type"),
    })),
  }
}

function documentView(record: JsonValue): MessageView {
  // Until July 2025 the parts stood inside their message.
  const parts: Path = itemsAt(record, "info", "parts").length > 0 ? ["info", "parts"] : ["parts"]
  return {
    record,
    info: ["info"],
    id: nonEmptyStringAt(record, "info", "id"),
    time: timestampAt(record, "info", "time", "created") ?? timestampAt(record, "info", "metadata", "time", "created"),
    parts: itemsAt(record, ...parts).map((index) => ({
      at: [...parts, index],
      id: nonEmptyStringAt(record, ...parts, index, "id"),
      type: stringAt(record, ...parts, index, "type"),
    })),
  }
}

export function infoAt(view: MessageView, ...path: Path): JsonValue | undefined {
  return valueAt(view.record, ...view.info, ...path)
}

export function partAt(view: MessageView, part: PartView, ...path: Path): JsonValue | undefined {
  return valueAt(view.record, ...part.at, ...path)
}

export function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

function itemsAt(record: JsonValue, ...path: Path): number[] {
  const items = valueAt(record, ...path)
  return Array.isArray(items) ? [...items.keys()] : []
}
