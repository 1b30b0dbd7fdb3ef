/**
 * Reading a database that belongs to another program, while that program may be writing it. Nothing of it is changed: no
 * checkpoint, no new file beside it. Only named tables can be read, and a column that may hold a secret never is.
 * Knows no client.
 */
import { constants, Database, type Statement } from "bun:sqlite"
import {
  closeSync,
  copyFileSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { PondError } from "../../model/errors.ts"
import { type JsonValue, parseJson } from "../../model/json.ts"

export interface ForeignDatabase {
  /** The named tables that are there, with the columns that may be read. */
  readonly tables: ReadonlyMap<string, readonly string[]>
  /** Columns of named tables that are never read, because their name says that they may hold a secret: `table.column`. */
  readonly withheld: readonly string[]
  /** Tables that were not named and have such a column, by the schema alone: no row of them is read. */
  unnamedWith(column: string): readonly string[]
  rows(query: ForeignQuery): IterableIterator<ForeignRow>
  /** How many rows there are of each value of a column, and their greatest values of others. */
  tally(query: ForeignTally): IterableIterator<ForeignCount>
  /** Whether a writer has come since it was opened in a way that does not see writers. It is then to be opened again. */
  isStale(): boolean
  close(): void
}

export type ForeignRow = Readonly<Record<string, JsonValue>>

export interface ForeignQuery {
  readonly table: string
  /** Absent: all that may be read. One that the database does not have is left out. */
  readonly columns?: readonly string[]
  readonly where?: Readonly<Record<string, string | number>>
  /** Only rows whose column is greater. */
  readonly after?: readonly [column: string, value: number]
  /** Only rows whose column has a text of this one on and below that one, as an index finds them. */
  readonly range?: readonly [column: string, from: string, below: string]
  readonly order?: readonly string[]
}

export interface ForeignTally {
  readonly table: string
  readonly by: string
  readonly greatest?: readonly string[]
  readonly totals?: readonly string[]
}

export interface ForeignCount {
  readonly value: string
  readonly count: number
  readonly greatest: readonly number[]
  readonly totals: readonly number[]
}

/** The key under which bytes stand in a row: JSON has no form for them. */
export const BYTES_KEY = "$bytes"
/** The key under which a value stands in a row that its client writes as JSON text behind a mark, and the key of that mark. */
export const MARKED_JSON_KEY = "$json"
export const MARK_KEY = "$mark"

const SECRET =
  /secret|token(?!s)|credential|passw|passphrase|pwd|bearer|auth(?!or)|jwt|cookie|(?:api|access|private|signing|session|encryption)_?key/i
const LOG_SUFFIX = "-wal"
const SHARED_SUFFIX = "-shm"
const JOURNAL_SUFFIX = "-journal"
const BUSY_TIMEOUT_MS = 5_000

/** `harmless` are columns (`table.column`) that are known to hold no secret, although their names sound like it. */
export function openForeignDatabase(
  path: string,
  named: readonly string[],
  harmless: readonly string[] = [],
): ForeignDatabase {
  const connection = connect(path)
  const { database } = connection
  const { tables, withheld } = orReleased(connection, () => readableTables(database, named, harmless))
  const statements = new Map<string, Statement>()

  function prepared(sql: string): Statement {
    // A whole number of SQLite may be greater than a double can hold.
    const known = statements.get(sql) ?? database.prepare(sql).safeIntegers(true)
    statements.set(sql, known)
    return known
  }
  function columnsOf(table: string): readonly string[] {
    const columns = tables.get(table)
    if (columns === undefined) throw new PondError("internal", `pond read the table ${table}, which does not exist.`)
    return columns
  }

  return {
    tables,
    withheld,
    unnamedWith: (column) => {
      const sql = `SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
        WHERE m.type = 'table' AND c.name = ? ORDER BY m.name`
      const found = prepared(sql).values(column).flat().map(String)
      return found.filter((table) => !named.includes(table))
    },
    *rows(query) {
      const { sql, values } = selection(query, columnsOf(query.table))
      for (const row of prepared(sql).iterate(...values)) yield jsonRow(row as Record<string, unknown>)
    },
    *tally({ table, by, greatest = [], totals = [] }) {
      const known = columnsOf(table)
      const over = (name: string, columns: readonly string[]) =>
        columns.map((column) => (known.includes(column) ? `${name}(${quoteIdentifier(column)})` : "0"))
      const counted = [quoteIdentifier(by), "count(*)", ...over("max", greatest), ...over("total", totals)]
      const sql = `SELECT ${counted.join(", ")} FROM ${quoteIdentifier(table)} GROUP BY 1`
      for (const [value, count, ...found] of prepared(sql).values() as unknown[][]) {
        const numbers = found.map(Number)
        const most = numbers.slice(0, greatest.length)
        yield { value: String(value), count: Number(count), greatest: most, totals: numbers.slice(greatest.length) }
      }
    },
    isStale: connection.isStale,
    close() {
      for (const statement of statements.values()) statement.finalize()
      database.close()
      connection.release()
    },
  }
}

// --- In use -----------------------------------------------------------------------------------------------------------

/**
 * Whether some program may have it open with a write-ahead log. It holds a lock on the shared memory then, which the system
 * lets go where it dies. Only Linux tells of locks without the file being opened, which would drop those of our own.
 */
export function isLogInUse(path: string): boolean {
  if (!usesLog(path)) return false
  const shared = statSync(path + SHARED_SUFFIX, { throwIfNoEntry: false, bigint: true })
  if (shared === undefined) return false
  const locks = locksHeld()
  return locks === undefined || locks.includes(`:${shared.ino} `)
}

/** A line for each lock: `1: POSIX  ADVISORY  READ 4711 08:01:1234 128 128`, with the number of its file behind the device. */
function locksHeld(): string | undefined {
  if (process.platform !== "linux") return undefined
  try {
    return readFileSync("/proc/locks", "utf8")
  } catch {
    return undefined
  }
}

// --- Connecting -------------------------------------------------------------------------------------------------------

interface Connection {
  readonly database: Database
  readonly isStale: () => boolean
  readonly release: () => void
}

/**
 * Three ways in, one for each state that clients leave behind:
 *   a whole file (its write-ahead log is empty or gone): read as immutable, because the ordinary way would put two files beside it;
 *   a log with its shared memory: the ordinary way of SQLite, safe beside a writer, and it leaves database and log alone;
 *   a log alone, a crash to undo, or a file system that cannot be written: a copy is read.
 */
function connect(path: string): Connection {
  if (sizeOf(path) === undefined) throw new PondError("not_found", `No database at ${path}.`)
  if (!usesLog(path)) return tryConnect(path) ?? connectToCopy(path)
  if ((sizeOf(path + LOG_SUFFIX) ?? 0) === 0) return connectToWhole(path)
  const isShared = sizeOf(path + SHARED_SUFFIX) !== undefined
  return (isShared ? tryConnect(path) : undefined) ?? connectToCopy(path)
}

function connectToWhole(path: string): Connection {
  const before = stampOf(path)
  const flags = constants.SQLITE_OPEN_READONLY + constants.SQLITE_OPEN_URI
  const database = new Database(`${pathToFileURL(path).href}?immutable=1`, flags)
  const isStale = () => stampOf(path) !== before || (sizeOf(path + LOG_SUFFIX) ?? 0) > 0
  return { database, isStale, release: () => undefined }
}

function tryConnect(path: string): Connection | undefined {
  const database = new Database(path, { readonly: true })
  try {
    database.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    database.query("SELECT count(*) FROM sqlite_master").get()
    return { database, isStale: () => false, release: () => undefined }
  } catch {
    database.close()
    return undefined
  }
}

/** The copy is ours, so SQLite may put it in order. A writer may have come between the copies: then they are made again. */
function connectToCopy(path: string): Connection {
  const folder = mkdtempSync(join(tmpdir(), COPIES))
  removeLeftCopies(folder)
  const copy = join(folder, "copy.db")
  const release = () => rmSync(folder, { recursive: true, force: true })
  return orReleased({ release }, () => {
    for (let attempt = 1; attempt <= 3; attempt++) {
      const before = stampOf(path)
      for (const suffix of ["", LOG_SUFFIX, JOURNAL_SUFFIX]) {
        rmSync(copy + suffix, { force: true })
        if (sizeOf(path + suffix) !== undefined) copyFileSync(path + suffix, copy + suffix)
      }
      if (stampOf(path) !== before) continue
      return { database: new Database(copy, { readwrite: true, create: false }), isStale: () => false, release }
    }
    throw new PondError(
      "conflict",
      `${path} kept changing while pond copied it. Run this again when its client is idle.`,
    )
  })
}

/** Removes the copy where the database is damaged or the disk was full. */
function orReleased<Result>({ database, release }: Partial<Connection>, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    database?.close()
    release?.()
    throw error
  }
}

const COPIES = "pond-sqlite-"
/** No sync reads one copy for so long. */
const LEFT_MS = 24 * 60 * 60 * 1000

/** Removes copies that killed processes left, of databases of gigabytes perhaps. Their age is told by the clock of the disk. */
function removeLeftCopies(own: string): void {
  const { mtimeMs: nowMs, uid } = lstatSync(own)
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(COPIES)) continue
    const path = join(tmpdir(), name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined || found.uid !== uid || nowMs - found.mtimeMs < LEFT_MS) continue
    rmSync(path, { recursive: true, force: true })
  }
}

/** Byte 18 of the header: 2 where changes go to a write-ahead log. */
function usesLog(path: string): boolean {
  const file = openSync(path, "r")
  try {
    const header = new Uint8Array(19)
    readSync(file, header, 0, header.length, 0)
    return header[18] === 2
  } finally {
    closeSync(file)
  }
}

/** Changes whenever the database or its log does. */
function stampOf(path: string): string {
  return ["", LOG_SUFFIX]
    .map((suffix) => statSync(path + suffix, { throwIfNoEntry: false, bigint: true }))
    .map((stat) => (stat === undefined ? "-" : `${stat.ino} ${stat.size} ${stat.mtimeNs}`))
    .join(" ")
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size
}

// --- Statements: names only come from the database's own list of columns ------------------------------------------------

function readableTables(
  database: Database,
  named: readonly string[],
  harmless: readonly string[],
): Pick<ForeignDatabase, "tables" | "withheld"> {
  const tables = new Map<string, readonly string[]>()
  const withheld: string[] = []
  for (const table of named) {
    const columns = database.query(`SELECT name FROM pragma_table_info(?)`).values(table).flat().map(String)
    if (columns.length === 0) continue
    const isSecret = (column: string) => SECRET.test(column) && !harmless.includes(`${table}.${column}`)
    tables.set(
      table,
      columns.filter((column) => !isSecret(column)),
    )
    withheld.push(...columns.filter(isSecret).map((column) => `${table}.${column}`))
  }
  return { tables, withheld }
}

function selection(query: ForeignQuery, known: readonly string[]): { sql: string; values: (string | number)[] } {
  const wanted = query.columns ?? known
  const conditions = Object.keys(query.where ?? {}).map((column) => `${quoteIdentifier(column)} = ?`)
  const values = Object.values(query.where ?? {})
  if (query.after !== undefined) {
    conditions.push(`${quoteIdentifier(query.after[0])} > ?`)
    values.push(query.after[1])
  }
  if (query.range !== undefined) {
    const [column, from, below] = query.range
    conditions.push(`${quoteIdentifier(column)} >= ? AND ${quoteIdentifier(column)} < ?`)
    values.push(from, below)
  }
  const columns = wanted.filter((column) => known.includes(column))
  const sql = [
    `SELECT ${columns.map((column) => quoteIdentifier(column)).join(", ")} FROM ${quoteIdentifier(query.table)}`,
    conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`,
    query.order === undefined ? "" : `ORDER BY ${query.order.map(quoteIdentifier).join(", ")}`,
  ]
  return { sql: sql.filter((clause) => clause !== "").join(" "), values }
}

/** Asked for every column of every row. */
function quoteIdentifier(name: string): string {
  return name.includes('"') ? `"${name.replaceAll('"', '""')}"` : `"${name}"`
}

function jsonRow(row: Record<string, unknown>): ForeignRow {
  const values: Record<string, JsonValue> = {}
  for (const column in row) values[column] = jsonValue(row[column])
  return values
}

function jsonValue(value: unknown): JsonValue {
  if (typeof value === "string" || value === null) return value
  if (typeof value === "number") return Number.isFinite(value) ? value : exactly(value < 0 ? "-1e999" : "1e999")
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : exactly(String(value))
  return { [BYTES_KEY]: Buffer.from(value as Uint8Array).toString("base64") }
}

function exactly(digits: string): JsonValue {
  const parsed = parseJson(digits)
  return parsed.ok ? parsed.value : digits
}
