/**
 * Chats that an editor made of Visual Studio Code keeps in the database of each workspace, many in one value. Logins and the
 * state of extensions are other rows of the same table: values are asked for by their keys, and no others. Each chat becomes a
 * document when it is read: the chat without its list, the folder that the workspace is, and the list.
 */
import { readFileSync } from "node:fs"
import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import type { ForeignDatabase } from "../../platform/files/foreign-sqlite.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { SourceFile, SourceUnit } from "../adapter.ts"
import { below, type Folders, isFolder } from "./folders.ts"
import {
  documentId,
  documentUnit,
  isPlainDocument,
  PLAIN_ID,
  plainDocuments,
  planDocuments,
  textInCell,
  withDatabase,
} from "./row-documents.ts"

export interface WorkspaceChat {
  readonly id: string
  /** The chat without the list of what was said. */
  readonly rest: JsonObject
  readonly items: readonly JsonValue[]
}

export interface WorkspaceShape {
  readonly keys: readonly string[]
  readonly chatsOf: (value: JsonObject, workspace: string) => readonly WorkspaceChat[]
  /** The folder in which a restore writes documents. */
  readonly folder: string
  /** The editor keeps chats of another form in the same database. */
  readonly isBesideOthers?: true
}

const TABLE = "ItemTable"
const STATE = "state.vscdb"
const WORKSPACES = "workspaceStorage"

export function concernsWorkspaceChats(place: string): boolean {
  return /^(?:User\/)?(?:globalStorage|workspaceStorage)(?:\/(?:[^/]+\/)?state\.vscdb(?:-wal)?$|\/[^/]+$|$)/.test(place)
}

/** `user` is the folder with the person's storage, below the root. A chat that several workspaces have is read once. */
export function* planWorkspaceChats(disk: Folders, user: string, shape: WorkspaceShape): Generator<SourceUnit | Issue> {
  const workspaces = disk.entries(below(user, WORKSPACES)).filter(isFolder)
  const met = new Set<string>()
  for (const { name } of workspaces) yield* planState(disk, below(below(user, WORKSPACES), name), shape, met)
  yield* planState(disk, below(user, "globalStorage"), shape, met)
  yield* plainDocuments(disk, shape.folder)
}

function* planState(
  disk: Folders,
  folder: string,
  shape: WorkspaceShape,
  met: Set<string>,
): Generator<SourceUnit | Issue> {
  const place = below(folder, STATE)
  const found = planDocuments(disk, place, [TABLE], function* (database, at) {
    const { chats, damaged } = chatsIn(database, shape, workspaceName(at.path))
    for (const key of damaged)
      yield { kind: "unreadable_value", severity: "fault", file: place, found: `the value of ${key} is not JSON` }
    for (const { id, rest, items } of chats) {
      if (met.has(id)) continue
      if (!PLAIN_ID.test(id)) {
        yield { kind: "unknown_record", severity: "note", file: place, found: "a chat with an id of another form" }
        continue
      }
      met.add(id)
      const text = stringifyJson([rest, items])
      const document = { place: below(shape.folder, `${id}.json`), sizeBytes: text.length, modifiedMs: at.stat.mtimeMs }
      yield documentUnit(disk.root, at, { ...document, mark: String(Bun.hash.xxHash64(text)) })
    }
  })
  for (const each of found) if (!isOtherStore(each, shape)) yield each
}

/** An editor that keeps other chats in this database has no such table there where it never had a setting to keep. */
function isOtherStore(each: SourceUnit | Issue, { isBesideOthers }: WorkspaceShape): boolean {
  return (
    isBesideOthers === true && "kind" in each && each.kind === "unknown_store" && each.file.startsWith("globalStorage")
  )
}

export function assembleWorkspaceChat(file: SourceFile, shape: WorkspaceShape): string | undefined {
  if (isPlainDocument(file)) return undefined
  const id = documentId(file)
  const chat = withDatabase(file.path, [TABLE], (database) =>
    chatsIn(database, shape, workspaceName(file.path)).chats.find((each) => each.id === id),
  )
  return stringifyJson({ chat: chat?.rest ?? null, workspace: workspaceOf(file.path), messages: chat?.items ?? [] })
}

interface ReadState {
  readonly chats: readonly WorkspaceChat[]
  /** The keys of values that are no JSON. */
  readonly damaged: readonly string[]
}

function chatsIn(database: ForeignDatabase, { keys, chatsOf }: WorkspaceShape, workspace: string): ReadState {
  const values = keys.flatMap((key) => {
    const [row] = database.rows({ table: TABLE, columns: ["value"], where: { key } })
    return row === undefined ? [] : [{ key, parsed: parseJson(textInCell(row["value"]) ?? "") }]
  })
  return {
    chats: values.flatMap(({ parsed }) =>
      parsed.ok && isJsonObject(parsed.value) ? chatsOf(parsed.value, workspace) : [],
    ),
    damaged: values.flatMap(({ key, parsed }) => (parsed.ok ? [] : [key])),
  }
}

function workspaceName(path: string): string {
  return path.split("/").at(-2) ?? ""
}

/** The record of which folder a workspace is. */
function workspaceOf(path: string): JsonValue {
  try {
    const parsed = parseJson(readFileSync(path.replace(/[^/]+$/, "workspace.json"), "utf8"))
    return parsed.ok ? parsed.value : null
  } catch (error) {
    if (isSystemError(error)) return null
    throw error
  }
}

/** The items of a list under a key, and the object without them. */
export function listUnder(
  value: JsonValue,
  key: string,
): { items: readonly JsonValue[]; rest: JsonObject } | undefined {
  if (!isJsonObject(value)) return undefined
  const { [key]: items, ...rest } = value
  return Array.isArray(items) ? { items: items as readonly JsonValue[], rest } : undefined
}

export function idUnder(value: JsonObject, key: string): string | undefined {
  const id = value[key]
  return typeof id === "string" && id !== "" ? id : undefined
}
