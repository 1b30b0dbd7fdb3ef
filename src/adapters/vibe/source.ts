/**
 * Where Vibe keeps its sessions, below `.vibe/logs/session`: a folder with a log for each in 2.x, a document in 1.x, and since
 * 2.2x a store with generations of documents. Opens the small file of a session of the store that says which generation
 * counts, and nothing else. Keys, settings, prompts of all sessions and packages of skills lie beside them.
 */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { isJsonObject, parseJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import { isAlive } from "../../platform/process/process-mark.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { Source, SourceFile, SourceForm, SourceUnit } from "../adapter.ts"
import { below, type Folders, foldersBelow, isFolder, isShown } from "../shared/folders.ts"
import { readSettings } from "../shared/settings-file.ts"
import { CURRENT, isOldDocument } from "./records.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const LOG = "messages.jsonl"
const FACTS = "meta.json"
const STORE = "unified"
const GENERATION = /^\d{16}$/
const GIVEN_DEPTH = 8

export function concerns(root: string, place: string): boolean {
  return !/^(?:plugins|active|\.session_index)/.test(place) || !existsSync(root)
}

function plan(root: string): (SourceUnit | Issue)[] {
  const disk = foldersBelow(root)
  const units: SourceUnit[] = []
  walk(disk, "", 0, units)
  disk.followLinks()
  return [...units, ...disk.issues]
}

/** Agents of a session lie in a folder inside its own. */
function walk(disk: Folders, at: string, depth: number, units: SourceUnit[]): void {
  const entries = disk.entries(at)
  const names = new Set(entries.map(({ name }) => name))
  if (names.has(CURRENT) && names.has("generations")) {
    planStored(disk, at, units)
    return
  }
  if (names.has(LOG)) addUnit(disk, units, at, [...(names.has(FACTS) ? [FACTS] : []), LOG])
  for (const entry of entries) {
    if (!isShown(entry)) continue
    const place = below(at, entry.name)
    if (isFolder(entry)) {
      if (depth < GIVEN_DEPTH && !(depth === 0 && BESIDE.has(entry.name)))
        disk.enter(place, () => walk(disk, place, depth + 1, units))
    } else if (isOldDocument(place)) addUnit(disk, units, at, [entry.name])
  }
}

/** Packages of skills, and which processes have which session open. */
const BESIDE = new Set(["plugins", "active"])

function addUnit(disk: Folders, units: SourceUnit[], at: string, names: readonly string[]): void {
  const files = names.flatMap((name) => disk.file(below(at, name), formOf(name)) ?? [])
  const [main] = files
  if (main !== undefined) units.push({ key: main.relativePath, root: disk.root, files })
}

function formOf(name: string): SourceForm {
  return name.endsWith(".jsonl") ? "log" : "document"
}

// --- The store --------------------------------------------------------------------------------------------------------

/** The generation that counts, and all chunks: those that no generation names any more hold what was summed up. */
function planStored(disk: Folders, at: string, units: SourceUnit[]): void {
  const current = disk.file(below(at, CURRENT), "document")
  if (current === undefined) return
  const { generation, snapshot_sequence: sequence } = readSettings(current.path)
  const folders = disk.entries(below(at, "generations")).map(({ name }) => name)
  const counts = folders.findLast((name) => name === generation) ?? folders.findLast((name) => GENERATION.test(name))
  const inside = (folder: string, pattern: RegExp) =>
    disk.entries(below(at, folder)).flatMap(({ name }) => (pattern.test(name) ? [`${folder}/${name}`] : []))
  const names = [
    ...[FACTS, "scheduled-loops.json"].filter((name) => disk.stat(below(at, name)) !== undefined),
    ...(counts === undefined ? [] : inside(`generations/${counts}`, /^[\w-]+\.json$/)),
    ...inside("chunks", /^[0-9a-f]{64}\.json$/),
  ]
  const files = names.flatMap((name) => disk.file(below(at, name), "document") ?? [])
  const journal = typeof sequence === "number" ? journalBehind(disk, at, sequence) : undefined
  const unit = { key: current.relativePath, root: disk.root }
  units.push({ ...unit, files: [current, ...files, ...(journal === undefined ? [] : [journal])] })
}

/**
 * What was not settled when the client was killed. While it runs it says all that it sends to its model there, each time
 * whole, and makes a generation of it when the turn ends: a journal that somebody writes is not read.
 */
function journalBehind(disk: Folders, at: string, sequence: number): SourceFile | undefined {
  const place = below(at, `journal/${String(sequence + 1).padStart(16, "0")}.jsonl`)
  const found = disk.stat(place)
  if (found?.isFile() !== true) return undefined
  // Without it the client opens nothing, also where it says nothing.
  if (found.size === 0) return disk.file(place, "text")
  return isHeld(disk.root, at) ? undefined : disk.file(place, "log")
}

function isHeld(root: string, at: string): boolean {
  const store = at.lastIndexOf(`${STORE}/`)
  const lock = join(root, at.slice(0, Math.max(0, store)), "active", `${at.slice(at.lastIndexOf("/") + 1)}.lock.json`)
  try {
    const parsed = parseJson(readFileSync(lock, "utf8"))
    const pid = parsed.ok && isJsonObject(parsed.value) ? parsed.value["process_id"] : undefined
    return typeof pid === "number" && Number.isSafeInteger(pid) && pid > 0 && isAlive(pid)
  } catch (error) {
    if (isSystemError(error)) return false
    throw error
  }
}
