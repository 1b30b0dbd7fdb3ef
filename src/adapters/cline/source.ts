/**
 * Where Cline and its kin keep what was said: sessions below `~/.cline/data`, tasks there and below the storage of each editor.
 * Reads names and sizes, opens nothing. Keys, settings, telemetry and shadow repositories are next to them.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import { below, type Folders, foldersBelow, isFolder, isShown } from "../shared/folders.ts"
import { readSettings } from "../shared/settings-file.ts"
import type { Brand } from "./brands.ts"
import { rootsOf } from "./roots.ts"

const MESSAGES = ".messages.json"
const COMPACTION = ".compaction.json"
/** Of a task: what its model is sent, or was called so once. */
const HISTORIES = ["api_conversation_history.json", "claude_messages.json"]
const BESIDE = ["ui_messages.json", "context_history.json", "task_metadata.json", "history_item.json"]
const GIVEN_DEPTH = 8

export function brandSource(brand: Brand): Source {
  return { roots: rootsOf(brand), plan }
}

export function concerns(root: string, place: string): boolean {
  return (
    /^(?:sessions|tasks)(?:\/|$)/.test(place) || !["sessions", "tasks"].some((name) => existsSync(join(root, name)))
  )
}

function plan(root: string): (SourceUnit | Issue)[] {
  const disk = foldersBelow(root)
  const units: SourceUnit[] = []
  const isRoot = ["sessions", "tasks"].some((name) => existsSync(join(root, name)))
  if (isRoot) for (const kind of ["sessions", "tasks"]) planKind(disk, kind, units)
  else planGiven(disk, "", 0, units)
  disk.followLinks()
  return [...units, ...disk.issues]
}

function planKind(disk: Folders, kind: string, units: SourceUnit[]): void {
  for (const folder of foldersIn(disk, kind)) disk.enter(folder, () => void planFolder(disk, folder, units))
}

function planGiven(disk: Folders, at: string, depth: number, units: SourceUnit[]): void {
  if (planFolder(disk, at, units) || depth === GIVEN_DEPTH) return
  for (const folder of foldersIn(disk, at)) disk.enter(folder, () => planGiven(disk, folder, depth + 1, units))
}

/** Whether the folder is a session or a task. */
function planFolder(disk: Folders, at: string, units: SourceUnit[]): boolean {
  const names = disk.entries(at).map(({ name }) => name)
  const sessions = names.filter((name) => name.endsWith(MESSAGES)).map((name) => name.slice(0, -MESSAGES.length))
  const histories = HISTORIES.filter((name) => names.includes(name)).slice(0, 1)
  const task = [...BESIDE.slice(-1), ...histories, ...BESIDE.slice(0, -1)].filter((name) => names.includes(name))
  if (histories.length > 0 || names.includes("ui_messages.json")) addUnit(disk, at, task, units)
  for (const id of sessions) {
    // A session and its agents lie in one folder, and it alone is described.
    const described = names.filter(
      (name) => name.endsWith(".json") && sessions.includes(name.slice(0, -".json".length)),
    )
    const own = [`${id}${MESSAGES}`, `${id}${COMPACTION}`].filter((name) => names.includes(name))
    addUnit(disk, at, [...described.slice(0, 1), ...own], units)
  }
  return sessions.length > 0 || task.length > 0
}

function addUnit(disk: Folders, at: string, names: readonly string[], units: SourceUnit[]): void {
  const files = names
    .map((name) => disk.file(below(at, name), "document"))
    .filter((file): file is SourceFile => file !== undefined)
  const key = files.find(({ relativePath }) => relativePath.endsWith(MESSAGES)) ?? files[0]
  if (key !== undefined) units.push({ key: key.relativePath, root: disk.root, files })
}

function foldersIn(disk: Folders, place: string): string[] {
  // A task that is being taken over lies in a folder that begins with a line.
  const entries = disk
    .entries(place)
    .filter((entry) => isShown(entry) && isFolder(entry) && !entry.name.startsWith("_"))
  return entries.map(({ name }) => below(place, name))
}

// --- The model of today -------------------------------------------------------------------------------------------------

/** How the newest session names the model that it went on with. The settings say it too, beside keys, and stay closed. */
export function lastModel(root: string): string | undefined {
  const described = plan(root).flatMap((unit) => ("files" in unit ? unit.files.slice(0, 1) : []))
  const sessions = described.filter(({ relativePath }) => /^sessions\/[^/]+\/[^/.]+\.json$/.test(relativePath))
  const [newest] = sessions.toSorted((left, right) => right.modifiedMs - left.modifiedMs)
  if (newest === undefined) return undefined
  const { provider, model } = readSettings(newest.path)
  return typeof provider === "string" && typeof model === "string" ? `${provider}/${model}` : undefined
}
