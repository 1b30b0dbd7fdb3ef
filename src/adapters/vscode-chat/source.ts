/**
 * Where Visual Studio Code, and the editors that were made of it, keep chats: a file for each below the storage of its
 * workspace, and of windows without one. Keys, settings and the storage of extensions lie beside and are never looked at.
 */
import { readFileSync } from "node:fs"
import { basename } from "node:path"
import type { Issue } from "../../model/report.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { RawRecord, Source, SourceFile, SourceUnit } from "../adapter.ts"
import { below, type Folders, foldersBelow, isFolder } from "../shared/folders.ts"
import { earlyChatText, planEarlyChats, STATE } from "./early.ts"
import { replay } from "./log.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const CHAT = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\.(jsonl?)$/i
const WORKSPACES = "workspaceStorage"
const CHATS = "chatSessions"
const WITHOUT_WORKSPACE = ["emptyWindowChatSessions", "transferredChatSessions"]
const WITHOUT_FOLDER = WITHOUT_WORKSPACE.map((name) => `globalStorage/${name}`)
const CHAT_FOLDERS = new Set([CHATS, ...WITHOUT_WORKSPACE])

export function concerns(_root: string, place: string): boolean {
  return /^(?:workspaceStorage(?:\/[^/]+(?:\/chatSessions(?:\/|$)|\/workspace\.json$|$)|$)|globalStorage(?:\/|$))/.test(
    place,
  )
}

export function assemble(file: SourceFile): string | undefined {
  const { path, relativePath } = file
  if (path.endsWith(STATE)) return earlyChatText(file)
  return relativePath.endsWith(".jsonl") ? replay(readFileSync(path, "utf8")) : undefined
}

function plan(root: string): (SourceUnit | Issue)[] {
  const disk = foldersBelow(root)
  const units: SourceUnit[] = []
  const early: (SourceUnit | Issue)[] = []
  for (const entry of disk.entries(WORKSPACES)) {
    const place = below(WORKSPACES, entry.name)
    if (!isFolder(entry)) continue
    const count = units.length
    addChats(disk, below(place, CHATS), units, below(place, "workspace.json"))
    if (units.length === count) early.push(...planEarly(disk, place))
  }
  for (const place of WITHOUT_FOLDER) addChats(disk, place, units)
  // Somebody points at the storage of one workspace, or at its chats. Any other folder may hold settings and keys.
  if (units.length === 0) addChats(disk, CHATS, units, "workspace.json")
  if (units.length === 0 && CHAT_FOLDERS.has(basename(root))) addChats(disk, "", units, "workspace.json")
  return [...units, ...early, ...disk.issues]
}

function planEarly(disk: Folders, place: string): Iterable<SourceUnit | Issue> {
  const beside = recordOfFile(disk, below(place, "workspace.json"))
  return planEarlyChats(disk, place, below(place, CHATS), beside)
}

/** Of one id a log goes before a document: the editor writes on in it, and leaves the document where it is. */
function addChats(disk: Folders, folder: string, units: SourceUnit[], workspace?: string): void {
  const names = new Map<string, string>()
  for (const { name } of disk.entries(folder)) {
    const [, id, form] = CHAT.exec(name) ?? []
    if (id !== undefined && (form === "jsonl" || !names.has(id))) names.set(id, name)
  }
  if (names.size === 0) return
  const beside = workspace === undefined ? undefined : recordOfFile(disk, workspace)
  for (const name of names.values()) {
    const file = disk.file(below(folder, name), "document")
    if (file === undefined || (beside !== undefined && file.path === beside.file.path)) continue
    units.push({ key: file.relativePath, root: disk.root, files: [file], ...(beside && { beside: [beside] }) })
  }
}

/** Which folder a workspace is. */
function recordOfFile(disk: Folders, place: string): RawRecord | undefined {
  const file = disk.stat(place)?.isFile() === true ? disk.file(place, "document") : undefined
  if (file === undefined) return undefined
  try {
    return { form: "document", file, line: 1, text: readFileSync(file.path, "utf8") }
  } catch (error) {
    if (isSystemError(error)) return undefined
    throw error
  }
}
