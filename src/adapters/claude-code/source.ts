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

async function* plan(root: string): AsyncGenerator<SourceUnit | Issue> {
  yield* planRoot(root)
}

function* planRoot(root: string): Generator<SourceUnit | Issue> {
  const here = entriesOf(root, "")
  if (here === undefined) return
  if (!here.some(({ name }) => name === "projects")) {
    yield* planFolder(root, "", here, true)
    return
  }
  for (const entry of entriesOf(root, "projects") ?? []) {
    const folder = `projects/${entry.name}`
    const entries = isFolder(entry) ? entriesOf(root, folder) : undefined
    if (entries !== undefined) yield* planFolder(root, folder, entries, false)
  }
}

/** One project: its sessions, and below each the files that belong to it. */
function* planFolder(
  root: string,
  folder: string,
  entries: readonly Dirent[],
  isWalk: boolean,
): Generator<SourceUnit | Issue> {
  const names = entries.filter((entry) => !isFolder(entry)).map(({ name }) => name)
  const logs = names.filter((name) => name.endsWith(LOG))
  const known = new Set(names)
  const folders = new Set(entries.filter(isFolder).map(({ name }) => name))
  const stems = new Set(logs.map((name) => name.slice(0, -LOG.length)))
  for (const name of logs) {
    const stem = name.slice(0, -LOG.length)
    const place = below(folder, name)
    if (isAgentLog({ place })) {
      yield* unitOf(root, [place, ...(known.has(`${stem}${META}`) ? [below(folder, `${stem}${META}`)] : [])])
      continue
    }
    yield* planSession(root, place, folders.has(stem) ? walk(root, below(folder, stem)) : [])
  }
  for (const entry of entries) {
    if (!isFolder(entry) || stems.has(entry.name) || entry.name === "memory") continue
    const place = below(folder, entry.name)
    const inner = entriesOf(root, place)
    if (inner?.some(({ name }) => name === "subagents" || name === "tool-results" || name === "workflows")) {
      yield* planSession(root, undefined, walk(root, place))
    } else if (isWalk && inner !== undefined) yield* planFolder(root, place, inner, true)
  }
}

const LOG = ".jsonl"
const META = ".meta.json"

/** A session with what lies in its folder: its agents are sessions of their own, all the rest belongs to it. */
function* planSession(root: string, log: string | undefined, places: readonly string[]): Generator<SourceUnit | Issue> {
  const agents = places.filter((place) => isAgentLog({ place }))
  const metas = new Set(agents.map((place) => `${place.slice(0, -LOG.length)}${META}`))
  const own = places.filter((place) => !isAgentLog({ place }) && !metas.has(place))
  if (log !== undefined) yield* unitOf(root, [log, ...own])
  else {
    // The client deletes old transcripts and may leave their folders. What is not a session cannot be stored as one.
    for (const place of own)
      yield { kind: "orphan_file", severity: "note", file: place, found: "its session is no longer there" }
  }
  for (const agent of agents) {
    const meta = `${agent.slice(0, -LOG.length)}${META}`
    yield* unitOf(root, [agent, ...(places.includes(meta) ? [meta] : [])])
  }
}

function* unitOf(root: string, places: readonly string[]): Generator<SourceUnit | Issue> {
  const files: SourceFile[] = []
  for (const place of places) {
    const file = fileAt(root, place)
    if ("kind" in file) yield file
    else files.push(file)
  }
  const [main] = files
  if (main !== undefined && main.place === places[0]) yield { key: main.place, root, files }
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
    const shown = entries.filter(({ name }) => !name.startsWith("."))
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
