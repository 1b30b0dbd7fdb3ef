/**
 * Where Claude Code keeps its sessions. Reads names and sizes, opens nothing. Asks the disk one thing after the other: for
 * ten thousand files that takes a third of the time that as many promises take.
 *
 * Below a root only `projects/` is looked at: `.credentials.json`, `history.jsonl` (the prompts of all projects once
 * more), `todos/`, `file-history/` and a project's `memory/` are no sessions and are left alone. A root without
 * `projects/` is a folder of logs that somebody points at, and is walked whole.
 */
import { type Dirent, existsSync, readdirSync, type Stats, statSync } from "node:fs"
import { join } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Environment } from "../../platform/environment.ts"
import { isOwnName } from "../../platform/own-names.ts"
import type { Source, SourceFile, SourceForm, SourceUnit } from "../adapter.ts"
import { isAgentLog } from "./parse.ts"
import { retention } from "./retention.ts"

export const source: Source = { roots, plan, concerns, retention }

function roots(environment: Environment, home: string): readonly string[] {
  const chosen = environment["CLAUDE_CONFIG_DIR"]
  const config = environment["XDG_CONFIG_HOME"] || join(home, ".config")
  // Versions around 1.0.30 used the second place. What lies in either stays there when the variable is set later.
  const places = [...(chosen ? [chosen] : []), join(home, ".claude"), join(config, "claude")]
  return [...new Set(places)]
}

function concerns(root: string, place: string): boolean {
  return place === "projects" || place.startsWith("projects/") || !existsSync(join(root, "projects"))
}

type Found = SourceUnit | Issue

/** A project at a time: a value that comes alone through a generator costs as much as looking its file up. */
function* plan(root: string): Generator<Found> {
  const here = entriesOf(root, "")
  if (here === undefined) return
  if (!here.some(({ name }) => name === "projects")) {
    yield* unitsIn(root, "", here, true)
    return
  }
  for (const entry of entriesOf(root, "projects") ?? []) {
    const folder = `projects/${entry.name}`
    const entries = isFolder(entry) ? entriesOf(root, folder) : undefined
    if (entries !== undefined) yield* unitsIn(root, folder, entries, false)
  }
}

/** One project: its sessions, and below each the files that belong to it. */
function unitsIn(root: string, folder: string, entries: readonly Dirent[], isWalk: boolean): Found[] {
  const found: Found[] = []
  const names = entries.filter((entry) => !isFolder(entry)).map(({ name }) => name)
  const logs = names.filter((name) => name.endsWith(LOG))
  const known = new Set(names)
  const folders = new Set(entries.filter(isFolder).map(({ name }) => name))
  const stems = new Set(logs.map((name) => name.slice(0, -LOG.length)))
  for (const name of logs) {
    const stem = name.slice(0, -LOG.length)
    const place = below(folder, name)
    if (isAgentLog({ place })) {
      addUnit(found, root, [place, ...(known.has(`${stem}${META}`) ? [below(folder, `${stem}${META}`)] : [])])
      continue
    }
    addSession(found, root, place, folders.has(stem) ? walk(root, below(folder, stem)) : [])
  }
  return [...found, ...unitsBelow(root, folder, entries, { stems, isWalk })]
}

/** Folders whose session is no longer there, and those that are walked into. */
function unitsBelow(
  root: string,
  folder: string,
  entries: readonly Dirent[],
  { stems, isWalk }: { readonly stems: ReadonlySet<string>; readonly isWalk: boolean },
): Found[] {
  const found: Found[] = []
  for (const entry of entries) {
    if (!isFolder(entry) || stems.has(entry.name) || entry.name === "memory") continue
    const place = below(folder, entry.name)
    const inner = entriesOf(root, place)
    if (inner?.some(({ name }) => name === "subagents" || name === "tool-results" || name === "workflows")) {
      addSession(found, root, undefined, walk(root, place))
    } else if (isWalk && inner !== undefined) for (const each of unitsIn(root, place, inner, true)) found.push(each)
  }
  return found
}

const LOG = ".jsonl"
const META = ".meta.json"

/** A session with what lies in its folder: its agents are sessions of their own, all the rest belongs to it. */
function addSession(found: Found[], root: string, log: string | undefined, places: readonly string[]): void {
  if (log !== undefined && places.length === 0) {
    addUnit(found, root, [log])
    return
  }
  const agents = places.filter((place) => isAgentLog({ place }))
  const metas = new Set(agents.map((place) => `${place.slice(0, -LOG.length)}${META}`))
  const own = places.filter((place) => !isAgentLog({ place }) && !metas.has(place))
  if (log !== undefined) addUnit(found, root, [log, ...own])
  else {
    // The client deletes old transcripts and may leave their folders. What is not a session cannot be stored as one.
    for (const place of own)
      found.push({ kind: "orphan_file", severity: "note", file: place, found: "its session is no longer there" })
  }
  for (const agent of agents) {
    const meta = `${agent.slice(0, -LOG.length)}${META}`
    addUnit(found, root, [agent, ...(places.includes(meta) ? [meta] : [])])
  }
}

function addUnit(found: Found[], root: string, places: readonly string[]): void {
  const files: SourceFile[] = []
  for (const place of places) {
    const file = fileAt(root, place)
    if ("kind" in file) found.push(file)
    else files.push(file)
  }
  const [main] = files
  if (main !== undefined && main.place === places[0]) found.push({ key: main.place, root, files })
}

function fileAt(root: string, place: string): SourceFile | Issue {
  // `join` costs more than the system call.
  const path = `${root}/${place}`
  let stats: Stats
  try {
    stats = statSync(path)
  } catch (error) {
    return { kind: "unreadable_file", severity: "fault", file: place, found: codeOf(error) }
  }
  return {
    path,
    place,
    form: formOf(place),
    sizeBytes: stats.size,
    modifiedMs: stats.mtimeMs,
    changedMs: stats.ctimeMs,
    inode: stats.ino,
  }
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

function walk(root: string, folder: string): string[] {
  const places: string[] = []
  for (const entry of entriesOf(root, folder) ?? []) {
    const place = below(folder, entry.name)
    if (isFolder(entry)) places.push(...walk(root, place))
    else places.push(place)
  }
  return places
}

/** Sorted, so that a plan is the same every time. Hidden names are no part of a session. Nothing where no folder is. */
function entriesOf(root: string, folder: string): Dirent[] | undefined {
  try {
    const entries = readdirSync(join(root, folder), { withFileTypes: true })
    const shown = entries.filter(({ name }) => !name.startsWith(".") && !isOwnName(name))
    return shown.sort((left, right) => (left.name < right.name ? -1 : 1))
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP"].includes(codeOf(error))) return undefined
    throw error
  }
}

/** People link project folders to other disks. */
function isFolder(entry: Dirent): boolean {
  return entry.isDirectory() || (entry.isSymbolicLink() && !entry.name.includes("."))
}

function below(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown"
}
