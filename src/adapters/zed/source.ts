/**
 * Where Zed keeps the threads of its own agent: a database with a compressed document for each. Threads of other agents that run
 * in it lie with those. Settings and logins lie elsewhere, and are never looked at.
 */
import { isJsonObject, type JsonValue, parseJson, stringifyJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import { zlib } from "../../platform/zlib.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import { foldersBelow } from "../shared/folders.ts"
import {
  bytesInCell,
  documentId,
  documentUnit,
  isPlainDocument,
  PLAIN_ID,
  plainDocuments,
  planDocuments,
  textInCell,
  withDatabase,
} from "../shared/row-documents.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const DATABASE = "threads/threads.db"
const TABLE = "threads"
const FOLDER = "documents"
/** A thread that says more of itself than a machine holds is none. */
const THREAD_BYTES_MAX = 512 << 20

export function concerns(_root: string, place: string): boolean {
  return place === "threads" || place.startsWith(DATABASE)
}

function* plan(root: string): Generator<SourceUnit | Issue> {
  const disk = foldersBelow(root)
  for (const place of [DATABASE, "threads.db"])
    yield* planDocuments(disk, place, [TABLE], function* (database, at) {
      for (const row of database.rows({ table: TABLE, columns: ["id", "updated_at"], order: ["id"] })) {
        const [id, updated] = [String(row["id"]), String(row["updated_at"])]
        if (!PLAIN_ID.test(id)) continue
        const modifiedMs = Date.parse(updated) || 0
        const sizeBytes = THREAD_BYTES
        yield documentUnit(root, at, { place: `${FOLDER}/${id}.json`, sizeBytes, modifiedMs, mark: updated })
      }
    })
  yield* plainDocuments(disk, FOLDER)
  yield* disk.issues
}

/** What a thread takes at the least: how long each is would be known by reading it. */
const THREAD_BYTES = 16_384

/** The columns of its row but for the data, what the data says but for the messages, and the messages. */
export function assemble(file: SourceFile): string | undefined {
  if (isPlainDocument(file)) return undefined
  return withDatabase(file.path, [TABLE], (database) => {
    const [row] = database.rows({ table: TABLE, where: { id: documentId(file) } })
    const { data = null, ...columns } = row ?? {}
    const thread = threadIn(data, columns["data_type"])
    if (!isJsonObject(thread)) return stringifyJson({ row: columns, data: thread })
    const { messages = [], ...rest } = thread
    return stringifyJson({ row: columns, thread: rest, messages })
  })
}

function threadIn(data: JsonValue, kind: JsonValue | undefined): JsonValue {
  const text = kind === "zstd" ? inflated(data) : textInCell(data)
  const parsed = text === undefined ? undefined : parseJson(text)
  return parsed?.ok === true ? parsed.value : data
}

function inflated(data: JsonValue): string | undefined {
  const bytes = bytesInCell(data)
  if (bytes === undefined) return undefined
  try {
    return Buffer.from(zlib().zstdDecompressSync(bytes, { maxOutputLength: THREAD_BYTES_MAX })).toString("utf8")
  } catch {
    // Damaged: the bytes are kept as they are.
    return undefined
  }
}
