/**
 * The current state of a stored session: each message as its newest record says it, in the order of opencode, and the
 * session itself. Changes were appended behind what they change; here they take its place.
 */
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "../../model/json.ts"
import type { SessionLog } from "../../model/session.ts"
import { plain } from "../extract.ts"
import type { NativeRecord } from "../shared/native.ts"
import { fieldsOf, fromSource } from "../source-value.ts"
import { kindOf, partFolderOf } from "./places.ts"
import { infoAt, type MessageView, viewOf } from "./records.ts"
import { newestRecords } from "./serialize.ts"

export interface LiveSession {
  /** The row or the document of the session, where there is one. */
  readonly session: JsonObject
  /** Messages with their parts. */
  readonly messages: readonly MessageView[]
  /** Rows of `session_message`: see `messages-v2.ts`. */
  readonly rows: readonly JsonObject[]
}

export function liveSession(log: SessionLog): LiveSession {
  const tables = new Map<string, Map<string, JsonObject>>()
  const documents = new Map<string, JsonValue>()
  for (const record of newestRecords(log)) {
    const json = jsonOf(record)
    if (json === undefined) continue
    if (record.table === undefined) documents.set(record.relativePath, json)
    else if (isJsonObject(json)) newest(tables, record.table, json)
  }
  const messages = [...rowsOf(tables, "message"), ...treeMessages(documents), ...exportMessages(documents)]
  return {
    session: rowsOf(tables, "session").at(-1) ?? sessionDocument(documents),
    messages: messages.map((record) => viewOf(fromSource(record))).toSorted(byTime),
    rows: rowsOf(tables, "session_message").toSorted((left, right) => Number(left["seq"]) - Number(right["seq"])),
  }
}

function jsonOf({ content }: NativeRecord): JsonValue | undefined {
  if ("json" in content) return content.json
  const parsed = "text" in content ? parseJson(content.text) : undefined
  return parsed?.ok === true ? parsed.value : undefined
}

function newest(tables: Map<string, Map<string, JsonObject>>, table: string, row: JsonObject): void {
  const rows = tables.get(table) ?? new Map<string, JsonObject>()
  tables.set(table, rows)
  rows.set(String(row["id"]), row)
}

function rowsOf(tables: ReadonlyMap<string, ReadonlyMap<string, JsonObject>>, table: string): JsonObject[] {
  return [...(tables.get(table)?.values() ?? [])]
}

function treeMessages(documents: ReadonlyMap<string, JsonValue>): JsonObject[] {
  const parts = new Map<string, JsonValue[]>()
  for (const [place, part] of documents) {
    if (kindOf(place) !== "part") continue
    const folder = place.slice(0, place.lastIndexOf("/"))
    const siblings = parts.get(folder)
    if (siblings === undefined) parts.set(folder, [part])
    else siblings.push(part)
  }
  return [...documents]
    .filter(([place]) => kindOf(place) === "message")
    .map(([place, info]) => ({ info, parts: parts.get(partFolderOf(place)) ?? [] }))
}

function exportMessages(documents: ReadonlyMap<string, JsonValue>): JsonObject[] {
  const exported = [...documents]
    .filter(([place]) => kindOf(place) === "other")
    .map(([, json]) => fieldsOf(json)["messages"])
  return exported.flatMap((messages) => (Array.isArray(messages) ? messages.filter(isJsonObject) : []))
}

function sessionDocument(documents: ReadonlyMap<string, JsonValue>): JsonObject {
  for (const [place, json] of documents) {
    const kind = kindOf(place)
    if (kind === "session") return fieldsOf(json)
    if (kind === "other" && isJsonObject(fieldsOf(json)["info"] ?? null)) return fieldsOf(fieldsOf(json)["info"])
  }
  return {}
}

/** As opencode reads them: by the time at which they were begun, then by their ids, which grow. */
export function byTime(left: MessageView, right: MessageView): number {
  const difference = beganAt(left) - beganAt(right)
  if (difference !== 0) return difference
  return ((left.id && plain(left.id)) ?? "") < ((right.id && plain(right.id)) ?? "") ? -1 : 1
}

function beganAt(view: MessageView): number {
  const row = fieldsOf(view.record)["time_created"]
  const created = row ?? infoAt(view, "time", "created") ?? infoAt(view, "metadata", "time", "created")
  return typeof created === "number" ? created : 0
}
