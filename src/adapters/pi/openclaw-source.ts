/**
 * Where OpenClaw keeps its sessions: below `agents/<agent>`, since 2026.7.2 in the database of that agent, as logs of pi before.
 * An event of the database is a line of such a log, and is read as one, so that a session is the same in both. Logins lie in
 * the same database and beside it: named columns of named tables are read, and files by their names.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { isJsonObject, type JsonObject, parseJson, stringifyJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import { type ForeignDatabase, openForeignDatabase } from "../../platform/files/foreign-sqlite.ts"
import { errorCode } from "../../platform/system-error.ts"
import type { Database, RawRecord, Source, SourceFile, SourceUnit } from "../adapter.ts"
import { absentFile, below, type Folders, fileOf, foldersBelow } from "../shared/folders.ts"
import { placeOfFile } from "../shared/row-sessions.ts"
import { readSettings } from "../shared/settings-file.ts"
import { isIssue } from "../shared/walk.ts"
import { fromSource } from "../source-value.ts"
import { eventTextsOf } from "./openclaw-events.ts"
import { INDEX, withoutCopies } from "./openclaw-index.ts"
import { openclawRoots } from "./roots.ts"

export const openclawSource: Source = { roots: openclawRoots, plan: planState }

const DATABASE = "openclaw-agent.sqlite"
const TABLES = ["transcript_events", "session_windows", "session_nodes", "transcript_rewrite_watermarks"]
const COLD = "session_transcript_cold_archives"
/** Keys of sessions, which open nothing. */
const HARMLESS = ["session_nodes.session_key", "session_windows.session_key"]
/** A log, or what a reset put away. What a person deleted, copies, checkpoints and traces are none. */
const LOG = /^(?:[\dT:.-]+Z?_)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl(?:\.reset\.[\w.:-]+)?$/i

function* planState(root: string): Generator<SourceUnit | Issue> {
  const { folder, name } = placeOfFile(root)
  if (name.endsWith(".sqlite") || name.endsWith(".jsonl")) {
    const disk = foldersBelow(folder)
    yield* name.endsWith(".sqlite") ? planDatabase(disk, name, "", new Map()) : planLogs(disk, "", new Set([name]))
    yield* disk.issues
    return
  }
  const disk = foldersBelow(root)
  const agents = existsSync(join(root, "agents")) ? disk.entries("agents").map((each) => `agents/${each.name}`) : [""]
  for (const agent of agents) yield* planAgent(disk, agent)
  yield* disk.issues
}

export function concerns(root: string, place: string): boolean {
  if (!existsSync(join(root, "agents"))) return true
  return place === "agents" || /^agents\/[^/]+(?:$|\/sessions|\/agent(?:$|\/openclaw-agent\.sqlite))/.test(place)
}

function* planAgent(disk: Folders, agent: string): Generator<SourceUnit | Issue> {
  const database = below(agent, `agent/${DATABASE}`)
  const sessions = below(agent, agent === "" ? "" : "sessions")
  const index = indexOf(disk, sessions)
  const met = new Set<string>()
  for (const unit of existsSync(`${disk.root}/${database}`) ? planDatabase(disk, database, sessions, index) : []) {
    if (!isIssue(unit) && unit.row !== undefined) met.add(unit.row.id)
    yield unit
  }
  if (!existsSync(`${disk.root}/${sessions}`)) return
  const names = disk.entries(sessions).map(({ name }) => name)
  yield* planLogs(disk, sessions, new Set(names.filter((name) => !met.has(LOG.exec(name)?.[1] ?? ""))), index)
}

// --- Logs -------------------------------------------------------------------------------------------------------------

/** What the list of sessions says, by the key of each. */
type Index = ReadonlyMap<string, JsonObject>

function indexOf({ root }: Folders, sessions: string): Index {
  const entries = Object.entries(readSettings(`${root}/${sessions}/${INDEX}`))
  return new Map(entries.flatMap(([key, entry]) => (isJsonObject(entry) ? [[key, entry] as const] : [])))
}

function* planLogs(disk: Folders, sessions: string, names: ReadonlySet<string>, index?: Index): Generator<SourceUnit> {
  const bySession = new Map([...(index ?? [])].map(([key, entry]) => [String(entry["sessionId"]), key]))
  for (const name of names) {
    const id = LOG.exec(name)?.[1]
    const file = id === undefined ? undefined : disk.file(below(sessions, name), "log")
    if (id === undefined || file === undefined) continue
    const key = name.endsWith(".jsonl") ? bySession.get(id) : undefined
    yield { key: file.relativePath, root: disk.root, files: [file], ...(index && besideOf(disk, sessions, index, key)) }
  }
}

/** What the list says of a session, and the id of the session that started it. */
function besideOf(
  disk: Folders,
  sessions: string,
  index: Index,
  key: string | undefined,
): Pick<SourceUnit, "beside" | "parent"> {
  const entry = key === undefined ? undefined : index.get(key)
  if (key === undefined || entry === undefined) return {}
  const place = below(sessions, INDEX)
  const stat = disk.stat(place)
  const file =
    stat === undefined ? absentFile(disk.root, place, "document") : fileOf(disk.root, place, "document", stat)
  const text = stringifyJson({ [key]: withoutCopies(entry) })
  const parent = index.get(String(entry["spawnedBy"] ?? entry["parentSessionKey"] ?? ""))?.["sessionId"]
  return {
    beside: [{ form: "document", file, line: 1, text }],
    ...(typeof parent === "string" ? { parent: fromSource({ id: parent }) } : {}),
  }
}

// --- The database -----------------------------------------------------------------------------------------------------

function* planDatabase(disk: Folders, place: string, sessions: string, listed: Index): Generator<SourceUnit | Issue> {
  const path = `${disk.root}/${place}`
  const stat = disk.stat(place)
  if (stat === undefined) return
  let database: ForeignDatabase | undefined
  try {
    database = openForeignDatabase(path, [...TABLES, COLD], HARMLESS)
    if (!database.tables.has("transcript_events")) {
      const found = "a database without the events of OpenClaw"
      yield { kind: "unknown_store", severity: "note", file: place, found }
      return
    }
    const index = new Map([...listed, ...nodesOf(database)])
    const keys = keysOf(database, index)
    const file = fileOf(disk.root, place, "database", stat)
    const found = sessionsOf(database)
    const all = [...found.values()].reduce((sum, { count }) => sum + count, 0)
    for (const [id, { mark, count }] of found) {
      const own: SourceFile = { ...file, sizeBytes: Math.round((file.sizeBytes * count) / Math.max(1, all)) }
      const beside = besideOf(disk, sessions, index, keys.get(id))
      yield { key: `${place}#${id}`, root: disk.root, files: [own], row: { id, mark }, ...beside }
    }
  } catch (error) {
    const code = errorCode(error)
    if (code === undefined) throw error
    yield { kind: "unreadable_file", severity: "fault", file: place, found: code }
  } finally {
    database?.close()
  }
}

function nodesOf(database: ForeignDatabase): [string, JsonObject][] {
  if (!database.tables.has("session_nodes")) return []
  return [...database.rows({ table: "session_nodes", columns: ["session_key", "entry_json"] })].flatMap((row) => {
    const parsed = parseJson(String(row["entry_json"]))
    return parsed.ok && isJsonObject(parsed.value) ? [[String(row["session_key"]), parsed.value] as const] : []
  }) as [string, JsonObject][]
}

/** Under which key a session is listed: the newest of a key, others were gone on from. */
function keysOf(database: ForeignDatabase, index: Index): ReadonlyMap<string, string> {
  const keys = new Map([...index].map(([key, entry]) => [String(entry["sessionId"]), key]))
  if (!database.tables.has("session_windows")) return keys
  for (const row of database.rows({ table: "session_windows", columns: ["session_id", "session_key"] })) {
    const [id, key] = [String(row["session_id"]), String(row["session_key"])]
    if (index.get(key)?.["sessionId"] === id) keys.set(id, key)
  }
  return keys
}

interface Found {
  readonly count: number
  /** Changes whenever an event of the session comes, goes or is written anew. */
  readonly mark: string
}

function sessionsOf(database: ForeignDatabase): ReadonlyMap<string, Found> {
  const written = new Map<string, string>()
  const note = (table: string, columns: readonly string[]) => {
    if (!database.tables.has(table)) return
    for (const row of database.rows({ table, columns: ["session_id", ...columns] })) {
      const id = String(row["session_id"])
      written.set(id, `${written.get(id) ?? ""}|${columns.map((column) => row[column] ?? "").join(" ")}`)
    }
  }
  note("session_windows", ["updated_at", "transcript_updated_at"])
  note("transcript_rewrite_watermarks", ["generation"])
  const counts = new Map<string, Found>()
  const greatest = ["seq"]
  for (const { value, count, greatest: last } of database.tally({
    ...{ table: "transcript_events", by: "session_id", greatest },
  }))
    counts.set(value, { count, mark: `${count}|${last[0] ?? 0}${written.get(value) ?? ""}` })
  if (database.tables.has(COLD))
    for (const row of database.rows({ table: COLD, columns: ["session_id", "archive_sha256", "event_count"] })) {
      const id = String(row["session_id"])
      if (!counts.has(id))
        counts.set(id, { count: Number(row["event_count"]) || 1, mark: String(row["archive_sha256"]) })
    }
  return counts
}

/** All events each time: they are written anew under other numbers, and known by their ids. */
export const openclawRows: Database["rows"] = async function* (unit) {
  const file = unit.files.find(({ form }) => form === "database")
  if (file === undefined || unit.row === undefined) return
  const { id } = unit.row
  const folder = file.relativePath.replace(/(?:^|(?<=\/))agent\/[^/]*$/, "sessions").replace(/[^/]*\.sqlite$/, "")
  const log: SourceFile = { ...file, relativePath: below(folder.replace(/\/$/, ""), `${id}.jsonl`), form: "log" }
  const database = openForeignDatabase(file.path, [...TABLES, COLD], HARMLESS)
  let line = 0
  try {
    const archiveOf = (name: string) => readFileSync(join(unit.root, folder, "cold", name))
    for (const text of eventTextsOf(database, id, archiveOf)) {
      const raw: RawRecord = { form: "log", file: log, line: ++line, text }
      yield raw
    }
  } finally {
    database.close()
  }
}
