/**
 * The units of a root as a watcher last saw them, so that a change of one file costs a look at that file and not at all of
 * them. It says so when what it knows is not enough; then the whole root is planned. Reads names, sizes and times, and
 * opens nothing.
 */
import { type Dirent, readdirSync, type Stats, statSync } from "node:fs"
import { join } from "node:path"
import type { SourceFile, SourceUnit } from "../../adapters/adapter.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { ImportSource } from "../import.ts"

export interface UnitIndex {
  /** The units of these places as they lie there now; nothing where the places alone do not tell. */
  at(places: Iterable<string>): SourceUnit[] | undefined
  /** For file systems that send no events: what differs from the last look. What rested for long is looked at by turns. */
  look(nowMs: number): readonly string[] | "all"
}

/** Who went on with a session today does so again, and each look asks for it: for the youngest of them, where they are many. */
const LATELY_MS = 86_400_000
const LATELY_MAX = 100
/** The others are asked for by one of so many looks; by a rarer one where that would be more than two milliseconds. */
const TURNS_MIN = 3
const RESTED_AT_ONCE = 1_000
/** Some file systems keep times by two seconds: a directory so young may change once more without telling. */
const COARSE_MS = 2_000

/** `plannedAtMs` is when the plan that found the units began. */
export function createUnitIndex(source: ImportSource, units: readonly SourceUnit[], plannedAtMs: number): UnitIndex {
  const byPlace = new Map<string, SourceUnit>()
  for (const unit of units) for (const file of unit.files) byPlace.set(file.relativePath, unit)
  // The end of its journal is the commit of what was written.
  const databases = [
    ...new Set(units.flatMap(({ files }) => files.filter(isDatabase).map(({ relativePath }) => relativePath))),
  ]
  let [marks, looks]: [Map<string, string> | undefined, number] = [undefined, 0]
  let folders: Set<string> | undefined
  let youngSinceMs: number | undefined

  function again(place: string): SourceUnit | undefined {
    const unit = byPlace.get(place)
    // A database holds many sessions: which of them changed only its rows tell.
    if (unit === undefined || unit.row !== undefined) return undefined
    const files: SourceFile[] = []
    for (const file of unit.files) {
      const stat = statIfThere(file.path)
      if (stat?.isFile() !== true) return undefined
      files.push({ ...file, sizeBytes: stat.size, modifiedMs: stat.mtimeMs, changedMs: stat.ctimeMs, inode: stat.ino })
    }
    const now = { ...unit, files }
    for (const file of files) byPlace.set(file.relativePath, now)
    return now
  }

  /** A draft that an editor has put in place of a session is there no more, and never was a part of one. */
  function isPassing(place: string): boolean {
    if (byPlace.has(place) || statIfThere(join(source.root, place)) !== undefined) return false
    folders ??= new Set([...byPlace.keys()].flatMap(foldersAbove))
    return !folders.has(place) && databases.every((database) => !place.startsWith(database))
  }

  return {
    at: (places) => {
      const found = new Map<string, SourceUnit>()
      for (const place of places) {
        if (isPassing(place)) continue
        const unit = again(place)
        if (unit === undefined) return undefined
        found.set(unit.key, unit)
      }
      return [...found.values()]
    },
    look: (nowMs) => {
      marks ??= marksOf(source, units, plannedAtMs)
      for (const [path, mark] of marks) if (markOf(path) !== mark) return "all"
      youngSinceMs ??= sinceOfYoungest(units)
      const latelyMs = Math.max(youngSinceMs, nowMs - LATELY_MS)
      const changed: string[] = []
      const turns = Math.max(TURNS_MIN, Math.ceil(byPlace.size / RESTED_AT_ONCE))
      const turn = looks++ % turns
      let number = 0
      for (const [place, { files }] of byPlace) {
        const isItsTurn = number++ % turns === turn
        const file = files.find((each) => each.relativePath === place)
        if (file === undefined || isDatabase(file)) continue
        if (!isItsTurn && file.modifiedMs < latelyMs) continue
        if (isOther(file)) changed.push(place)
      }
      return changed
    },
  }
}

/** When the youngest that are asked for by each look begin. One that is gone on with later is among them. */
function sinceOfYoungest(units: readonly SourceUnit[]): number {
  const times = Float64Array.from(units.flatMap(({ files }) => files.map(({ modifiedMs }) => modifiedMs)))
  return times.toSorted().at(-LATELY_MAX) ?? Number.NEGATIVE_INFINITY
}

function isOther({ path, sizeBytes, modifiedMs, changedMs, inode }: SourceFile): boolean {
  const stat = statIfThere(path)
  const isSame = stat?.size === sizeBytes && stat.mtimeMs === modifiedMs && stat.ino === inode
  return !isSame || (changedMs !== undefined && stat.ctimeMs !== changedMs)
}

/** A directory changes when a file comes or goes in it, and a database with its log. */
function marksOf(source: ImportSource, units: readonly SourceUnit[], plannedAtMs: number): Map<string, string> {
  const databases = units.flatMap(({ files }) => files.filter(isDatabase))
  const paths = databases.flatMap(({ path }) => [path, `${path}-wal`])
  const marks = new Map<string, string>()
  for (const path of [...paths, ...foldersBelow(source, "")]) {
    const changedMs = statIfThere(path)?.mtimeMs ?? 0
    // What changed while the plan was made may not be in it.
    marks.set(path, changedMs >= plannedAtMs - COARSE_MS ? "young" : markOf(path))
  }
  return marks
}

/** Of a new one nothing else tells that there is a session in it. Links are not followed: what lies behind them is for the sweep. */
function foldersBelow(source: ImportSource, at: string): string[] {
  const path = join(source.root, at)
  const inner = readDirectory(path).flatMap((entry) => {
    const place = at === "" ? entry.name : `${at}/${entry.name}`
    const isOfInterest = entry.isDirectory() && source.adapter.watching?.concerns(source.root, place) !== false
    return isOfInterest ? foldersBelow(source, place) : []
  })
  return [path, ...inner]
}

function isDatabase({ form }: SourceFile): boolean {
  return form === "database"
}

function foldersAbove(place: string): string[] {
  const names = place.split("/")
  return names.slice(1).map((_, depth) => names.slice(0, depth + 1).join("/"))
}

function readDirectory(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch (error) {
    if (isSystemError(error)) return []
    throw error
  }
}

function markOf(path: string): string {
  const stat = statIfThere(path)
  return stat === undefined ? "" : `${stat.size}.${stat.mtimeMs}.${stat.ino}`
}

function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    // What may not be looked at any more is for the plan to say.
    if (isSystemError(error)) return undefined
    throw error
  }
}
