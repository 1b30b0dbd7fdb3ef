/**
 * Where Crush keeps sessions: a database in each project, and a list of all projects. Settings with keys lie beside both. Opened
 * read-only; a project whose folder is gone is left out.
 */
import { type JsonValue, stringifyJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import { foldersBelow } from "../shared/folders.ts"
import {
  documentId,
  documentUnit,
  isPlainDocument,
  jsonInCell,
  PLAIN_ID,
  plainDocuments,
  planDocuments,
  withDatabase,
} from "../shared/row-documents.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const TABLES = ["sessions", "messages"] as const
const FOLDER = "documents"

function* plan(root: string): Generator<SourceUnit | Issue> {
  const disk = foldersBelow(root)
  for (const place of ["crush.db", ".crush/crush.db"])
    yield* planDocuments(disk, place, TABLES, function* (database, at) {
      const counts = database.tally({
        table: "messages",
        by: "session_id",
        greatest: ["updated_at"],
        totals: ["updated_at"],
      })
      const tallies = new Map([...counts].map((each) => [each.value, each]))
      for (const row of database.rows({ table: "sessions", order: ["created_at", "id"] })) {
        const id = String(row["id"])
        const tally = tallies.get(id)
        // A call that only made a title.
        if (!PLAIN_ID.test(id) || id.startsWith("title-") || tally === undefined) continue
        const mark = stringifyJson([row, tally.count, tally.greatest[0] ?? 0, tally.totals[0] ?? 0])
        const modifiedMs = msOf(tally.greatest[0] ?? 0)
        yield documentUnit(root, at, {
          place: `${FOLDER}/${id}.json`,
          sizeBytes: tally.count * MESSAGE_BYTES,
          modifiedMs,
          mark,
        })
      }
    })
  yield* plainDocuments(disk, FOLDER)
  yield* disk.issues
}

/** What a message takes: how long each is would be known by reading it. */
const MESSAGE_BYTES = 2_048

/** Some rows count seconds, some milliseconds. */
function msOf(moment: number): number {
  return moment < 1e11 ? moment * 1000 : moment
}

export function assemble(file: SourceFile): string | undefined {
  if (isPlainDocument(file)) return undefined
  const id = documentId(file)
  return withDatabase(file.path, TABLES, (database) => {
    const [session = null] = [...database.rows({ table: "sessions", where: { id } })]
    const rows = database.rows({ table: "messages", where: { session_id: id }, order: ["created_at", "rowid"] })
    const messages = [...rows].map((row): JsonValue => ({ ...row, parts: jsonInCell(row["parts"]) }))
    return stringifyJson({ session, messages })
  })
}
