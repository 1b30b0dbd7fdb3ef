/**
 * Where Droid keeps its sessions: `sessions/<key>/<id>.jsonl` below `.factory`, with settings beside, and in its first months
 * without a folder. Reads names and sizes, opens nothing. Credentials, settings, caches and copies of files lie beside them.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import { below, type Folders, foldersBelow, isFolder, isShown } from "../shared/folders.ts"
import { filesBelow, isIssue } from "../shared/walk.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const SESSIONS = "sessions"
const LOG = ".jsonl"
const SETTINGS = ".settings.json"
const GIVEN_DEPTH = 8

export function concerns(root: string, place: string): boolean {
  return place === SESSIONS || place.startsWith(`${SESSIONS}/`) || !existsSync(join(root, SESSIONS))
}

function plan(root: string): (SourceUnit | Issue)[] {
  if (!existsSync(join(root, SESSIONS))) return givenLogs(root)
  const disk = foldersBelow(root)
  const units = [...planFolder(disk, SESSIONS)]
  disk.followLinks()
  return [...units, ...disk.issues]
}

function planFolder(disk: Folders, folder: string): SourceUnit[] {
  const entries = disk.entries(folder)
  const names = new Set(entries.map(({ name }) => name))
  const units: SourceUnit[] = []
  for (const entry of entries) {
    const place = below(folder, entry.name)
    if (isShown(entry) && isFolder(entry)) disk.enter(place, () => units.push(...planFolder(disk, place)))
    const log = entry.name.endsWith(LOG) ? disk.file(place, "log") : undefined
    if (log === undefined) continue
    const beside = place.replace(/\.jsonl$/, SETTINGS)
    const settings = names.has(entry.name.replace(/\.jsonl$/, SETTINGS)) ? disk.file(beside, "document") : undefined
    units.push({ key: place, root: disk.root, files: settings === undefined ? [log] : [log, settings] })
  }
  return units
}

/** Logs below a directory that somebody points at. */
function givenLogs(root: string): (SourceUnit | Issue)[] {
  const files = [...filesBelow(root, { form: "log", depthMax: GIVEN_DEPTH, accepts: (place) => place.endsWith(LOG) })]
  const settings = [
    ...filesBelow(root, { form: "document", depthMax: GIVEN_DEPTH, accepts: (place) => place.endsWith(SETTINGS) }),
  ]
  const besides = new Map<string, SourceFile>()
  for (const each of settings) if (!isIssue(each)) besides.set(each.relativePath, each)
  return files.map((file) => {
    if (isIssue(file)) return file
    const beside = besides.get(file.relativePath.replace(/\.jsonl$/, SETTINGS))
    return { key: file.relativePath, root, files: beside === undefined ? [file] : [file, beside] }
  })
}
