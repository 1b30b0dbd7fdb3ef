/**
 * Where Claude Code keeps its sessions. Reads names and sizes, opens nothing.
 *
 * Below a root only `projects/` is looked at, and in `todos/` what is named after a session: `.credentials.json`,
 * `history.jsonl` (the prompts of all projects once more), `file-history/` and a project's `memory/` are no sessions and are
 * left alone. A root without `projects/` is a folder of logs that somebody points at, and is walked whole.
 */
import { type Dirent, existsSync } from "node:fs"
import { join } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Source, SourceForm, SourceUnit } from "../adapter.ts"
import { below, type Folders, foldersBelow, isFolder, isShown } from "../shared/folders.ts"
import type { Brand } from "./brands.ts"
import { isAgentLog, isLeftOfSession } from "./opening.ts"

export function configRootSource({ roots }: Brand): Source {
  return { roots, plan }
}

export function concerns(root: string, place: string): boolean {
  return /^(?:projects|todos)(?:\/|$)/.test(place) || !existsSync(join(root, "projects"))
}

export type Found = SourceUnit | Issue

/** At once: a value that comes alone through a generator costs as much as looking its file up. */
function plan(root: string): Found[] {
  const disk = foldersBelow(root)
  const found: Found[] = []
  const here = shownEntries(disk, "")
  const isWalk = !here.some(({ name }) => name === "projects")
  const planning: Planning = { disk, found, unfinished: [], isWalk, todos: isWalk ? new Map() : todosBelow(disk) }
  if (isWalk) addUnits(planning, "", here)
  else addProjects(planning, "projects")
  return finished(planning)
}

/** All that was found, once what lies behind links was looked at, too. */
export function finished({ disk, found, unfinished }: Planning): Found[] {
  disk.followLinks()
  for (const finish of unfinished) finish()
  return [...found, ...disk.issues]
}

export function addProjects(planning: Planning, projects: string): void {
  const { disk } = planning
  for (const entry of shownEntries(disk, projects).filter(isFolder)) {
    const folder = below(projects, entry.name)
    disk.enter(folder, () => addUnits(planning, folder, shownEntries(disk, folder)))
  }
}

export interface Planning {
  readonly disk: Folders
  readonly found: Found[]
  /** Sessions of which some lies behind a link. */
  readonly unfinished: (() => void)[]
  /** Whether folders that are no session's are entered. */
  readonly isWalk: boolean
  /** Lists of things to do, which versions up to 2.0 keep beside their sessions and send to the model, by session. */
  readonly todos: ReadonlyMap<string, readonly string[]>
  /** The record of the task that the sessions belong to, where Claude desktop keeps one. */
  readonly task?: string | undefined
}

const TODOS = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-agent-[\w-]+\.json$/i
/** An empty list, which every session has. */
const NOTHING_TO_DO_BYTES = 2

function todosBelow(disk: Folders): ReadonlyMap<string, readonly string[]> {
  const todos = new Map<string, string[]>()
  for (const { name } of shownEntries(disk, "todos")) {
    const session = TODOS.exec(name)?.[1]
    if (session === undefined) continue
    const known = todos.get(session)
    if (known === undefined) todos.set(session, [below("todos", name)])
    else known.push(below("todos", name))
  }
  return todos
}

/** One project: its sessions, and below each the files that belong to it. */
function addUnits(planning: Planning, folder: string, entries: readonly Dirent[]): void {
  const files = new Set<string>()
  const folders = new Set<string>()
  for (const entry of entries) (isFolder(entry) ? folders : files).add(entry.name)
  for (const name of files) {
    if (!name.endsWith(LOG)) continue
    const stem = name.slice(0, -LOG.length)
    const place = below(folder, name)
    if (isAgentLog(name)) addUnit(planning, place, files.has(`${stem}${META}`) ? [below(folder, `${stem}${META}`)] : [])
    else if (folders.has(stem)) walkSession(planning, place, below(folder, stem))
    else addUnit(planning, place, [])
  }
  for (const name of folders) if (!files.has(`${name}${LOG}`)) addFolder(planning, below(folder, name), name)
}

/** A folder whose session is no longer there, or one that is walked into. */
function addFolder(planning: Planning, place: string, name: string): void {
  if (name === "memory") return
  planning.disk.enter(place, () => {
    const inner = shownEntries(planning.disk, place)
    if (inner.some((entry) => OF_SESSION.includes(entry.name))) walkSession(planning, undefined, place)
    else if (planning.isWalk) addUnits(planning, place, inner)
  })
}

const OF_SESSION = ["subagents", "tool-results", "workflows"]
const LOG = ".jsonl"
const META = ".meta.json"

function walkSession(planning: Planning, log: string | undefined, folder: string): void {
  const { disk, unfinished } = planning
  const places: string[] = []
  const before = disk.waited()
  disk.enter(folder, () => walk(disk, folder, places))
  if (disk.waited() === before) addSession(planning, log, folder, places)
  else unfinished.push(() => addSession(planning, log, folder, places))
}

/** A session with what lies in its folder: its agents are separate sessions, all the rest belongs to it. */
function addSession(planning: Planning, log: string | undefined, folder: string, places: readonly string[]): void {
  const agents = places.filter(isAgentLog)
  const metas = new Map(agents.map((agent) => [agent, `${agent.slice(0, -LOG.length)}${META}`]))
  const ofAgents = new Set([...metas.keys(), ...metas.values()])
  const own = places.filter((place) => !ofAgents.has(place))
  if (log !== undefined) addUnit(planning, log, own)
  else if (agents.length === 0) addLeft(planning, folder, own.toSorted())
  // Where the session is gone, what its agents' tools gave is with the first of them: they refer to it.
  const left = log === undefined ? [...own] : []
  for (const [agent, meta] of metas)
    addUnit(planning, agent, [...(places.includes(meta) ? [meta] : []), ...left.splice(0)])
}

/** The client deletes old transcripts and may leave their folders: what is left of a session is kept under its id. */
function addLeft(planning: Planning, folder: string, places: readonly string[]): void {
  const [first, ...others] = places
  if (first !== undefined && isLeftOfSession(first)) {
    addUnit(planning, first, others, folder)
    return
  }
  for (const place of places)
    planning.found.push({
      kind: "orphan_file",
      severity: "note",
      file: place,
      found: "its folder is not named as a session is",
    })
}

export function addUnit(
  { disk, found, todos, task }: Planning,
  place: string,
  beside: readonly string[],
  key = place,
): void {
  const main = disk.file(place, formOf(place))
  if (main === undefined) return
  const files = [main]
  for (const each of todos.get(place.slice(place.lastIndexOf("/") + 1, -LOG.length)) ?? []) {
    const file = disk.file(each, "text")
    if (file !== undefined && file.sizeBytes > NOTHING_TO_DO_BYTES) files.push(file)
  }
  for (const each of task === undefined || isAgentLog(place) ? beside : [...beside, task]) {
    const file = disk.file(each, formOf(each))
    if (file !== undefined) files.push(file)
  }
  found.push({ key, root: disk.root, files })
}

const FORMS: Readonly<Record<string, SourceForm>> = {
  jsonl: "log",
  json: "document",
  txt: "text",
  md: "text",
  js: "text",
  ts: "text",
  html: "text",
  csv: "text",
}

function formOf(place: string): SourceForm {
  // A tool result that looks like JSON is the text that a tool gave, and comes back letter by letter.
  const form = FORMS[place.slice(place.lastIndexOf(".") + 1)] ?? "bytes"
  return form === "document" && place.includes("/tool-results/") ? "text" : form
}

function walk(disk: Folders, folder: string, places: string[]): void {
  for (const entry of shownEntries(disk, folder)) {
    const place = below(folder, entry.name)
    if (isFolder(entry)) disk.enter(place, () => walk(disk, place, places))
    else places.push(place)
  }
}

export function shownEntries(disk: Folders, folder: string): Dirent[] {
  return disk.entries(folder).filter(isShown)
}
