/**
 * Where Copilot keeps its sessions: `session-state/<id>/` with the log of events and the notes beside it; before that
 * `session-state/<id>.jsonl`, and in 2025 one document for each session. Reads names and sizes, opens nothing.
 * `config.json`, `mcp-config.json`, `mcp-oauth-config/` and `logs/` are next to them and are never opened.
 */
import type { Issue } from "../../model/report.ts"
import type { Source, SourceFile, SourceForm, SourceUnit } from "../adapter.ts"
import { below, type Folders, foldersBelow, isFolder, isShown } from "../shared/folders.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const STATE = "session-state"
const HISTORY = "history-session-state"
export const LOG = "events.jsonl"
export const WORKSPACE = "workspace.yaml"

/** The client writes its own log and locks all the time. */
export function concerns(_root: string, place: string): boolean {
  const [top, session, ...rest] = place.split("/")
  if (top === HISTORY) return session === undefined || session.endsWith(".json")
  if (top !== STATE) return false
  const name = rest.join("/")
  return name === "" || name === "checkpoints" || name === "rewind-file-snapshots" || formOf(name) !== undefined
}

function plan(root: string): (SourceUnit | Issue)[] {
  const disk = foldersBelow(root)
  const units: SourceUnit[] = []
  for (const entry of disk.entries(STATE).filter(isShown)) {
    const place = below(STATE, entry.name)
    if (entry.name.endsWith(".jsonl")) addUnit(disk, units, [disk.file(place, "log")])
    else if (isFolder(entry)) disk.enter(place, () => addUnit(disk, units, sessionFiles(disk, place)))
  }
  for (const { name } of disk.entries(HISTORY).filter(isShown))
    if (name.endsWith(".json")) addUnit(disk, units, [disk.file(below(HISTORY, name), "document")])
  disk.followLinks()
  return [...units, ...disk.issues]
}

function addUnit(disk: Folders, units: SourceUnit[], found: readonly (SourceFile | undefined)[]): void {
  const files = found.filter((file) => file !== undefined)
  const [main] = files
  if (main !== undefined) units.push({ key: main.relativePath, root: disk.root, files })
}

/** A folder without a log of events holds no session: the client does not list it either. */
function sessionFiles(disk: Folders, folder: string): SourceFile[] {
  const names = disk.entries(folder).map(({ name }) => name)
  const log = names.includes(LOG) ? disk.file(below(folder, LOG), "log") : undefined
  if (log === undefined) return []
  const places = names.flatMap((name) => {
    if (name !== "checkpoints" && name !== "rewind-file-snapshots") return [name]
    return disk.entries(below(folder, name)).map((entry) => below(name, entry.name))
  })
  const notes = places.flatMap((place) => {
    const form = place === LOG ? undefined : formOf(place)
    return (form && disk.file(below(folder, place), form)) ?? []
  })
  return [log, ...notes]
}

/** By name, below the folder of a session. What a session makes in `files/`, and its database, are not taken. */
function formOf(place: string): SourceForm | undefined {
  if (place === LOG) return "log"
  return NOTE.test(place) ? "text" : undefined
}

const NOTE = /^(?:workspace\.yaml|plan\.md|checkpoints\/[^/]+\.md|rewind-file-snapshots\/(?:index|tracking)\.json)$/
