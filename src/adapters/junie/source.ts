/** How the sessions of Junie lie: a folder for each, with a log, and a list of all. Logins and settings lie above. */
import { readFileSync } from "node:fs"
import { isJsonObject, parseJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { RawRecord, Source, SourceUnit } from "../adapter.ts"
import { type Folders, foldersBelow, isFolder } from "../shared/folders.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const SESSIONS = "sessions"
const INDEX = `${SESSIONS}/index.jsonl`
const ID = /^(?=[\w-]*[\d-])[\da-zA-Z][\w-]{3,100}$/

export function concerns(_root: string, place: string): boolean {
  return /^sessions(?:\/(?:index\.jsonl|[^/]+(?:\/events\.jsonl)?))?$/.test(place)
}

function* plan(root: string): Generator<SourceUnit | Issue> {
  const disk = foldersBelow(root)
  const lines = indexLines(disk)
  for (const entry of disk.entries(SESSIONS)) {
    const place = `${SESSIONS}/${entry.name}/events.jsonl`
    if (!isFolder(entry) || !ID.test(entry.name) || disk.stat(place) === undefined) continue
    const file = disk.file(place, "log")
    const line = lines.get(entry.name)
    if (file !== undefined) yield { key: place, root, files: [file], ...(line === undefined ? {} : { beside: [line] }) }
  }
  yield* disk.issues
}

/** The last line of a session counts. */
function indexLines(disk: Folders): ReadonlyMap<string, RawRecord> {
  const lines = new Map<string, RawRecord>()
  const file = disk.stat(INDEX)?.isFile() === true ? disk.file(INDEX, "log") : undefined
  if (file === undefined) return lines
  for (const [at, text] of textOfIndex(file.path).split("\n").entries()) {
    const parsed = parseJson(text)
    const id = parsed.ok && isJsonObject(parsed.value) ? parsed.value["id"] : undefined
    if (typeof id === "string") lines.set(id, { form: "log", file, line: at + 1, text })
  }
  return lines
}

function textOfIndex(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    if (isSystemError(error)) return ""
    throw error
  }
}
