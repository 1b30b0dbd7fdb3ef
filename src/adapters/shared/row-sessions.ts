/**
 * For clients that keep all sessions in one database: a table with a row for each session, one with a row for each message,
 * and rows beside a session. Lists the sessions of a database, and reads the rows of one. Names its tables and no others.
 */
import { basename, dirname } from "node:path"
import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import {
  type ForeignDatabase,
  type ForeignRow,
  MARK_KEY,
  MARKED_JSON_KEY,
  openForeignDatabase,
} from "../../platform/files/foreign-sqlite.ts"
import { errorCode } from "../../platform/system-error.ts"
import type { RawRecord, SourceFile, SourceUnit } from "../adapter.ts"
import { fingerprintOf, plain, type Sealed } from "../extract.ts"
import { composed, fromSource, type SourceObject, type SourceValue } from "../source-value.ts"
import { type Folders, fileOf } from "./folders.ts"

export interface RowLayout {
  /** What the client is called, for messages. */
  readonly title: string
  readonly session: TableOf & {
    readonly id: string
    /** For clients whose ids are no identity: the column that names the parent, and the columns by which that one is known. */
    readonly parent?: { readonly column: string; readonly known: readonly string[] }
  }
  /** Rows that belong to a session and are read with its row, as lists under the names of their tables. */
  readonly beside: readonly (TableOf & { readonly by: string })[]
  readonly message: TableOf & {
    readonly by: string
    /** Columns of numbers that say when a row of a session came or changed: the greatest, and the sum. */
    readonly greatest: readonly string[]
    readonly totals: readonly string[]
    /** What a message is known by: columns that stay, whatever else of its row changes. Two of a session may have the same. */
    readonly kept: readonly string[]
  }
  /** The columns that were known when this was written. Others are kept, and named. */
  readonly columns: Readonly<Record<string, readonly string[]>>
  /** Columns that hold JSON as text. */
  readonly json: Readonly<Record<string, readonly string[]>>
  /** Columns that may hold secrets, which are not read: each with the keys of its JSON that are read all the same. */
  readonly leftOut?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>
  /** Columns that are read although their names sound like secrets. */
  readonly harmless?: readonly string[]
  /** Columns that hold a text, or JSON behind a mark: each with the mark. */
  readonly marked?: Readonly<Record<string, Readonly<Record<string, string>>>>
}

interface TableOf {
  readonly table: string
  readonly order: readonly string[]
}

/** What a read of a session that is stored says is there now: not a table of the client. */
export const LISTING_TABLE = "pond:listing"

// --- Listing ------------------------------------------------------------------------------------------------------------

/** The sessions of a database, each a unit. */
export function* planRows(layout: RowLayout, disk: Folders, place: string): Generator<SourceUnit | Issue> {
  const path = `${disk.root}/${place}`
  const note = (kind: string, found: string): Issue => ({ kind, severity: "note", file: place, found })
  const stat = disk.stat(place)
  if (stat === undefined) return
  let database: ForeignDatabase | undefined
  try {
    database = openRows(layout, path)
    if (!database.tables.has(layout.session.table) || !database.tables.has(layout.message.table)) {
      yield note("unknown_store", `a database without the tables of ${layout.title}`)
      return
    }
    for (const column of database.withheld)
      yield note("withheld_column", `${column} may contain a secret and is not read`)
    for (const column of unknownColumns(layout, database))
      yield note("unknown_column", `${column} is unknown and kept as is`)
    const file = fileOf(disk.root, place, "database", stat)
    for (const { id, mark, share, ...parent } of listSessions(layout, database)) {
      // A row's file is its own part of the database: what other sessions do is no change of this one.
      const own: SourceFile = { ...file, sizeBytes: Math.round(file.sizeBytes * share) }
      yield { key: `${place}#${id}`, root: disk.root, files: [own], row: { id, mark }, ...parent }
    }
  } catch (error) {
    const code = errorCode(error)
    if (code === undefined) throw error
    yield { kind: "unreadable_file", severity: "fault", file: place, found: code }
  } finally {
    database?.close()
  }
}

/** The folder and the name of a path that somebody points at. */
export function placeOfFile(path: string): { readonly folder: string; readonly name: string } {
  return { folder: dirname(path), name: basename(path) }
}

function openRows({ session, message, beside, harmless }: RowLayout, path: string): ForeignDatabase {
  return openForeignDatabase(path, [session.table, message.table, ...beside.map(({ table }) => table)], harmless)
}

function unknownColumns({ columns }: RowLayout, { tables }: ForeignDatabase): string[] {
  return [...tables].flatMap(([table, found]) =>
    found.filter((column) => columns[table]?.includes(column) === false).map((column) => `${table}.${column}`),
  )
}

interface Listed {
  readonly id: string
  /** Changes whenever a row of the session does. */
  readonly mark: string
  /** How much of the database is its own, by the count of its messages. */
  readonly share: number
  readonly parent?: SourceValue
}

function listSessions(layout: RowLayout, database: ForeignDatabase): Listed[] {
  const { session, message, beside, leftOut } = layout
  const { table, by, greatest, totals } = message
  const messages = new Map([...database.tally({ table, by, greatest, totals })].map((found) => [found.value, found]))
  const others = beside
    .filter((each) => database.tables.has(each.table))
    .map(
      (each) => new Map([...database.tally({ table: each.table, by: each.by })].map((one) => [one.value, one.count])),
    )
  const all = [...messages.values()].reduce((sum, { count }) => sum + count, 0)
  const columns = (database.tables.get(session.table) ?? []).filter(
    (each) => leftOut?.[session.table]?.[each] === undefined,
  )
  const rows = [...database.rows({ table: session.table, columns, order: session.order })]
  const parentOf = createParents(session, rows)
  return rows.map((row) => {
    const id = String(row[session.id])
    const found = messages.get(id)
    const facts = [found?.count ?? 0, ...(found?.greatest ?? []), ...(found?.totals ?? [])]
    const besides = others.map((counts) => counts.get(id) ?? 0)
    const mark = shortHash([stringifyJson(row), ...facts, ...besides].join("|"))
    return { id, mark, share: ((found?.count ?? 0) + 1) / (all + messages.size + 1), ...parentOf(row) }
  })
}

/** What a session is told of the row of its parent: the columns by which that one is known. */
function createParents(
  { id, parent }: RowLayout["session"],
  rows: readonly ForeignRow[],
): (row: ForeignRow) => Pick<Listed, "parent"> {
  if (parent === undefined) return () => ({})
  const known = new Map(rows.map((row) => [row[id], row]))
  return (row) => {
    const found = known.get(row[parent.column] ?? null)
    return found === undefined
      ? {}
      : { parent: fromSource(Object.fromEntries(parent.known.map((column) => [column, found[column] ?? null]))) }
  }
}

// --- Rows ---------------------------------------------------------------------------------------------------------------

/** `since` is what `stateOf` reads: then only rows come that are new or have changed, and behind them what is there now. */
export function* readRows(layout: RowLayout, unit: SourceUnit, since: SourceValue | undefined): Generator<RawRecord> {
  const file = unit.files.find(({ form }) => form === "database")
  if (file === undefined || unit.row === undefined) return
  const { session, message } = layout
  const database = openRows(layout, file.path)
  const { id } = unit.row
  let line = 0
  const raw = (table: string, row: SourceObject): RawRecord => ({ form: "row", file, line: ++line, table, row })
  try {
    const [row] = [...database.rows({ table: session.table, where: { [session.id]: id } })]
    if (row === undefined) return
    const beside = besideRows(layout, database, id)
    yield raw(session.table, composed({ ...decoded(layout, session.table, row), ...beside }))
    const known = since === undefined ? undefined : digestsIn(since)
    const keys = createKeys()
    const ids: string[] = []
    for (const found of database.rows({ table: message.table, where: { [message.by]: id }, order: message.order })) {
      const told = decoded(layout, message.table, found)
      const key = known === undefined ? undefined : plain(keyOfMessage(layout, told))
      if (key !== undefined) ids.push(keys.next(key))
      if (key === undefined || known?.has(messageDigest(layout, told, key)) !== true) yield raw(message.table, told)
    }
    if (known !== undefined) yield raw(LISTING_TABLE, composed({ message: fromSource(ids) }))
  } finally {
    database.close()
  }
}

function besideRows({ beside, ...layout }: RowLayout, database: ForeignDatabase, id: string): SourceObject {
  const inner: Record<string, SourceValue | readonly SourceValue[]> = {}
  for (const { table, by, order } of beside) {
    if (!database.tables.has(table)) continue
    const rows = [...database.rows({ table, where: { [by]: id }, order })]
    if (rows.length > 0) inner[table] = rows.map((row) => decoded({ beside, ...layout }, table, row))
  }
  return composed(inner)
}

/** JSON that stands in a column as text becomes the value that it says. Text that holds no object or list stays text. */
function decoded({ json, marked, leftOut }: RowLayout, table: string, row: ForeignRow): SourceObject {
  const values: Record<string, SourceValue> = {}
  for (const [column, value] of Object.entries(row)) {
    const mark = marked?.[table]?.[column]
    const told = leftOut?.[table]?.[column]
    if (told !== undefined) Object.assign(values, only(column, value, told))
    else if (typeof value !== "string") values[column] = fromSource(value)
    else if (mark !== undefined) values[column] = behindMark(value, mark)
    else values[column] = json[table]?.includes(column) === true ? jsonOf(value) : fromSource(value)
  }
  return composed(values)
}

/** Of a column that may hold secrets. */
function only(column: string, value: ForeignRow[string], keys: readonly string[]): Record<string, SourceValue> {
  const parsed = typeof value === "string" && keys.length > 0 ? parseJson(value) : undefined
  if (parsed?.ok !== true || !isJsonObject(parsed.value)) return {}
  const found = Object.entries(parsed.value).filter(([key]) => keys.includes(key))
  return found.length === 0 ? {} : { [column]: fromSource(Object.fromEntries(found)) }
}

function jsonOf(text: string): SourceValue {
  const parsed = parseJson(text)
  const isValue = parsed.ok && (isJsonObject(parsed.value) || Array.isArray(parsed.value))
  return fromSource(isValue ? parsed.value : text)
}

function behindMark(text: string, mark: string): SourceValue {
  const parsed = text.startsWith(mark) ? parseJson(text.slice(mark.length)) : undefined
  return fromSource(parsed?.ok === true ? { [MARK_KEY]: mark, [MARKED_JSON_KEY]: parsed.value } : text)
}

// --- Which rows are known -----------------------------------------------------------------------------------------------

const DIGEST_UNITS = 9

/** Of a row as a whole: 46 bits, in base 36. A change by a client is what it has to show, not one by an enemy. */
export function digestOf(row: JsonObject): string {
  return shortHash(stringifyJson(row))
}

/** Of the row of a message, whose kept columns the key is the hash of. Of other texts the length and the ends count. */
export function messageDigest({ message }: RowLayout, row: JsonObject, key: string): string {
  let text = key
  for (const column in row) {
    const value = row[column] ?? null
    if (value === null || message.kept.includes(column)) continue
    text += `|${column}:${typeof value === "string" ? endsOf(value) : stringifyJson(value)}`
  }
  return shortHash(text)
}

const SHORT_UNITS = 64

function endsOf(text: string): string {
  if (text.length <= SHORT_UNITS) return text
  return `${text.length} ${text.slice(0, SHORT_UNITS / 2)}…${text.slice(-SHORT_UNITS / 2)}`
}

function shortHash(text: string): string {
  const hash = Bun.hash.xxHash64(text).toString(36)
  return hash.length >= DIGEST_UNITS ? hash.slice(-DIGEST_UNITS) : hash.padStart(DIGEST_UNITS, "0")
}

/** The state of a parse has the digests of its rows as one text of equal pieces. */
export function digestsIn(state: JsonValue | undefined): Set<string> {
  const digests = isJsonObject(state) ? state["digests"] : undefined
  const text = typeof digests === "string" ? digests : ""
  const known = new Set<string>()
  for (let at = 0; at < text.length; at += DIGEST_UNITS) known.add(text.slice(at, at + DIGEST_UNITS))
  return known
}

export function keyOfMessage({ message }: RowLayout, row: SourceObject): Sealed<string> {
  return fingerprintOf(row, message.kept)
}

/** The ids under which the messages of a session are stored, in their order: the second of two with one key gets a number. */
function createKeys(): { next(key: string): string } {
  const counts = new Map<string, number>()
  return {
    next(key) {
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      return count === 1 ? key : `${key}#${count}`
    },
  }
}
