/**
 * Where Continue keeps its sessions: one document for each in `~/.continue/sessions`, and a list of them. Settings, logins,
 * keys and indexes of code lie beside that folder and are never looked at.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { isJsonObject, type JsonValue, parseJson, stringifyJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { RawRecord, Source, SourceFile, SourceUnit } from "../adapter.ts"
import { below, foldersBelow } from "../shared/folders.ts"
import { filesBelow, isIssue } from "../shared/walk.ts"
import { INDEX, INDEX_KEY } from "./documents.ts"
import { roots } from "./roots.ts"

const SESSIONS = "sessions"
const SESSION = /(?:^|\/)(?!sessions\.json$)[\w-]+\.json$/
/** In a folder that somebody points at, other documents lie as well. */
const NAMED_BY_ID = /(?:^|\/)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.json$/i
const GIVEN_DEPTH = 8

export const source: Source = { roots, plan }

export function concerns(root: string, place: string): boolean {
  return place === SESSIONS || place.startsWith(`${SESSIONS}/`) || !existsSync(join(root, SESSIONS))
}

function plan(root: string): (SourceUnit | Issue)[] {
  const isHome = existsSync(join(root, SESSIONS))
  const accepts = isHome ? isSession : (place: string) => NAMED_BY_ID.test(place)
  const found = filesBelow(root, { form: "document", depthMax: isHome ? 1 : GIVEN_DEPTH, accepts })
  const indexes = new Map<string, ReadonlyMap<string, RawRecord>>()
  return found.map((file): SourceUnit | Issue => {
    if (isIssue(file)) return file
    const { relativePath } = file
    const folder = relativePath.slice(0, relativePath.lastIndexOf("/") + 1)
    const index = indexes.get(folder) ?? entriesOf(root, `${folder}${INDEX}`)
    indexes.set(folder, index)
    const entry = index.get(relativePath.slice(folder.length, -".json".length))
    return { key: relativePath, root, files: [file], ...(entry === undefined ? {} : { beside: [entry] }) }
  })
}

function isSession(place: string): boolean {
  return place.startsWith(`${SESSIONS}/`) && SESSION.test(place)
}

/** What the list says of each session, by its id. A list that cannot be read says nothing, and the client makes it anew. */
function entriesOf(root: string, place: string): ReadonlyMap<string, RawRecord> {
  const disk = foldersBelow(root)
  const file = disk.stat(place)?.isFile() === true ? disk.file(below("", place), "document") : undefined
  const entries = new Map<string, RawRecord>()
  if (file === undefined) return entries
  for (const entry of listIn(file)) {
    const id = isJsonObject(entry) ? entry[INDEX_KEY] : undefined
    if (typeof id === "string") entries.set(id, { form: "document", file, line: 1, text: stringifyJson(entry) })
  }
  return entries
}

function listIn({ path }: SourceFile): readonly JsonValue[] {
  try {
    const parsed = parseJson(readFileSync(path, "utf8"))
    return parsed.ok && Array.isArray(parsed.value) ? parsed.value : []
  } catch (error) {
    if (isSystemError(error)) return []
    throw error
  }
}
