/**
 * Where Kimi keeps its sessions: `sessions/` below `.kimi-code`, and of kimi-cli below `.kimi`. Reads names and sizes, opens
 * nothing. Credentials, settings, logs and copies of files are next to them.
 */
import { closeSync, existsSync, openSync, readSync } from "node:fs"
import { join } from "node:path"
import type { Issue } from "../../model/report.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { Source, SourceFile, SourceForm, SourceUnit } from "../adapter.ts"
import { below, type Folders, foldersBelow, isFolder, isShown } from "../shared/folders.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const SESSIONS = "sessions"
const WIRE = "wire.jsonl"
const CONTEXT = /^context(?:_\d+)?\.jsonl$/
const BLOB = /^[\da-f]{64}$/
const GIVEN_DEPTH = 8

export function concerns(root: string, place: string): boolean {
  return (
    place === SESSIONS || (place.startsWith(`${SESSIONS}/`) && !BESIDE.test(place)) || !existsSync(join(root, SESSIONS))
  )
}

/** What the client writes beside its sessions all the time. */
const BESIDE = /\/(?:\.index-dirty|\.index-cache|logs|file-history|notify|cron)(?:\/|$)/

function plan(root: string): (SourceUnit | Issue)[] {
  const disk = foldersBelow(root)
  const units: SourceUnit[] = []
  if (existsSync(join(root, SESSIONS)))
    for (const project of foldersIn(disk, SESSIONS)) planProject(disk, project, units)
  else planGiven(disk, "", 0, units)
  disk.followLinks()
  return [...units, ...disk.issues]
}

function planProject(disk: Folders, project: string, units: SourceUnit[]): void {
  disk.enter(project, () => {
    for (const entry of disk.entries(project)) {
      const place = below(project, entry.name)
      if (isShown(entry) && isFolder(entry)) disk.enter(place, () => planSession(disk, place, units))
      // The first kimi-cli had no folder for a session.
      else if (entry.name.endsWith(".jsonl")) addUnit(disk, units, [[place, "log"]])
    }
  })
}

/** A folder of sessions, or of folders of them, that somebody points at. */
function planGiven(disk: Folders, at: string, depth: number, units: SourceUnit[]): void {
  if (planSession(disk, at, units) || depth === GIVEN_DEPTH) return
  for (const folder of foldersIn(disk, at)) disk.enter(folder, () => planGiven(disk, folder, depth + 1, units))
}

/** Whether the folder is a session. */
function planSession(disk: Folders, at: string, units: SourceUnit[]): boolean {
  const names = namesIn(disk, at)
  if (names.includes("agents")) {
    for (const agent of foldersIn(disk, below(at, "agents")))
      disk.enter(agent, () =>
        planAgent(disk, agent, agent.endsWith("/main") ? below(at, "state.json") : undefined, units),
      )
    return true
  }
  if (!names.some((name) => CONTEXT.test(name))) return false
  planOldSession(disk, at, names, units)
  const agents = names.includes("subagents") ? foldersIn(disk, below(at, "subagents")) : []
  for (const agent of agents) disk.enter(agent, () => planOldSession(disk, agent, namesIn(disk, agent), units))
  return true
}

/** What the client says of a session comes first: it names the directory. */
function planAgent(disk: Folders, at: string, state: string | undefined, units: SourceUnit[]): void {
  const names = namesIn(disk, at)
  if (!names.includes(WIRE)) return
  const blobs = names.includes("blobs") ? namesIn(disk, below(at, "blobs")).filter((name) => BLOB.test(name)) : []
  const plans = names.includes("plans") ? namesIn(disk, below(at, "plans")).filter((name) => name.endsWith(".md")) : []
  addUnit(disk, units, [
    ...(state !== undefined && disk.stat(state) !== undefined ? [[state, "document"] as const] : []),
    [below(at, WIRE), "log"],
    ...blobs.map((name) => [below(at, `blobs/${name}`), "bytes"] as const),
    ...plans.map((name) => [below(at, `plans/${name}`), "text"] as const),
  ])
}

/** What was shown, which has the times; what it sends its model now; what it sent before. */
function planOldSession(disk: Folders, at: string, names: readonly string[], units: SourceUnit[]): void {
  const contexts = names.filter((name) => CONTEXT.test(name))
  if (contexts.length === 0) return
  const [wire, ...others] = [WIRE, "state.json", "meta.json"].map((name) => (names.includes(name) ? [name] : []))
  // The plain name sorts before those with numbers.
  const places = [...(wire ?? []), ...contexts, ...others.flat()].map((name) => below(at, name))
  addUnit(
    disk,
    units,
    places.map((place) => [place, place.endsWith(".json") ? "document" : "log"]),
  )
}

function addUnit(disk: Folders, units: SourceUnit[], places: readonly (readonly [string, SourceForm])[]): void {
  const files = places
    .map(([place, form]) => disk.file(place, form))
    .filter((file): file is SourceFile => file !== undefined)
  const log = files.find(({ form }) => form === "log")
  if (log !== undefined) units.push({ key: log.relativePath, root: disk.root, files })
}

function foldersIn(disk: Folders, place: string): string[] {
  const entries = disk.entries(place).filter((entry) => isShown(entry) && isFolder(entry))
  return entries.map(({ name }) => below(place, name))
}

function namesIn(disk: Folders, place: string): string[] {
  return disk.entries(place).map(({ name }) => name)
}

// --- The model of today -------------------------------------------------------------------------------------------------

/** How the newest session names the model that it goes on with. The settings say it too, beside keys, and stay closed. */
export function lastModel(root: string): string | undefined {
  const mains = plan(root).flatMap((unit) =>
    "files" in unit && unit.key.endsWith("/agents/main/wire.jsonl") ? unit.files : [],
  )
  const logs = mains.filter(({ form }) => form === "log").toSorted((left, right) => right.modifiedMs - left.modifiedMs)
  return logs[0] === undefined ? undefined : modelIn(logs[0].path)
}

/** It is bound when a session begins. Behind that stand the descriptions of all tools. */
const OPENING_BYTES = 65_536

function modelIn(path: string): string | undefined {
  let file: number | undefined
  try {
    file = openSync(path, "r")
    const opening = Buffer.alloc(OPENING_BYTES)
    const text = opening.toString("utf8", 0, readSync(file, opening))
    return /"modelAlias":"([^"\\]+)"/.exec(text)?.[1]
  } catch (error) {
    if (isSystemError(error)) return undefined
    throw error
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
