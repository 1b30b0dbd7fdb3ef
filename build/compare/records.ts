/** A file as the list of its records: lines of a log, one document, or rows of a SQLite database, each in one spelling. */
import { Database } from "bun:sqlite"
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { canonicalText } from "./json-text.ts"

export interface FileRecords {
  readonly kind: "records" | "rows"
  /** In the order of the file. Of rows the table comes first, and the order says nothing. */
  readonly records: readonly string[]
}

const SQLITE = "SQLite format 3\0"
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

export function recordsOf(path: string): FileRecords {
  const bytes = readFileSync(path)
  if (bytes.toString("latin1", 0, SQLITE.length) === SQLITE) return { kind: "rows", records: rowsOf(path) }
  return { kind: "records", records: recordsIn(bytes) }
}

function recordsIn(bytes: Buffer): string[] {
  const plain = bytes.subarray(0, ZSTD.length).equals(ZSTD) ? Buffer.from(Bun.zstdDecompressSync(bytes)) : bytes
  const document = spelled(plain)
  if (document.startsWith("json ")) return [document]
  const records: string[] = []
  for (let from = 0; from < plain.length; ) {
    const end = plain.indexOf(10, from)
    const line = plain.subarray(from, end === -1 ? plain.length : end)
    if (line.length > 0) records.push(spelled(line))
    from = end === -1 ? plain.length : end + 1
  }
  return records
}

/** What is no JSON, and what is no UTF-8, is the bytes that it is. */
function spelled(bytes: Buffer): string {
  const text = bytes.toString("utf8")
  const json = canonicalText(text.replace(/^\uFEFF/, ""))
  return json === undefined ? `bytes ${bytes.toString("latin1")}` : `json ${json}`
}

// --- Databases -------------------------------------------------------------------------------------------------------

/** Read from a copy, because opening a database writes beside it. */
function rowsOf(path: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), "pond-compare-"))
  const copy = join(folder, "copy.db")
  for (const end of ["", "-wal"]) if (existsSync(`${path}${end}`)) copyFileSync(`${path}${end}`, `${copy}${end}`)
  const database = new Database(copy, { safeIntegers: true })
  try {
    const tables = database
      .query<{ readonly name: string }, []>(
        "select name from sqlite_schema where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name",
      )
      .all()
    return tables.flatMap(({ name }) => rowsOfTable(database, name))
  } finally {
    database.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A column that is null is as one that is not there: another version of the client has more columns. */
function rowsOfTable(database: Database, table: string): string[] {
  const rows = database.query<Record<string, unknown>, []>(`select * from "${table.replaceAll('"', '""')}"`).all()
  return rows.map((row) => {
    const columns = Object.entries(row)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => `${name}=${cellText(value)}`)
    return `${table} ${columns.toSorted().join("\n")}`
  })
}

/** Stands before a text of Hermes that is JSON. */
const HERMES_MARK = "\0json:"

function cellText(value: unknown): string {
  if (value instanceof Uint8Array) return `blob ${Buffer.from(value).toString("hex")}`
  if (typeof value !== "string") return `${typeof value} ${value}`
  const mark = value.startsWith(HERMES_MARK) ? HERMES_MARK : ""
  const text = value.slice(mark.length)
  return `text ${mark}${canonicalText(text) ?? text}`
}
