/**
 * Chats of before version 1.93, which were one value in the database of a workspace. The editor writes them into files when it
 * opens the workspace again, so they are left where it never did: each is read as the file that it would have become.
 */
import { isJsonObject, type JsonValue, parseJson, stringifyJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import type { ForeignDatabase } from "../../platform/files/foreign-sqlite.ts"
import type { RawRecord, SourceFile, SourceUnit } from "../adapter.ts"
import { below, type Folders } from "../shared/folders.ts"
import { documentId, documentUnit, planDocuments, textInCell, UUID, withDatabase } from "../shared/row-documents.ts"

export const STATE = "state.vscdb"
const TABLE = "ItemTable"
const KEY = "interactive.sessions"
/** Version 1.93 is of September 2024. A database that was written later belongs to an editor that writes files, and is not opened. */
const LAST_MS = Date.UTC(2025, 0, 1)

export function* planEarlyChats(
  disk: Folders,
  workspace: string,
  folder: string,
  beside: RawRecord | undefined,
): Generator<SourceUnit | Issue> {
  const place = below(workspace, STATE)
  const stat = disk.stat(place)
  if (stat === undefined || stat.mtimeMs > LAST_MS) return
  const found = planDocuments(disk, place, [TABLE], function* (database, at) {
    for (const [id, chat] of chatsIn(database)) {
      const text = stringifyJson(chat)
      const document = { place: below(folder, `${id}.json`), sizeBytes: text.length, modifiedMs: at.stat.mtimeMs }
      const unit = documentUnit(disk.root, at, { ...document, mark: String(Bun.hash.xxHash64(text)) })
      yield beside === undefined ? unit : { ...unit, beside: [beside] }
    }
  })
  for (const each of found) if (!("kind" in each) || each.kind !== "unknown_store") yield each
}

export function earlyChatText(file: SourceFile): string {
  return withDatabase(file.path, [TABLE], (database) => stringifyJson(chatsIn(database).get(documentId(file)) ?? null))
}

/** A list, or an object that has each under its id. One without a request was never sent. */
function chatsIn(database: ForeignDatabase): ReadonlyMap<string, JsonValue> {
  const [row] = database.rows({ table: TABLE, columns: ["value"], where: { key: KEY } })
  const parsed = parseJson(textInCell(row?.["value"]) ?? "null")
  const value = parsed.ok ? parsed.value : null
  const all = Array.isArray(value) ? (value as readonly JsonValue[]) : Object.values(isJsonObject(value) ? value : {})
  return new Map(
    all.flatMap((chat): [string, JsonValue][] => {
      const { sessionId: id, requests } = isJsonObject(chat) ? chat : {}
      const isSent = Array.isArray(requests) && requests.length > 0
      return typeof id === "string" && UUID.test(id) && isSent ? [[id, chat as JsonValue]] : []
    }),
  )
}
