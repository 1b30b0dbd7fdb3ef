/**
 * Native restore: the records go back to where they lay, each as it was last. Rows to their tables; the parts of a message
 * that lay in files of their own to these; the messages of an export into its document.
 */
import { basename, dirname, join } from "node:path"
import { isJsonObject, type JsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import type { Session, SessionLog } from "../../model/session.ts"
import type {
  FileSink,
  NativeSerializer,
  OutputFile,
  OutputRow,
  ResumeCommand,
  Serialize,
  SessionLocation,
} from "../adapter.ts"
import { joinDocument } from "../shared/documents.ts"
import {
  entriesByRecord,
  mainPlaceOf,
  type NativeRecord,
  nativeRecords,
  sourceOf,
  wholeSession,
  writeRecord,
} from "../shared/native.ts"
import { inOtherHome } from "../shared/other-home.ts"
import type { Brand } from "./brands.ts"
import { foreignWriterOf } from "./foreign.ts"
import { EXPORT, isExport } from "./parse-documents.ts"
import { kindOf, partFolderOf } from "./places.ts"
import { GLOBAL, globalProject, pathBelowRoot } from "./project.ts"
import { REMOVED_TABLE } from "./tables.ts"

export function serializerOf(brand: Brand): Serialize {
  return {
    native,
    foreign: foreignWriterOf(brand),
    resume: (sessionId, cwd, location = {}) => ({
      ...environmentOf(brand, location),
      command: [brand.id, "--session", sessionId],
      cwd,
    }),
  }
}

/** A database it takes from anywhere; of the files of its first months it only knows the folder that has its name. */
function environmentOf(
  { id, title, prefix }: Brand,
  { relativePath = "", root }: SessionLocation,
): Pick<ResumeCommand, "environment" | "note"> {
  if (root === undefined) return {}
  if (relativePath.endsWith(".db")) return { environment: { [`${prefix}_DB`]: join(root, relativePath) } }
  return basename(root) === id ? inOtherHome(title, { XDG_DATA_HOME: dirname(root) }) : {}
}

/**
 * Outdated are trees of files, of which a client with a database reads no more; exports, which it reads when it is told to;
 * and sessions that are rows of `session_message` alone: its server sends them on, and its terminal shows and sends nothing of them.
 */
function native(session: Session, sink: FileSink): NativeSerializer {
  return wholeSession(session, (log) => {
    for (const record of newestRecords(log)) writeRecord(record, sink)
    const tables = new Set<unknown>()
    for (const { newest } of entriesByRecord(log)) tables.add(sourceOf(newest)["table"])
    const isFile = mainPlaceOf(log).endsWith(".json")
    return {
      sessionId: session.id,
      isOutdated: isFile || (tables.has("session_message") && !tables.has("message")),
    }
  })
}

/**
 * A session that was moved belongs to no project that is known here: to the one of all directories, from which opencode takes
 * it into that of the repository which it lies at the top of. It does the same with what it imports.
 */
export function repoint(files: readonly OutputFile[], sink: FileSink): void {
  for (const file of files) {
    if (file.form === "log") for (const line of file.lines) sink.line(file.relativePath, line, file.isShared)
    else if (file.form !== "database") sink.file(file)
    else {
      const others = [...file.rows].filter(({ table }) => table !== "project")
      sink.row(file.relativePath, globalProject(createdIn(others)))
      for (const row of others) sink.row(file.relativePath, intoGlobal(row))
    }
  }
}

function intoGlobal({ table, row }: OutputRow): OutputRow {
  const { directory } = row
  if (table !== "session" || typeof directory !== "string") return { table, row }
  const path = "path" in row ? { path: pathBelowRoot(directory) } : {}
  return { table, row: { ...row, project_id: GLOBAL, ...path } }
}

function createdIn(rows: readonly OutputRow[]): number {
  const times = rows.map(({ row }) => row["time_created"]).filter((time) => typeof time === "number")
  return times.length === 0 ? 0 : Math.min(...times)
}

/** All records as files and rows hold them. Of a document that was written more than once, the last counts. */
export function newestRecords(log: SessionLog): NativeRecord[] {
  let records: NativeRecord[] = []
  const exports = new Map<string, ExportParts>()
  for (const record of nativeRecords(log)) {
    const json = "json" in record.content ? record.content.json : undefined
    if (record.table === REMOVED_TABLE) records = withoutRemoved(records, json)
    else if (isTreeMessage(record, json)) records.push(...treeFiles(record, json))
    else if (isExportPart(record, json, exports)) addToExport(exports, record, json)
    else records.push(record)
  }
  for (const parts of exports.values()) records.push(exportDocument(parts))
  return inOneProject(records)
}

/**
 * A session is of one project, but opencode takes it into another one: where a repository was made, or the session was
 * moved. The rows of both are stored; the one that it is of now comes back, where the first of them stood.
 */
function inOneProject(records: readonly NativeRecord[]): NativeRecord[] {
  const isProject = ({ table }: NativeRecord) => table === "project"
  const session = records.findLast(({ table }) => table === "session")
  const own = records.findLast((each) => isProject(each) && fieldOf(each, "id") === fieldOf(session, "project_id"))
  if (own === undefined) return [...records]
  const others = records.filter((each) => !isProject(each))
  return others.toSpliced(records.findIndex(isProject), 0, own)
}

function fieldOf(record: NativeRecord | undefined, key: string): JsonValue | undefined {
  const json = record !== undefined && "json" in record.content ? record.content.json : undefined
  return isJsonObject(json) ? json[key] : undefined
}

/** A message that the client removed is not brought back by a restore. It stays in the store. */
function withoutRemoved(records: readonly NativeRecord[], json: JsonValue | undefined): NativeRecord[] {
  const ids = isJsonObject(json) && Array.isArray(json["message"]) ? json["message"] : []
  const removed = new Set<JsonValue>(ids)
  return records.filter(({ table, content }) => {
    if (table !== "message" && table !== "session_message") return true
    return !("json" in content) || !isJsonObject(content.json) || !removed.has(content.json["id"] ?? null)
  })
}

// --- A tree: a message and its parts are files of their own -------------------------------------------------------------

function isTreeMessage({ form, relativePath: place }: NativeRecord, json: JsonValue | undefined): json is JsonObject {
  const isMessage = form === "document" && kindOf(place) === "message"
  return isMessage && isJsonObject(json) && Array.isArray(json["parts"]) && isJsonObject(json["info"] ?? null)
}

function treeFiles(record: NativeRecord, { info = null, parts, places }: JsonObject): NativeRecord[] {
  const folder = partFolderOf(record.relativePath)
  const named = Array.isArray(places) ? places : undefined
  return [
    { ...record, content: { json: info } },
    ...(Array.isArray(parts) ? parts : []).map((part: JsonValue, index) => {
      const id = isJsonObject(part) ? part["id"] : undefined
      return {
        ...record,
        relativePath: String(named?.[index] ?? `${folder}/${String(id)}.json`),
        content: { json: part },
      }
    }),
  ]
}

// --- An export: all messages stand in one document ----------------------------------------------------------------------

interface ExportParts {
  readonly record: NativeRecord
  header: JsonObject
  readonly messages: JsonValue[]
}

/** The header comes first, so that no other document is taken for a message of an export. */
function isExportPart(
  { form, relativePath: place }: NativeRecord,
  json: JsonValue | undefined,
  exports: ReadonlyMap<string, ExportParts>,
): json is JsonObject {
  if (form !== "document" || kindOf(place) !== "other" || !isJsonObject(json)) return false
  return exports.has(place) || isExport(json)
}

/** The header has the ids of the messages where they stood, and no parts. */
function addToExport(exports: Map<string, ExportParts>, record: NativeRecord, json: JsonObject): void {
  const parts = exports.get(record.relativePath) ?? { record, header: {}, messages: [] }
  exports.set(record.relativePath, parts)
  if (isExport(json)) parts.header = json
  else parts.messages.push("info" in json ? json : (json["message"] ?? null))
}

/** Those that the newest header names, in its order. */
function exportDocument({ record, header, messages }: ExportParts): NativeRecord {
  return { ...record, content: { text: stringifyJson(joinDocument(header, messages, EXPORT)) } }
}
