/**
 * For products that keep many sessions in one database and write none of them as rows that could be told apart: each session is
 * a document that is put together when it is read (`Adapter.assemble`). Helpers to name such a document and to read its rows.
 */
import type { Stats } from "node:fs"
import { isJsonObject, type JsonValue, parseJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import { BYTES_KEY, type ForeignDatabase, openForeignDatabase } from "../../platform/files/foreign-sqlite.ts"
import { errorCode } from "../../platform/system-error.ts"
import type { SourceFile, SourceUnit } from "../adapter.ts"
import { type Folders, fileOf } from "./folders.ts"

/** An id that becomes the name of a file: see `OutputForms`. */
export const PLAIN_ID = /^[\da-zA-Z][\w$-]{0,179}$/

export interface RowDocument {
  /** The place where a restore writes it. */
  readonly place: string
  readonly sizeBytes: number
  /** When it was last changed, as its own rows say. That of the database changes with every session. */
  readonly modifiedMs: number
  /** A text that changes with it. */
  readonly mark: string
}

export interface DatabaseAt {
  readonly path: string
  readonly stat: Stats
}

export function documentUnit(root: string, { path, stat }: DatabaseAt, document: RowDocument): SourceUnit {
  const { place, sizeBytes, modifiedMs, mark } = document
  const { changedMs: _, ...file } = fileOf(root, place, "document", stat)
  const inode = Number(Bun.hash.xxHash64(mark) & 0x1fffffffffffffn)
  return { key: place, root, files: [{ ...file, path, sizeBytes, modifiedMs, inode }] }
}

/** Reads a database, if the file is one with these tables; closed behind the last unit. What cannot be read is an issue. */
export function* planDocuments(
  disk: Folders,
  place: string,
  tables: readonly [string, ...string[]],
  list: (database: ForeignDatabase, at: DatabaseAt) => Iterable<SourceUnit | Issue>,
): Generator<SourceUnit | Issue> {
  const stat = disk.stat(place)
  if (stat?.isFile() !== true) return
  const path = `${disk.root}/${place}`
  let database: ForeignDatabase | undefined
  try {
    database = openForeignDatabase(path, tables)
    if (database.tables.has(tables[0])) yield* list(database, { path, stat })
    else yield { kind: "unknown_store", severity: "note", file: place, found: `a database without ${tables[0]}` }
  } catch (error) {
    const code = errorCode(error)
    if (code === undefined) throw error
    yield { kind: "unreadable_file", severity: "fault", file: place, found: code }
  } finally {
    database?.close()
  }
}

/** The ids of most sessions. */
export const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

/**
 * Documents that a restore wrote, each in a separate file that has the id of its session for a name. Somebody may point at any
 * folder: settings that lie in one of the same name are no sessions, and their names are words, without a digit.
 */
export function* plainDocuments(disk: Folders, folder: string, ids = WITH_A_DIGIT): Generator<SourceUnit> {
  for (const { name } of disk.entries(folder)) {
    const place = folder === "" ? name : `${folder}/${name}`
    const isOwn = name.endsWith(".json") && ids.test(name.slice(0, -".json".length))
    const file = isOwn ? disk.file(place, "document") : undefined
    if (file !== undefined) yield { key: place, root: disk.root, files: [file] }
  }
}

const WITH_A_DIGIT = /^(?=.*\d)[\da-zA-Z][\w$-]{0,179}$/

export function isPlainDocument({ path }: SourceFile): boolean {
  return path.endsWith(".json")
}

/** The name of a document, which is the id of its session. */
export function documentId({ relativePath }: SourceFile): string {
  return relativePath.slice(relativePath.lastIndexOf("/") + 1, -".json".length)
}

export function withDatabase<T>(path: string, tables: readonly string[], read: (database: ForeignDatabase) => T): T {
  const database = openForeignDatabase(path, tables)
  try {
    return read(database)
  } finally {
    database.close()
  }
}

/** A cell that holds JSON, as text or as its bytes. As it is where it holds none. */
export function jsonInCell(cell: JsonValue | undefined): JsonValue {
  const text = textInCell(cell)
  const parsed = text === undefined ? undefined : parseJson(text)
  return parsed?.ok === true ? parsed.value : (cell ?? null)
}

export function textInCell(cell: JsonValue | undefined): string | undefined {
  if (typeof cell === "string") return cell
  const bytes = bytesInCell(cell)
  return bytes === undefined ? undefined : bytes.toString("utf8")
}

export function bytesInCell(cell: JsonValue | undefined): Buffer | undefined {
  const base64 = isJsonObject(cell) ? cell[BYTES_KEY] : undefined
  return typeof base64 === "string" ? Buffer.from(base64, "base64") : undefined
}

/** All keys that begin so, as a range of an index. */
export function keysFrom(prefix: string): readonly [from: string, below: string] {
  return [prefix, `${prefix.slice(0, -1)}${String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)}`]
}
