/**
 * Where Claude Code keeps its sessions. Reads names and sizes, opens nothing.
 *
 * Below a root only `projects/` is looked at: `.credentials.json`, `history.jsonl` (the prompts of all projects once
 * more), `todos/`, `file-history/` and a project's `memory/` are no sessions and are left alone. A root without
 * `projects/` is a folder of logs that somebody points at, and is walked whole.
 */
import { type Dirent, existsSync } from "node:fs"
import { join } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Environment } from "../../platform/environment.ts"
import type { Source, SourceForm, SourceUnit } from "../adapter.ts"
import { type Folders, foldersBelow, isFolder, isShown } from "../shared/folders.ts"
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
  const folders = foldersBelow(root)
  const here = entriesOf(folders, "")
  if (here.some(({ name }) => name === "projects")) {
    for (const entry of entriesOf(folders, "projects").filter(isFolder)) {
      const folder = `projects/${entry.name}`
      yield* unitsIn(folders, folder, entriesOf(folders, folder), false)
    }
  } else yield* unitsIn(folders, "", here, true)
  yield* folders.issues
}

/** One project: its sessions, and below each the files that belong to it. */
function unitsIn(disk: Folders, folder: string, entries: readonly Dirent[], isWalk: boolean): Found[] {
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
      addUnit(found, disk, [place, ...(known.has(`${stem}${META}`) ? [below(folder, `${stem}${META}`)] : [])])
      continue
    }
    addSession(found, disk, place, folders.has(stem) ? walk(disk, below(folder, stem)) : [])
  }
  return [...found, ...unitsBelow(disk, folder, entries, { stems, isWalk })]
}

/** Folders whose session is no longer there, and those that are walked into. */
function unitsBelow(
  disk: Folders,
  folder: string,
  entries: readonly Dirent[],
  { stems, isWalk }: { readonly stems: ReadonlySet<string>; readonly isWalk: boolean },
): Found[] {
  const found: Found[] = []
  for (const entry of entries) {
    if (!isFolder(entry) || stems.has(entry.name) || entry.name === "memory") continue
    const place = below(folder, entry.name)
    const inner = entriesOf(disk, place)
    if (inner.some(({ name }) => name === "subagents" || name === "tool-results" || name === "workflows")) {
      addSession(found, disk, undefined, walk(disk, place))
    } else if (isWalk) for (const each of unitsIn(disk, place, inner, true)) found.push(each)
  }
  return found
}

const LOG = ".jsonl"
const META = ".meta.json"

/** A session with what lies in its folder: its agents are sessions of their own, all the rest belongs to it. */
function addSession(found: Found[], disk: Folders, log: string | undefined, places: readonly string[]): void {
  if (log !== undefined && places.length === 0) {
    addUnit(found, disk, [log])
    return
  }
  const agents = places.filter((place) => isAgentLog({ place }))
  const metas = new Set(agents.map((place) => `${place.slice(0, -LOG.length)}${META}`))
  const own = places.filter((place) => !isAgentLog({ place }) && !metas.has(place))
  if (log !== undefined) addUnit(found, disk, [log, ...own])
  else {
    // The client deletes old transcripts and may leave their folders. What is not a session cannot be stored as one.
    for (const place of own)
      found.push({ kind: "orphan_file", severity: "note", file: place, found: "its session is no longer there" })
  }
  for (const agent of agents) {
    const meta = `${agent.slice(0, -LOG.length)}${META}`
    addUnit(found, disk, [agent, ...(places.includes(meta) ? [meta] : [])])
  }
}

function addUnit(found: Found[], disk: Folders, places: readonly string[]): void {
  const files = places.flatMap((place) => disk.file(place, formOf(place)) ?? [])
  const [main] = files
  if (main !== undefined && main.place === places[0]) found.push({ key: main.place, root: disk.root, files })
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

function walk(disk: Folders, folder: string): string[] {
  const places: string[] = []
  for (const entry of entriesOf(disk, folder)) {
    const place = below(folder, entry.name)
    if (isFolder(entry)) places.push(...walk(disk, place))
    else places.push(place)
  }
  return places
}

function entriesOf(disk: Folders, folder: string): Dirent[] {
  return disk.entries(folder).filter(isShown)
}

function below(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`
}
