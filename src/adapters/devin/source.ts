/** How the sessions of Devin's command line lie: rows of a database, with a transcript beside. Logins lie in other tables and files. */
import { readFileSync } from "node:fs"
import { isJsonObject, type JsonObject, parseJson, stringifyJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import { foldersBelow } from "../shared/folders.ts"
import {
  documentId,
  documentUnit,
  isPlainDocument,
  jsonInCell,
  plainDocuments,
  planDocuments,
  withDatabase,
} from "../shared/row-documents.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const DATABASE = "cli/sessions.db"
const [SESSIONS, NODES] = ["sessions", "message_nodes"] as const
const TABLES = [SESSIONS, NODES] as const
const FOLDER = "devin-sessions"
/** A word alone is none: it would be the name of a folder that clients obey. */
const SESSION_ID = /^(?=[\w-]*[\d-])[\da-zA-Z][\w-]{3,100}$/
const NODE_BYTES = 2_048

export function concerns(_root: string, place: string): boolean {
  return place === "cli" || place.startsWith(DATABASE) || place.startsWith("cli/transcripts")
}

function* plan(root: string): Generator<SourceUnit | Issue> {
  const disk = foldersBelow(root)
  for (const place of [DATABASE, "sessions.db"])
    yield* planDocuments(disk, place, TABLES, function* (database, at) {
      const nodes = database.tables.has(NODES)
        ? [...database.tally({ table: NODES, by: "session_id", greatest: ["row_id"] })]
        : []
      const counts = new Map(nodes.map(({ value, count, greatest }) => [value, `${count} ${greatest.join(" ")}`]))
      for (const row of database.rows({ table: SESSIONS, order: ["id"] })) {
        const id = String(row["id"])
        if (!SESSION_ID.test(id)) {
          yield { kind: "unknown_record", severity: "note", file: place, found: "a session with an id of another form" }
          continue
        }
        const transcript = disk.stat(`${place.replace(/sessions\.db$/, "transcripts")}/${id}.json`)
        const mark = `${stringifyJson(row)} ${counts.get(id) ?? ""} ${transcript?.mtimeMs ?? ""} ${transcript?.size ?? ""}`
        const seconds = Number(row["last_activity_at"] ?? row["created_at"] ?? 0)
        const sizeBytes = (transcript?.size ?? 0) + (Number.parseInt(counts.get(id) ?? "0", 10) + 1) * NODE_BYTES
        const modifiedMs = Math.max(seconds * 1000, transcript?.mtimeMs ?? 0)
        yield documentUnit(root, at, { place: `${FOLDER}/${id}.json`, sizeBytes, modifiedMs, mark })
      }
    })
  yield* plainDocuments(disk, FOLDER, SESSION_ID)
  yield* disk.issues
}

/** Where there is no transcript, or it has no steps, the nodes are what was said. */
export function assemble(file: SourceFile): string | undefined {
  if (isPlainDocument(file)) return undefined
  const id = documentId(file)
  return withDatabase(file.path, TABLES, (database) => {
    const [session] = database.rows({ table: SESSIONS, where: { id } })
    const rows = database.tables.has(NODES)
      ? [...database.rows({ table: NODES, where: { session_id: id }, order: ["created_at", "row_id"] })]
      : []
    const nodes = rows.map((row): JsonObject => ({ ...row, chat_message: jsonInCell(row["chat_message"]) }))
    const { steps, ...transcript } = transcriptOf(file, id)
    const { unread, ...rest } = transcript
    const messages = unread === undefined ? nodes : [...nodes, { unread }]
    const said = Array.isArray(steps) && steps.length > 0 ? { transcript: rest, nodes, messages: steps } : { messages }
    return stringifyJson({ session: session ?? null, ...said })
  })
}

function transcriptOf({ path }: SourceFile, id: string): JsonObject {
  try {
    const text = readFileSync(path.replace(/sessions\.db$/, `transcripts/${id}.json`), "utf8")
    const parsed = parseJson(text)
    // One that was cut off stands behind the nodes, so that it is counted.
    return parsed.ok && isJsonObject(parsed.value) ? parsed.value : { unread: text }
  } catch (error) {
    if (isSystemError(error)) return {}
    throw error
  }
}
