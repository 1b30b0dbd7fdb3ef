/**
 * Rows into a database that belongs to another program: a new database where there is none, one transaction where there
 * is one. Never while the other program holds it, and never over a row that says something else, unless it is told to.
 * Knows no client: what is to be known of its tables comes with the rows.
 */
import { Database, type Statement } from "bun:sqlite"
import { chmodSync, closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs"
import { dirname } from "node:path"
import { PondError } from "../../model/errors.ts"
import { isExactNumber, isJsonObject, type JsonValue, stringifyJson } from "../../model/json.ts"
import { notWritable } from "../host/paths.ts"
import { errorCode } from "../system-error.ts"
import { BYTES_KEY, MARK_KEY, MARKED_JSON_KEY } from "./foreign-sqlite.ts"

export interface RowsToWrite {
  readonly rows: Iterable<NestedRow>
  readonly schema: {
    readonly create: readonly string[]
    readonly keys: Readonly<Record<string, readonly string[]>>
    readonly shared: readonly string[]
    readonly owners: readonly string[]
    /** Tables whose key is a number that counts the rows of all sessions, and the column that names the session. */
    readonly numbered?: Readonly<Record<string, { readonly number: string; readonly owner: string }>>
  }
}

interface NestedRow {
  readonly table: string
  readonly row: Readonly<Record<string, JsonValue>>
}

export interface RowsWritten {
  /** Backups of the rows that were replaced. */
  readonly backups: readonly string[]
  readonly inserted: number
  /** Rows that the database had already: equal ones, or rows shared by several sessions. */
  readonly present: number
}

export interface WriteOptions {
  /** Where the database is copied to before rows that say something else are replaced. Absent: they are not. */
  readonly replaceWithBackup?: string
}

const BUSY_TIMEOUT_MS = 1_000

/** All of it or nothing, whenever the machine dies: a new database appears by its rename, an old one changes by one commit. */
export function writeForeignRows(path: string, file: RowsToWrite, options: WriteOptions = {}): RowsWritten {
  if (existsSync(path)) return withDatabase(path, (database) => writeInto(database, path, file, options))
  const draft = `${path}.pond-draft`
  removeDatabase(draft)
  try {
    const written = withDatabase(draft, (database) => {
      // Drafts are invisible and rewritten after a crash, so they are synced once, when they are complete.
      database.run("PRAGMA synchronous = OFF")
      database.transaction(() => {
        for (const statement of file.schema.create) database.run(statement)
      })()
      return writeInto(database, draft, file, { isEmpty: true })
    })
    // A transcript is for its owner alone.
    chmodSync(draft, 0o600)
    sync(draft)
    renameSync(draft, path)
    sync(dirname(path))
    return written
  } finally {
    removeDatabase(draft)
  }
}

export interface RowsThere {
  /** The keys of rows that are there and say something else: what a restore would have to replace. */
  readonly conflicts: readonly string[]
  readonly isEvery: boolean
}

/** Which of the rows are there. It reads alone, so it may be asked while the other program is at work. */
export function rowsThere(path: string, file: RowsToWrite): RowsThere {
  if (!existsSync(path)) return { conflicts: [], isEvery: false }
  return withDatabase(path, (database) => rowsIn(database, renumbered(database, file)), { readonly: true })
}

const FOR_WRITING = { create: true, readwrite: true }

function withDatabase<T>(path: string, use: (database: Database) => T, mode: object = FOR_WRITING): T {
  let database: Database | undefined
  try {
    database = new Database(path, { ...mode, safeIntegers: true })
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    return use(database)
  } catch (cause) {
    const code = errorCode(cause)
    if (code === undefined) throw cause
    if (UNWRITABLE.test(code)) throw notWritable(path, cause)
    if (BUSY.test(code)) {
      const said = `${path} is in use by another program. Close it and run this again.`
      throw new PondError("conflict", said, { details: { path }, cause })
    }
    if (!BROKEN.test(code)) throw cause
    throw new PondError(
      "validation_failed",
      `${path} is not an intact database; its client could not read it either. Move it away and run this again.`,
      { details: { path }, cause },
    )
  } finally {
    database?.close(true)
  }
}

const BUSY = /^SQLITE_(?:BUSY|LOCKED)/
const BROKEN = /^SQLITE_(?:NOTADB|CORRUPT)/
const UNWRITABLE = /^SQLITE_(?:FULL|IOERR|READONLY|CANTOPEN|PERM)/

/**
 * In this mode a transaction begins only while no other connection has the database open, for reading or writing. Foreign
 * keys are for what is replaced, which goes with its owner. A row whose owner the client itself has lost (a part without its
 * message, in a database that was damaged) is inserted as it was.
 */
function beginAlone(database: Database, isReplacing: boolean): void {
  database.run(`PRAGMA foreign_keys = ${isReplacing ? "ON" : "OFF"}`)
  database.query("PRAGMA locking_mode = EXCLUSIVE").get()
  database.run("BEGIN EXCLUSIVE")
  database.run("PRAGMA defer_foreign_keys = ON")
}

interface IntoOptions extends WriteOptions {
  /** Nothing is there that could say something else. */
  readonly isEmpty?: true
}

function writeInto(database: Database, path: string, given: RowsToWrite, options: IntoOptions): RowsWritten {
  beginAlone(database, options.replaceWithBackup !== undefined)
  try {
    const { replaceWithBackup: backup, isEmpty } = options
    const file = isEmpty ? given : renumbered(database, given)
    const { conflicts } = isEmpty ? { conflicts: [] } : rowsIn(database, file)
    if (conflicts.length > 0 && backup === undefined) {
      throw new PondError("would_overwrite", `${path} already has different rows. Use --force to replace them.`, {
        details: { path, rows: conflicts },
      })
    }
    const backups = conflicts.length > 0 && backup !== undefined ? copyDatabase(path, backup) : []
    if (conflicts.length > 0) removeOwners(database, file)
    const written = insertAll(database, file, options)
    database.run("COMMIT")
    return { ...written, backups }
  } catch (error) {
    if (database.inTransaction) database.run("ROLLBACK")
    throw error
  }
}

function insertAll(database: Database, file: RowsToWrite, options: IntoOptions): Omit<RowsWritten, "backups"> {
  const insertions = new Map<string, Insertion>()
  const lacking = new Set<string>()
  let inserted = 0
  let present = 0
  for (const { table, row } of flatRows(file)) {
    const names = Object.keys(row)
    const form = [table, ...names].join("\0")
    const insertion = insertions.get(form) ?? insertionOf(database, table, names)
    insertions.set(form, insertion)
    const values: Bound[] = []
    for (let at = 0; at < names.length; at++) {
      const value = row[names[at] as string] ?? null
      if (insertion.isKnown[at]) values.push(bound(value))
      else if (value !== null) lacking.add(`${table}.${names[at]}`)
    }
    if (insertion.statement.run(...values).changes > 0) inserted++
    else if (storedRow(database, file, table, row) !== undefined) present++
    else throw takenElsewhere(file, table, row)
  }
  if (lacking.size === 0) return { inserted, present }
  const names = [...lacking].join(", ")
  throw new PondError(
    "version_unsupported",
    options.isEmpty
      ? `The session has values in columns that a new database of its client does not have: ${names}. Write it in the form of today with --anew.`
      : `This database lacks columns that the session has: ${names}. Update the client and start it once, or write the session in the form of today with --anew.`,
    { details: { columns: [...lacking] } },
  )
}

/** The row has a value that only one row may have (a title, for one), and another row has it. */
function takenElsewhere(file: RowsToWrite, table: string, row: NestedRow["row"]): PondError {
  const key = keyOf(file, table, row).join(" ")
  const said = `Another row of ${table} has a value that must be unique and that ${key} has, too. Rename it in its client and run this again.`
  return new PondError("would_overwrite", said, { details: { rows: [`${table} ${key}`] } })
}

/** Of rows with the same columns. */
interface Insertion {
  /** Of each column whether the table has it. */
  readonly isKnown: readonly boolean[]
  readonly statement: Statement
}

function insertionOf(database: Database, table: string, names: readonly string[]): Insertion {
  const there = columnsOf(database, table)
  const isKnown = names.map((name) => there.has(name))
  const known = names.filter((_, at) => isKnown[at]).map(quoteIdentifier)
  const sql = `INSERT INTO ${quoteIdentifier(table)} (${known.join(", ")}) VALUES (${known.map(() => "?").join(", ")})`
  return { isKnown, statement: database.query(`${sql} ON CONFLICT DO NOTHING`) }
}

// --- Rows: those that stand inside others come behind them ------------------------------------------------------------

/** Flattens nested rows: each row on its own. */
export function* flatRows({ rows, schema }: RowsToWrite): Generator<NestedRow> {
  for (const { table, row } of rows) yield* flattened(table, row, schema.keys)
}

function* flattened(table: string, row: NestedRow["row"], keys: RowsToWrite["schema"]["keys"]): Generator<NestedRow> {
  // What is stored may come from anybody, and beside its sessions a client keeps accounts and permissions.
  if (!Object.hasOwn(keys, table))
    throw new PondError(
      "validation_failed",
      "A row of this session belongs to a table in which its client keeps something else, so nothing was written. `--anew` writes it as a new session.",
      { details: { table } },
    )
  const isInner = ([name, value]: [string, JsonValue]) => keys[name] !== undefined && Array.isArray(value)
  const fields = Object.entries(row)
  yield { table, row: Object.fromEntries(fields.filter((field) => !isInner(field))) }
  for (const [name, inner] of fields.filter(isInner)) {
    for (const each of inner as readonly JsonValue[]) if (isJsonObject(each)) yield* flattened(name, each, keys)
  }
}

function rowsIn(database: Database, file: RowsToWrite): RowsThere {
  const conflicts: string[] = []
  let isEvery = true
  for (const { table, row } of flatRows(file)) {
    const stored = storedRow(database, file, table, row)
    if (stored === undefined) isEvery = false
    if (stored === undefined || file.schema.shared.includes(table)) continue
    const differs = Object.entries(stored).some(
      ([column, value]) => column in row && !isSame(value, bound(row[column] ?? null)),
    )
    if (differs) conflicts.push(`${table} ${keyOf(file, table, row).join(" ")}`)
  }
  return { conflicts, isEvery }
}

/**
 * The rows under numbers that are free. Where another session has one of the numbers, as in the database of another machine,
 * stored rows keep theirs, and the others come behind all of them.
 */
function renumbered(database: Database, file: RowsToWrite): RowsToWrite {
  const { numbered = {} } = file.schema
  const fresh = new Map<string, Map<JsonValue, number>>()
  for (const [table, { number, owner }] of Object.entries(numbered)) {
    const own = [...flatRows(file)].filter((each) => each.table === table).map(({ row }) => row)
    const [from, by] = [quoteIdentifier(table), quoteIdentifier(owner)]
    const ownerOf = database.query(`SELECT ${by} FROM ${from} WHERE ${quoteIdentifier(number)} = ?`)
    const isFree = (row: NestedRow["row"]) => {
      const [found] = ownerOf.values(bound(row[number] ?? null))
      return found === undefined || isSame(found[0], bound(row[owner] ?? null))
    }
    if (own.every(isFree)) continue
    const sql = `SELECT ${quoteIdentifier(number)} FROM ${from} WHERE ${by} = ? ORDER BY 1`
    const there = database.query(sql).values(bound(own[0]?.[owner] ?? null))
    let last = Number(database.query(`SELECT max(${quoteIdentifier(number)}) FROM ${from}`).values()[0]?.[0] ?? 0)
    fresh.set(table, new Map(own.map((row, at) => [row[number] ?? null, Number(there[at]?.[0] ?? ++last)])))
  }
  if (fresh.size === 0) return file
  const rows = [...flatRows(file)].map(({ table, row }) => {
    const { number = "" } = numbered[table] ?? {}
    const other = fresh.get(table)?.get(row[number] ?? null)
    return other === undefined ? { table, row } : { table, row: { ...row, [number]: other } }
  })
  return { ...file, rows }
}

function removeOwners(database: Database, file: RowsToWrite): void {
  const { numbered = {} } = file.schema
  for (const { table, row } of flatRows(file)) {
    if (!file.schema.owners.includes(table)) continue
    const key = file.schema.keys[table] ?? []
    for (const [inner, { owner }] of Object.entries(numbered)) {
      const sql = `DELETE FROM ${quoteIdentifier(inner)} WHERE ${quoteIdentifier(owner)} = ?`
      database.query(sql).run(bound(row[key[0] ?? ""] ?? null))
    }
    const where = key.map((column) => `${quoteIdentifier(column)} = ?`).join(" AND ")
    database
      .query(`DELETE FROM ${quoteIdentifier(table)} WHERE ${where}`)
      .run(...key.map((column) => bound(row[column] ?? null)))
  }
}

function storedRow(
  database: Database,
  { schema }: RowsToWrite,
  table: string,
  row: NestedRow["row"],
): Record<string, unknown> | undefined {
  const key = schema.keys[table] ?? []
  const where = key.map((column) => `${quoteIdentifier(column)} = ?`).join(" AND ")
  const values = key.map((column) => bound(row[column] ?? null))
  const stored = database.query(`SELECT * FROM ${quoteIdentifier(table)} WHERE ${where}`).get(...values)
  return (stored ?? undefined) as Record<string, unknown> | undefined
}

function keyOf({ schema }: RowsToWrite, table: string, row: NestedRow["row"]): string[] {
  return (schema.keys[table] ?? []).map((column) => String(row[column]))
}

function columnsOf(database: Database, table: string): ReadonlySet<string> {
  const columns = new Set(database.query("SELECT name FROM pragma_table_info(?)").values(table).flat().map(String))
  if (columns.size > 0) return columns
  throw new PondError("validation_failed", `This database has no table ${table}: its client is another version.`)
}

// --- Values -----------------------------------------------------------------------------------------------------------

type Bound = string | number | bigint | Uint8Array | null

/** An object or a list stands in its column as JSON text. A text column holds no half of a pair, as of a title that was cut. */
function bound(value: JsonValue): Bound {
  if (value === null) return null
  if (typeof value === "string") return value.toWellFormed()
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value
  if (typeof value === "boolean") return value ? 1n : 0n
  if (isExactNumber(value)) return /^-?\d+$/.test(value.rawJSON) ? BigInt(value.rawJSON) : Number(value.rawJSON)
  const mark = isJsonObject(value) ? value[MARK_KEY] : undefined
  if (isJsonObject(value) && typeof mark === "string")
    return `${mark}${stringifyJson(value[MARKED_JSON_KEY] ?? null)}`.toWellFormed()
  const bytes = isJsonObject(value) ? value[BYTES_KEY] : undefined
  return typeof bytes === "string" ? new Uint8Array(Buffer.from(bytes, "base64")) : stringifyJson(value)
}

/** A column of real numbers gives back 5.0 for 5; JSON text may be spelled otherwise and say the same. */
function isSame(stored: unknown, ours: Bound): boolean {
  if (stored === ours) return true
  if (stored instanceof Uint8Array || ours instanceof Uint8Array) return Bun.deepEquals(stored, ours)
  if (typeof stored === "string" && typeof ours === "string" && stored !== ours) return isSameJson(stored, ours)
  return stored === ours || (stored !== null && ours !== null && Number(stored) === Number(ours))
}

/** What a client writes before JSON, so that it is told from text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the mark of a client begins with one, which no text has.
const MARKED = /^\u0000\w+:/

function isSameJson(left: string, right: string): boolean {
  const mark = MARKED.exec(left)?.[0] ?? ""
  if (!right.startsWith(mark)) return false
  try {
    return Bun.deepEquals(JSON.parse(left.slice(mark.length)), JSON.parse(right.slice(mark.length)))
  } catch {
    return false
  }
}

/** Asked for every column of every row. */
function quoteIdentifier(name: string): string {
  return name.includes('"') ? `"${name.replaceAll('"', '""')}"` : `"${name}"`
}

// --- Files ------------------------------------------------------------------------------------------------------------

/** While the lock is held there is no other writer, so the file and its log belong together. Durable before anything is replaced. */
function copyDatabase(path: string, to: string): string[] {
  const suffixes = ["", "-wal"].filter((suffix) => existsSync(path + suffix))
  for (const suffix of suffixes) {
    copyFileSync(path + suffix, to + suffix)
    sync(to + suffix)
  }
  sync(dirname(to))
  return suffixes.map((suffix) => to + suffix)
}

function removeDatabase(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-journal"]) rmSync(path + suffix, { force: true })
}

function sync(path: string): void {
  const file = openSync(path, "r")
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
