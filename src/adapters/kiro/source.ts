/**
 * Where Kiro's command line keeps sessions: since 2.x a log with a header for each, before in a database, which Amazon Q had as
 * well. The same database holds logins, in other tables; shell history lies beside the logs.
 */
import { stringifyJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import { type Folders, foldersBelow } from "../shared/folders.ts"
import {
  documentId,
  documentUnit,
  isPlainDocument,
  jsonInCell,
  PLAIN_ID,
  plainDocuments,
  planDocuments,
  textInCell,
  withDatabase,
} from "../shared/row-documents.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const DATABASE = "data.sqlite3"
const TABLES = ["conversations_v2", "conversations"] as const
const FOLDER = "documents"
const LOGS = "sessions/cli"

export function concerns(_root: string, place: string): boolean {
  return place.startsWith(DATABASE) || place === "sessions" || place === LOGS || place.startsWith(`${LOGS}/`)
}

function* plan(root: string): Generator<SourceUnit | Issue> {
  const disk = foldersBelow(root)
  const found = TABLES.flatMap((table) => [...planTable(disk, table)])
  // Of the two tables a database may have one.
  const isOther = (each: SourceUnit | Issue) => "kind" in each && each.kind === "unknown_store"
  const others = found.filter(isOther)
  yield* others.length < TABLES.length ? found.filter((each) => !isOther(each)) : found.slice(0, 1)
  for (const folder of [LOGS, ""]) yield* planLogs(disk, folder)
  yield* plainDocuments(disk, FOLDER)
  yield* disk.issues
}

function* planLogs(disk: Folders, folder: string): Generator<SourceUnit> {
  for (const { name } of disk.entries(folder)) {
    const place = folder === "" ? name : `${folder}/${name}`
    const file = UUID_LOG.test(name) ? disk.file(place, "log") : undefined
    if (file === undefined) continue
    const header = place.slice(0, -"l".length)
    const beside = disk.stat(header) === undefined ? undefined : disk.file(header, "document")
    yield { key: place, root: disk.root, files: beside === undefined ? [file] : [file, beside] }
  }
}

const UUID_LOG = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.jsonl$/

/** A directory has one conversation in the older table, and any number in the newer. */
function planTable(disk: Folders, table: (typeof TABLES)[number]): Iterable<SourceUnit | Issue> {
  return planDocuments(disk, DATABASE, [table], function* (database, at) {
    const met = new Set<string>()
    for (const row of database.rows({ table, order: ["key"] })) {
      const text = textInCell(row["value"]) ?? ""
      const id = idIn(row, text)
      if (id === undefined || !PLAIN_ID.test(id)) {
        yield { kind: "unknown_record", severity: "note", file: DATABASE, found: `a row of ${table} without an id` }
        continue
      }
      if (met.has(id)) continue
      met.add(id)
      const updated = row["updated_at"]
      const modifiedMs = typeof updated === "number" ? updated : at.stat.mtimeMs
      const mark = String(Bun.hash.xxHash64(text))
      yield documentUnit(disk.root, at, { place: `${FOLDER}/${id}.json`, sizeBytes: text.length, modifiedMs, mark })
    }
  })
}

function idIn(row: Readonly<Record<string, unknown>>, text: string): string | undefined {
  const id = row["conversation_id"]
  return typeof id === "string" ? id : /"conversation_id":\s*"([\w-]{1,100})"/.exec(text)?.[1]
}

export function assemble(file: SourceFile): string | undefined {
  if (isPlainDocument(file)) return undefined
  const id = documentId(file)
  return withDatabase(file.path, TABLES, (database) => {
    const rows = TABLES.filter((table) => database.tables.has(table)).flatMap((table) => [...database.rows({ table })])
    const row = rows.find((each) => idIn(each, textInCell(each["value"]) ?? "") === id) ?? {}
    const { value = null, ...columns } = row
    const conversation = jsonInCell(value)
    const { history = [], ...rest } = (
      typeof conversation === "object" && conversation !== null && !Array.isArray(conversation)
        ? conversation
        : { value: conversation }
    ) as Record<string, never>
    return stringifyJson({ row: columns, conversation: rest, history })
  })
}
