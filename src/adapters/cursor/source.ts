/**
 * Where Cursor keeps chats: the editor all of them in one database, the command line each in a separate one, and a log of what
 * was said beside, which is read where neither has the chat. Logins and secrets are rows of the same databases and files beside:
 * keys are asked for by name, and no others.
 */
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { isJsonObject, type JsonValue, parseJson, stringifyJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import { TABS } from "../shared/chat-tabs.ts"
import { configFolders } from "../shared/editors.ts"
import { below, type Folders, foldersBelow, isFolder } from "../shared/folders.ts"
import {
  bytesInCell,
  type DatabaseAt,
  documentId,
  documentUnit,
  isPlainDocument,
  jsonInCell,
  keysFrom,
  PLAIN_ID,
  plainDocuments,
  planDocuments,
  textInCell,
  withDatabase,
} from "../shared/row-documents.ts"
import { assembleWorkspaceChat, concernsWorkspaceChats, planWorkspaceChats } from "../shared/workspace-chats.ts"
import { isTab, textIn } from "./documents.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const EDITOR_DATABASE = "globalStorage/state.vscdb"
const ROWS = "cursorDiskKV"
const [COMPOSER, BUBBLE] = ["composerData:", "bubbleId:"]
const COMPOSERS = "composers"
const CHATS = "chats"
const STORE = "store.db"
const PROJECTS = "projects"
const TRANSCRIPTS = "agent-transcripts"

export function concerns(_root: string, place: string): boolean {
  return (
    /^(?:globalStorage(?:\/state\.vscdb(?:-wal)?)?$|chats(?:\/|$)|projects(?:\/[^/]+(?:\/agent-transcripts(?:\/|$)|$)|$))/.test(
      place,
    ) || concernsWorkspaceChats(place)
  )
}

function* plan(root: string): Generator<SourceUnit | Issue> {
  const disk = foldersBelow(root)
  for (const place of [EDITOR_DATABASE, "state.vscdb"])
    yield* planDocuments(disk, place, [ROWS], (database, at) => listComposers(root, database, at))
  yield* plainDocuments(disk, COMPOSERS)
  yield* planWorkspaceChats(disk, "", { ...TABS, isBesideOthers: true })
  const met = new Set<string>()
  for (const folder of disk.entries(CHATS)) if (isFolder(folder)) yield* planChats(disk, below(CHATS, folder.name), met)
  yield* planTranscripts(disk, met)
  yield* disk.issues
}

// --- The editor ---------------------------------------------------------------------------------------------------------

/** A chat without a bubble is a draft that nobody sent. */
function* listComposers(
  root: string,
  database: Parameters<Parameters<typeof planDocuments>[3]>[0],
  at: DatabaseAt,
): Generator<SourceUnit> {
  const counts = new Map<string, number>()
  const bubbles = database.rows({ table: ROWS, columns: ["key"], range: ["key", ...keysFrom(BUBBLE)] })
  for (const { key } of bubbles) {
    const id = String(key).slice(BUBBLE.length).split(":", 1)[0] ?? ""
    counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  for (const { key, value } of database.rows({ table: ROWS, range: ["key", ...keysFrom(COMPOSER)], order: ["key"] })) {
    const id = String(key).slice(COMPOSER.length)
    const text = textInCell(value) ?? ""
    const count = counts.get(id) ?? 0
    if (!PLAIN_ID.test(id) || (count === 0 && !INLINE.test(text))) continue
    const modifiedMs = Number(
      /"lastUpdatedAt":\s*(\d{13})/.exec(text)?.[1] ?? /"createdAt":\s*(\d{13})/.exec(text)?.[1] ?? 0,
    )
    const mark = `${Bun.hash.xxHash64(text)} ${count}`
    const sizeBytes = text.length + count * BUBBLE_BYTES
    yield documentUnit(root, at, { place: `${COMPOSERS}/${id}.json`, sizeBytes, modifiedMs, mark })
  }
}

const INLINE = /"conversation":\s*\[\s*\{/
/** What a bubble has at the least. How long each is would be known by reading it. */
const BUBBLE_BYTES = 4_096

function composerText(file: SourceFile): string {
  const id = documentId(file)
  return withDatabase(file.path, [ROWS], (database) => {
    const [row] = database.rows({ table: ROWS, where: { key: `${COMPOSER}${id}` } })
    const composer = jsonInCell(row?.["value"])
    const range = ["key", ...keysFrom(`${BUBBLE}${id}:`)] as const
    const rows = [...database.rows({ table: ROWS, range, order: ["key"] })]
    const bubbles = rows.map(({ key = null, value }): JsonValue => ({ key, value: jsonInCell(value) }))
    return stringifyJson(bubbles.length === 0 ? { composer } : { composer, bubbles: inOrder(composer, bubbles) })
  })
}

/** As the chat shows them; what it does not show stands behind. */
function inOrder(composer: JsonValue, bubbles: readonly JsonValue[]): readonly JsonValue[] {
  const headers = isJsonObject(composer) ? composer["fullConversationHeadersOnly"] : undefined
  const order = new Map<string, number>()
  for (const header of Array.isArray(headers) ? (headers as readonly JsonValue[]) : [])
    order.set(textIn(header, "bubbleId") ?? "", order.size)
  const rank = (row: JsonValue) => order.get((textIn(row, "key") ?? "").split(":")[2] ?? "") ?? order.size
  return bubbles.toSorted((left, right) => rank(left) - rank(right))
}

// --- The command line -----------------------------------------------------------------------------------------------------

function* planChats(disk: Folders, folder: string, met: Set<string>): Generator<SourceUnit | Issue> {
  for (const entry of disk.entries(folder)) {
    const { name } = entry
    if (name.endsWith(".json")) continue
    const place = below(folder, name)
    if (!isFolder(entry) || !PLAIN_ID.test(name) || disk.stat(below(place, STORE)) === undefined) continue
    met.add(name)
    yield* planDocuments(disk, below(place, STORE), ["blobs", "meta"], (database, at) => {
      const meta = stringifyJson([...database.rows({ table: "meta", order: ["key"] })])
      const mark = String(Bun.hash.xxHash64(meta))
      return [
        documentUnit(disk.root, at, {
          place: `${place}.json`,
          sizeBytes: at.stat.size,
          modifiedMs: at.stat.mtimeMs,
          mark,
        }),
      ]
    })
  }
  yield* plainDocuments(disk, folder)
}

/** The key that the client makes for its blobs is no part of a chat. */
const SECRET = "blobEncryptionKey"

function chatText({ path }: SourceFile): string {
  return withDatabase(path, ["blobs", "meta"], (database) => {
    const rows = [...database.rows({ table: "meta", order: ["key"] })]
    const meta = Object.fromEntries(rows.map(({ key, value }) => [String(key), withoutSecret(metaIn(value))]))
    const blobs = [...database.rows({ table: "blobs" })].map(({ id = null, data }): JsonValue => {
      const value = jsonInCell(data)
      return isJsonObject(value) && bytesInCell(value) === undefined ? { id, value } : { id, bytes: value }
    })
    return stringifyJson({ meta, blobs })
  })
}

/** Hexadecimal digits of JSON, or the JSON itself. */
function metaIn(cell: JsonValue | undefined): JsonValue {
  const text = textInCell(cell) ?? ""
  const parsed = parseJson(/^(?:[\da-f]{2})+$/i.test(text) ? Buffer.from(text, "hex").toString("utf8") : text)
  return parsed.ok ? parsed.value : (cell ?? null)
}

function withoutSecret(meta: JsonValue): JsonValue {
  if (!isJsonObject(meta)) return meta
  return Object.fromEntries(Object.entries(meta).filter(([key]) => key !== SECRET))
}

export function assemble(file: SourceFile): string | undefined {
  if (isPlainDocument(file)) return undefined
  if (isTab(file.relativePath)) return assembleWorkspaceChat(file, TABS)
  return file.relativePath.startsWith(`${COMPOSERS}/`) ? composerText(file) : chatText(file)
}

// --- Transcripts ----------------------------------------------------------------------------------------------------------

/** A copy without results: of chats that are in no database, because they ran in another program, all that there is. */
function* planTranscripts(disk: Folders, met: ReadonlySet<string>): Generator<SourceUnit> {
  const isKnown = knownInEditor(disk.root)
  for (const project of disk.entries(PROJECTS)) {
    const folder = below(below(PROJECTS, project.name), TRANSCRIPTS)
    for (const place of isFolder(project) ? transcriptsBelow(disk, folder) : []) {
      const id = /([^/]+)\.jsonl$/.exec(place)?.[1] ?? ""
      if (!PLAIN_ID.test(id) || met.has(id) || isKnown(id)) continue
      const file = disk.file(place, "log")
      if (file !== undefined) yield { key: place, root: disk.root, files: [file] }
    }
  }
}

function transcriptsBelow(disk: Folders, folder: string): string[] {
  return disk.entries(folder).flatMap((entry) => {
    const place = below(folder, entry.name)
    if (entry.name.endsWith(".jsonl")) return [place]
    return isFolder(entry) ? transcriptsBelow(disk, place) : []
  })
}

/** Whether the editor of the same home has a chat. */
function knownInEditor(root: string): (id: string) => boolean {
  const databases = configFolders({}, dirname(root)).map((place) => join(place, "Cursor", "User", EDITOR_DATABASE))
  const path = databases.find((place) => existsSync(place))
  let known: ReadonlySet<string> | undefined
  return (id) => {
    known ??= path === undefined ? new Set() : composersIn(path)
    return known.has(id)
  }
}

function composersIn(path: string): ReadonlySet<string> {
  try {
    return withDatabase(path, [ROWS], (database) => {
      const rows = database.rows({ table: ROWS, columns: ["key"], range: ["key", ...keysFrom(COMPOSER)] })
      return new Set([...rows].map(({ key }) => String(key).slice(COMPOSER.length)))
    })
  } catch (error) {
    if (isSystemError(error)) return new Set()
    throw error
  }
}
