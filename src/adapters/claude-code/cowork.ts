/**
 * Where Claude desktop keeps the tasks of Cowork: below an account and an organisation a record `local_<id>.json`, and a folder
 * of that name with a directory of settings of Claude Code's own and an audit: the stream of all that was said. Reads names.
 *
 * The logs of Claude Code are the session. The audit holds the same messages with less, and is read where there is no log:
 * of tasks that ran in the first virtual machines. `.audit-key`, `.claude.json`, uploads and outputs are left alone.
 */
import type { Dirent } from "node:fs"
import type { Source } from "../adapter.ts"
import { below, type Folders, foldersBelow } from "../shared/folders.ts"
import { type Brand, NOBODY } from "./brands.ts"
import { addProjects, addUnit, type Found, finished, type Planning, shownEntries } from "./source.ts"

export function coworkSourceOf({ roots }: Brand): Source {
  return { roots, plan }
}

const UUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
const TASK = new RegExp(`^local_(?:${UUID}|ditto_[\\w-]{1,80})$`, "i")
/** An account, an organisation, what runs at set times; the first where somebody points at the folder above. */
const ABOVE = new RegExp(`^(?:local-agent-mode-sessions|agent|${UUID})$`, "i")
const RECORD = ".json"

export function concernsCowork(_root: string, place: string): boolean {
  return /(?:^|\/)local_[\w-]+(?:\.json$|$|\/audit\.jsonl$|\/\.claude(?:\/projects(?:\/|$)|$))|^[^/]*(?:\/[^/]*){0,2}$/.test(
    place,
  )
}

function plan(root: string): Found[] {
  const disk = foldersBelow(root)
  const planning: Planning = { disk, found: [], unfinished: [], isWalk: false, todos: new Map() }
  addTasks(planning, "")
  return finished(planning)
}

/** No links: the program makes none, and one could lead to the sessions of another client. */
function folderNames(entries: readonly Dirent[]): string[] {
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

function addTasks(planning: Planning, place: string): void {
  const entries = shownEntries(planning.disk, place)
  const records = new Set(entries.map(({ name }) => name).filter((name) => name.endsWith(RECORD)))
  for (const name of folderNames(entries)) {
    const inner = below(place, name)
    if (ABOVE.test(name)) addTasks(planning, inner)
    else if (TASK.test(name) && !addTask(planning, inner, records.delete(`${name}${RECORD}`)))
      tellEmpty(planning, inner)
  }
  for (const name of records) if (TASK.test(name.slice(0, -RECORD.length))) tellEmpty(planning, below(place, name))
}

/** It ran elsewhere, or what was said in it is gone. */
function tellEmpty({ found }: Planning, file: string): void {
  found.push({
    kind: "orphan_file",
    severity: "note",
    file,
    found: "nothing of what was said in this task is on this disk",
  })
}

/** Adds the logs of one task to the plan, or its audit log where it has none. Returns whether it added a unit. */
function addTask(all: Planning, folder: string, hasRecord: boolean): boolean {
  const planning = { ...all, task: hasRecord ? `${folder}${RECORD}` : undefined }
  const before = planning.found.length + planning.unfinished.length
  const projects = projectsOf(planning.disk, folder)
  if (projects !== undefined) addProjects(planning, projects)
  if (planning.found.length + planning.unfinished.length > before) return true
  if (!planning.disk.entries(folder).some((entry) => entry.name === AUDIT && entry.isFile())) return false
  addUnit(planning, below(folder, AUDIT), [])
  return true
}

const AUDIT = "audit.jsonl"

function projectsOf(disk: Folders, folder: string): string | undefined {
  let place = folder
  for (const name of [".claude", "projects"]) {
    if (!folderNames(disk.entries(place)).includes(name)) return undefined
    place = below(place, name)
  }
  return place
}

/** What was written for nobody goes to whom the newest task belongs. Where there is none it stays, and the program lists it for nobody. */
export function ofThisAccount(root: string): (relativePath: string) => string {
  const disk = foldersBelow(root)
  const places = idFolders(disk, "").flatMap((account) => idFolders(disk, account))
  const newest = places
    .filter((place) => place !== NOBODY)
    .map((place) => ({ place, at: disk.stat(place)?.mtimeMs ?? 0 }))
    .sort((left, right) => right.at - left.at)[0]
  return (relativePath) =>
    newest !== undefined && relativePath.startsWith(`${NOBODY}/`)
      ? `${newest.place}${relativePath.slice(NOBODY.length)}`
      : relativePath
}

function idFolders(disk: Folders, place: string): string[] {
  return folderNames(disk.entries(place))
    .filter((name) => new RegExp(`^${UUID}$`, "i").test(name))
    .map((name) => below(place, name))
}
