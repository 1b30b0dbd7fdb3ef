/**
 * opencode's database, read and left as it is: which sessions are in it, and the rows of one of them. Names its tables and
 * no others. What the model is still writing is left for the next time: a message comes when it is complete.
 */
import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from "../../model/json.ts"
import {
  type ForeignDatabase,
  type ForeignRow,
  isLogInUse,
  openForeignDatabase,
} from "../../platform/files/foreign-sqlite.ts"
import type { RawRecord, SourceFile, SourceUnit } from "../adapter.ts"
import { fieldsOf, fromSource, type SourceValue } from "../source-value.ts"
import type { Brand } from "./brands.ts"
import { digestOf, hashOf, openDigests } from "./digests.ts"
import { stateOf } from "./parse.ts"
import { JSON_COLUMNS, LISTING_TABLE, MIGRATION_TABLE, SESSION_TABLES } from "./tables.ts"

/** After so long, an unfinished message is taken for what a crash left behind, also where somebody has the database open. */
const UNTOUCHED_MS = 3_600_000

/** Databases that have been through this note every change of a session in `event`, and so do those of later changes that are known. */
const EVENTS_SINCE = "20260622202450_simplify_session_input"

const EVENT_BYTES_MAX = 1 << 20

export interface SessionListing {
  readonly id: string
  /** Changes whenever a row of the session does. */
  readonly mark: string
  /** How much of the database is its own, by the count of its parts. */
  readonly share: number
  readonly updatedMs: number
}

export interface DatabaseListing {
  /** Nobody has it open. */
  readonly isAtRest: boolean
  readonly sessions: readonly SessionListing[]
  /** Columns that are not read, because they may hold a secret. */
  readonly withheld: readonly string[]
  /** Columns that are read and kept, and not understood. */
  readonly unknown: readonly string[]
  /** Tables of something about sessions that pond does not know: they may hold a secret, so nothing of them is read. */
  readonly unknownTables: readonly string[]
}

/** Addresses and secrets of shared sessions, which pond leaves alone. */
const LEFT_ALONE = ["session_share"]

function tablesOf({ besides }: Brand): string[] {
  return [...SESSION_TABLES, ...besides.map(({ table }) => table)]
}

// --- Listing: which sessions there are, and whether they changed --------------------------------------------------------

/** Nothing where the file is a database of something else. */
export function listSessions(brand: Brand, path: string, nowMs: number): DatabaseListing | undefined {
  // The client works with a log. Asked before we open it ourselves.
  const isAtRest = !isLogInUse(path)
  const database = openForeignDatabase(path, [...tablesOf(brand), MIGRATION_TABLE])
  try {
    if (!database.tables.has("session") || !database.tables.has("message")) return undefined
    const unknown = [...database.tables].flatMap(([table, columns]) =>
      columns
        .filter((column) => brand.schema.columnsOf(table)?.includes(column) === false)
        .map((column) => `${table}.${column}`),
    )
    const unknownTables = database.unnamedWith("session_id").filter((table) => !LEFT_ALONE.includes(table))
    const sessions = listingOf(brand, database, { nowMs, isAtRest })
    return { isAtRest, sessions, withheld: database.withheld, unknown, unknownTables }
  } finally {
    database.close()
  }
}

/** The model of the session that was last used, as opencode names models: `provider/model`. */
export function lastModelIn(path: string): string | undefined {
  const database = openForeignDatabase(path, ["session"])
  try {
    if (!database.tables.get("session")?.includes("model")) return undefined
    const sessions = [
      ...database.rows({ table: "session", columns: ["model", "time_updated"], order: ["time_updated"] }),
    ]
    const named = sessions
      .map((row) => modelOf(decoded("session", row)["model"]))
      .filter((model) => model !== undefined)
    return named.at(-1)
  } finally {
    database.close()
  }
}

function modelOf(model: JsonValue | undefined): string | undefined {
  const { id, providerID } = fieldsOf(model)
  return typeof id === "string" && typeof providerID === "string" ? `${providerID}/${id}` : undefined
}

interface Tally {
  readonly count: number
  readonly greatest: readonly number[]
}

function listingOf(
  { schema, besides }: Brand,
  database: ForeignDatabase,
  { nowMs, isAtRest }: { readonly nowMs: number; readonly isAtRest: boolean },
): SessionListing[] {
  const projects = new Map(readAll(database, "project").map((row) => [row["id"], hashOf(stringifyJson(row))]))
  const events = new Map(
    readAll(database, "event_sequence").map(({ aggregate_id: id, seq }) => [String(id), Number(seq)]),
  )
  const messages = tally(database, "message", ["time_updated"])
  // Counting parts reads an index; their times would cost a walk through everything that was ever said.
  const parts = tally(database, "part", notesEveryChange(database, schema.lastMigration) ? [] : ["time_updated"])
  const others = ["todo", "session_message", "session_input"].map((table) => tally(database, table, ["time_updated"]))
  const epochs = tally(database, "session_context_epoch", ["baseline_seq"])
  const boards = besides.map(({ table, by, changes }) => tally(database, table, [changes], by))
  const all = [...parts.values()].reduce((sum, { count }) => sum + count, 0)
  return [...database.rows({ table: "session", order: ["time_created", "id"] })].map((row) => {
    const id = String(row["id"])
    const ofSession = [messages, parts, ...others, epochs, ...boards].map((table) => table.get(id) ?? NONE)
    const updatedMs = Math.max(Number(row["time_updated"] ?? 0), ...(messages.get(id) ?? NONE).greatest)
    const facts = [
      stringifyJson(row),
      projects.get(row["project_id"] ?? null),
      events.get(id),
      ...ofSession.flatMap(({ count, greatest }) => [count, ...greatest]),
      // What a crash left unfinished is taken as it is, though no row changes.
      isAtRest || nowMs - updatedMs > UNTOUCHED_MS,
    ]
    return { id, mark: hashOf(facts.join("|")), share: ((parts.get(id) ?? NONE).count + 1) / (all + 1), updatedMs }
  })
}

const NONE: Tally = { count: 0, greatest: [0] }

function tally(
  database: ForeignDatabase,
  table: string,
  greatest: readonly string[],
  by = "session_id",
): ReadonlyMap<string, Tally> {
  if (!database.tables.has(table)) return new Map()
  return new Map([...database.tally({ table, by, greatest })].map((found) => [found.value, found]))
}

function notesEveryChange(database: ForeignDatabase, lastKnown: string): boolean {
  const ids = readAll(database, MIGRATION_TABLE).map(({ id }) => String(id))
  return ids.includes(EVENTS_SINCE) && ids.every((id) => id <= lastKnown)
}

function readAll(database: ForeignDatabase, table: string): ForeignRow[] {
  return database.tables.has(table) ? [...database.rows({ table })] : []
}

// --- Rows ---------------------------------------------------------------------------------------------------------------

/** A message in the order of the client, without what it says. */
interface Listed {
  readonly table: "message" | "session_message"
  readonly id: string
  readonly createdMs: number
  readonly updatedMs: number
  readonly digest: string
}

/** `since` is the state of an earlier parse: its messages are not read again. */
export function* readRows(
  brand: Brand,
  file: SourceFile,
  { id: sessionId, isAtRest = false }: NonNullable<SourceUnit["row"]>,
  since: SourceValue | undefined,
  nowMs: number,
): Generator<RawRecord> {
  const before = stateOf(since)
  const known = openDigests(before.digests)
  const reader = openReader(file.path, tablesOf(brand))
  let line = 0
  const raw = (table: string, row: JsonObject): RawRecord => ({
    form: "row",
    file,
    line: ++line,
    table,
    row: fromSource(row),
  })
  try {
    const session = reader.read((database) => sessionRow(brand, database, sessionId))
    if (session === undefined) return
    yield raw("session", session)
    const project = reader.read((database) => oneRow(database, "project", String(session["project_id"])))
    if (project !== undefined) yield raw("project", project)
    const listed = reader.read((database) => listMessages(database, sessionId))
    const digests = openDigests()
    for (const [index, message] of listed.entries()) {
      if (!known.has(message.digest)) {
        const row = reader.read((database) => messageRow(database, message))
        if (row === undefined) continue
        const isAbandoned = isAtRest || nowMs - message.updatedMs > UNTOUCHED_MS
        if (!isAbandoned && !isComplete(message.table, row) && !isLeftBehind(reader, listed.slice(index + 1))) break
        yield raw(message.table, row)
      }
      digests.add(message.digest)
    }
    if (since !== undefined)
      yield raw(LISTING_TABLE, { message: listed.map(({ id }) => id), digests: digests.toText() })
    for (const row of reader.read((database) => orphanParts(database, sessionId, listed))) yield raw("part", row)
    for (const row of eventRows(reader, sessionId, before.lastEvent)) yield raw("event", row)
  } finally {
    reader.close()
  }
}

interface Reader {
  read<T>(from: (database: ForeignDatabase) => T): T
  close(): void
}

/** A writer may come while we read. What was read without seeing it is read once more. */
function openReader(path: string, tables: readonly string[]): Reader {
  let database = openForeignDatabase(path, tables)
  return {
    read(from) {
      const found = from(database)
      if (!database.isStale()) return found
      database.close()
      database = openForeignDatabase(path, tables)
      return from(database)
    },
    close: () => database.close(),
  }
}

const BESIDES = [
  { table: "todo", by: "session_id", order: "position" },
  { table: "session_input", by: "session_id", order: "admitted_seq" },
  { table: "session_context_epoch", by: "session_id", order: "baseline_seq" },
]

/** With the rows that are the session's alone and are always written together. */
function sessionRow({ besides }: Brand, database: ForeignDatabase, id: string): JsonObject | undefined {
  const row = oneRow(database, "session", id)
  if (row === undefined) return undefined
  const inner: Record<string, JsonValue> = {}
  for (const { table, by, order } of [...BESIDES, ...besides]) {
    if (!database.tables.has(table)) continue
    const rows = [...database.rows({ table, where: { [by]: id }, order: [order] })]
    if (rows.length > 0) inner[table] = rows.map((found) => decoded(table, found))
  }
  const sequence = database.tables.has("event_sequence")
    ? [...database.rows({ table: "event_sequence", where: { aggregate_id: id } })]
    : []
  return { ...row, ...inner, ...(sequence.length === 0 ? {} : { event_sequence: sequence }) }
}

function listMessages(database: ForeignDatabase, sessionId: string): Listed[] {
  const parts = new Map<string, JsonValue[]>()
  const columns = ["id", "message_id", "session_id", "time_created", "time_updated", "seq"]
  const where = { session_id: sessionId }
  // What a digest is made of, and no more: a long session has hundreds of thousands.
  const ofPart = ["id", "message_id", "time_updated"]
  for (const part of database.tables.has("part")
    ? database.rows({ table: "part", columns: ofPart, where, order: ["id"] })
    : []) {
    const siblings = parts.get(String(part["message_id"]))
    if (siblings === undefined) parts.set(String(part["message_id"]), [part])
    else siblings.push(part)
  }
  const listOf = (table: Listed["table"], order: readonly string[]): Listed[] => {
    if (!database.tables.has(table)) return []
    const listed: Listed[] = []
    for (const row of database.rows({ table, columns, where, order })) {
      const inner = table === "message" ? (parts.get(String(row["id"])) ?? []) : []
      const times = [row, ...inner].map((found) => Number(fieldsOf(found)["time_updated"] ?? 0))
      const updatedMs = Math.max(...times)
      const [id, createdMs] = [String(row["id"]), Number(row["time_created"])]
      listed.push({ table, id, createdMs, updatedMs, digest: digestOf(row, inner) })
    }
    return listed
  }
  return merged(listOf("message", ["time_created", "id"]), listOf("session_message", ["seq"]))
}

/** Where a session is kept both ways, each in its own order. */
function merged(left: readonly Listed[], right: readonly Listed[]): Listed[] {
  const all: Listed[] = []
  const rest = [...right]
  for (const message of left) {
    while (rest[0] !== undefined && rest[0].createdMs < message.createdMs) all.push(...rest.splice(0, 1))
    all.push(message)
  }
  return [...all, ...rest]
}

/** Parts whose message is gone. Foreign keys forbid them, where they are switched on. */
function orphanParts(database: ForeignDatabase, sessionId: string, listed: readonly Listed[]): JsonObject[] {
  if (!database.tables.has("part")) return []
  const messages = new Set(listed.map(({ id }) => id))
  const columns = ["id", "message_id"]
  const orphans: ForeignRow[] = []
  for (const part of database.rows({ table: "part", columns, where: { session_id: sessionId } }))
    if (!messages.has(String(part["message_id"]))) orphans.push(part)
  return orphans.map(({ id }) => oneRow(database, "part", String(id))).filter((row) => row !== undefined)
}

function messageRow(database: ForeignDatabase, { table, id }: Listed): JsonObject | undefined {
  const row = oneRow(database, table, id)
  if (row === undefined || table !== "message" || !database.tables.has("part")) return row
  const parts = [...database.rows({ table: "part", where: { message_id: id }, order: ["id"] })]
  return { ...row, part: parts.map((part) => decoded("part", part)) }
}

/** The changes that the client noted, as far as they are new: a stretch at a time, the first of it with the others inside. */
function* eventRows(reader: Reader, sessionId: string, lastEvent: number): Generator<JsonObject> {
  const where = { aggregate_id: sessionId }
  for (let last = lastEvent; ; ) {
    const [first, ...rest] = reader.read((database) => {
      const stretch: ForeignRow[] = []
      let bytes = 0
      if (!database.tables.has("event")) return stretch
      for (const event of database.rows({ table: "event", where, after: ["seq", last], order: ["seq"] })) {
        stretch.push(event)
        bytes += String(event["data"]).length
        if (bytes > EVENT_BYTES_MAX) break
      }
      return stretch
    })
    if (first === undefined) return
    last = Number((rest.at(-1) ?? first)["seq"])
    yield rest.length === 0 ? first : { ...first, event: rest }
  }
}

function oneRow(database: ForeignDatabase, table: string, id: string): JsonObject | undefined {
  if (!database.tables.has(table)) return undefined
  const [row] = [...database.rows({ table, where: { id } })]
  return row === undefined ? undefined : decoded(table, row)
}

/** JSON that stands in a column as text becomes the value that it says. Text that holds no object or list stays text. */
function decoded(table: string, row: ForeignRow): JsonObject {
  const values: Record<string, JsonValue> = { ...row }
  for (const column of JSON_COLUMNS[table] ?? []) {
    const text = values[column]
    if (typeof text !== "string") continue
    const parsed = parseJson(text)
    if (parsed.ok && (isJsonObject(parsed.value) || Array.isArray(parsed.value))) values[column] = parsed.value
  }
  return values
}

// --- Complete or not ----------------------------------------------------------------------------------------------------

function isComplete(table: Listed["table"], row: JsonObject): boolean {
  const data = fieldsOf(row["data"])
  const role = table === "message" ? data["role"] : row["type"]
  // Parts come a moment after their message, and with them everything that a user says.
  if (role === "user" && table === "message") return Array.isArray(row["part"]) && row["part"].length > 0
  if (role !== "assistant" && role !== "shell") return true
  return fieldsOf(data["time"])["completed"] !== undefined || data["error"] !== undefined
}

/** A session does one thing at a time: what stands before a later answer is not being written any more. */
function isLeftBehind(reader: Reader, later: readonly Listed[]): boolean {
  return later.some(({ table, id }) => {
    const row = reader.read((database) => oneRow(database, table, id))
    return fieldsOf(row?.["data"])["role"] === "assistant" || row?.["type"] === "assistant"
  })
}
