/**
 * Where Antigravity keeps conversations: the editor, its command line and its server each in a folder beside Gemini's, with a
 * database for each. Before, that was one encrypted file, of which a transcript may lie beside. Logins lie in the folder above,
 * settings beside: neither is ever looked at.
 */
import { readFileSync } from "node:fs"
import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import type { ForeignDatabase } from "../../platform/files/foreign-sqlite.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import { type Folders, foldersBelow, isFolder } from "../shared/folders.ts"
import {
  bytesInCell,
  documentUnit,
  isPlainDocument,
  jsonInCell,
  plainDocuments,
  planDocuments,
  UUID,
  withDatabase,
} from "../shared/row-documents.ts"
import { type WireSchema, wireMessage } from "../shared/wire-message.ts"
import { ABOUT, REFERENCE, STEP } from "./messages.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const CONVERSATIONS = "conversations"
const BRAIN = "brain"
const RESTORED = "transcripts"
const LOG = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.jsonl$/
const LOGS = ".system_generated/logs"
/** The second has parameters of tools as text in text. */
const TRANSCRIPTS = ["transcript_full.jsonl", "transcript.jsonl"]
const [STEPS, META, ABOUT_BLOB, REFERENCES] = [
  "steps",
  "trajectory_meta",
  "trajectory_metadata_blob",
  "parent_references",
] as const
const TABLES = [STEPS, META, ABOUT_BLOB, REFERENCES] as const
const DATABASE = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\.(db|pb)$/

export function concerns(_root: string, place: string): boolean {
  return /^(?:conversations(?:\/|$)|brain(?:\/[^/]+(?:\/\.system_generated(?:\/|$)|$)|$))/.test(place)
}

function* plan(root: string): Generator<SourceUnit | Issue> {
  const disk = foldersBelow(root)
  const names = disk.entries(CONVERSATIONS).map(({ name }) => name)
  const databases = new Set(names.flatMap((name) => formOf(name, "db")))
  for (const id of databases) yield* planDatabase(disk, id)
  const logged = new Set<string>()
  for (const entry of disk.entries(BRAIN)) {
    const isOwn = isFolder(entry) && UUID.test(entry.name) && !databases.has(entry.name)
    const file = isOwn ? transcriptOf(disk, entry.name) : undefined
    if (file === undefined) continue
    logged.add(entry.name)
    yield { key: file.relativePath, root, files: [file] }
  }
  for (const { name } of disk.entries(RESTORED)) {
    const file = LOG.test(name) ? disk.file(`${RESTORED}/${name}`, "log") : undefined
    if (file !== undefined) yield { key: file.relativePath, root, files: [file] }
  }
  const encrypted = names.flatMap((name) => formOf(name, "pb"))
  for (const id of encrypted) if (!databases.has(id) && !logged.has(id)) yield unreadable(id)
  yield* plainDocuments(disk, CONVERSATIONS)
  yield* disk.issues
}

function formOf(name: string, form: string): readonly string[] {
  const [, id = "", found] = DATABASE.exec(name) ?? []
  return found === form ? [id] : []
}

function unreadable(id: string): Issue {
  const found = "an encrypted conversation of an early Antigravity: open it there once, and it can be read"
  return { kind: "encrypted_file", severity: "note", file: `${CONVERSATIONS}/${id}.pb`, found }
}

function* planDatabase(disk: Folders, id: string): Generator<SourceUnit | Issue> {
  const place = `${CONVERSATIONS}/${id}.db`
  const empty: Issue = { kind: "unknown_store", severity: "note", file: place, found: "a database without steps" }
  // One that has just begun.
  if (disk.stat(place)?.size === 0) return void (yield empty)
  yield* planDocuments(disk, place, [STEPS], (database, at) => {
    const rows = [...database.rows({ table: STEPS, columns: ["idx", "step_type", "status"], order: ["idx"] })]
    const mark = stringifyJson(rows.map((row) => Object.values(row)))
    const { size, mtimeMs } = at.stat
    const document = { place: `${CONVERSATIONS}/${id}.json`, sizeBytes: size, modifiedMs: mtimeMs, mark }
    return [rows.length === 0 ? empty : documentUnit(disk.root, at, document)]
  })
}

function transcriptOf(disk: Folders, id: string): SourceFile | undefined {
  const places = TRANSCRIPTS.map((name) => `${BRAIN}/${id}/${LOGS}/${name}`)
  const place = places.find((each) => disk.stat(each)?.isFile() === true)
  const file = place === undefined ? undefined : disk.file(place, "log")
  // A restore writes it where nothing is hidden.
  return file === undefined ? undefined : { ...file, relativePath: `${RESTORED}/${id}.jsonl` }
}

// --- What a conversation says -------------------------------------------------------------------------------------------

export function assemble(file: SourceFile): string | undefined {
  if (isPlainDocument(file) || file.path.endsWith(".jsonl")) return undefined
  const mirror = mirrorOf(file)
  return withDatabase(file.path, TABLES, (database) => {
    const trajectory = tableRows(database, META)
    const about = tableRows(database, ABOUT_BLOB).map((row) => withMessage(row, "data", ABOUT))
    const references = tableRows(database, REFERENCES).map((row) => withMessage(row, "data", REFERENCE))
    const steps = [...database.rows({ table: STEPS, order: ["idx"] })].map((row) => stepOf(row, mirror))
    return stringifyJson({ trajectory, about, references, workspace: workspaceOf(file), steps })
  })
}

function tableRows(database: ForeignDatabase, table: string): readonly JsonObject[] {
  return database.tables.has(table) ? [...database.rows({ table })] : []
}

function withMessage(row: JsonObject, column: string, schema: WireSchema): JsonObject {
  const bytes = bytesInCell(row[column])
  const message = bytes === undefined ? undefined : wireMessage(bytes, schema)
  return message === undefined ? row : { ...row, [column]: message }
}

/** Of a kind of step whose fields are not known the transcript has the text. */
function stepOf(row: JsonObject, mirror: ReadonlyMap<number, JsonObject>): JsonObject {
  const step = withMessage(row, "step_payload", STEP)
  const line = typeof row["idx"] === "number" ? mirror.get(row["idx"]) : undefined
  const payload = step["step_payload"]
  const isRead =
    isJsonObject(payload) && Object.keys(payload).some((key) => !["type", "status", "metadata", "#"].includes(key))
  return isRead || line === undefined ? step : { ...step, transcript: line }
}

function mirrorOf({ path }: SourceFile): ReadonlyMap<number, JsonObject> {
  const [, root = "", id = ""] = /^(.*)\/conversations\/([^/]+)\.db$/.exec(path) ?? []
  const lines = TRANSCRIPTS.map((name) => textAtPath(`${root}/${BRAIN}/${id}/${LOGS}/${name}`)).find(
    (text) => text !== "",
  )
  const mirror = new Map<number, JsonObject>()
  for (const line of (lines ?? "").split("\n")) {
    const parsed = parseJson(line)
    const value = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
    if (typeof value["step_index"] === "number") mirror.set(value["step_index"], value)
  }
  return mirror
}

/** Where the server of another editor was started; it may be written at this moment. */
function workspaceOf({ path }: SourceFile): JsonValue {
  return jsonInCell(textAtPath(path.replace(/\.db$/, ".meta")) || null)
}

function textAtPath(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    if (isSystemError(error)) return ""
    throw error
  }
}
