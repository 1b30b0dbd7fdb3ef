/**
 * Index of the units of a root, by file, so that a change of one file costs one stat and not a plan of the whole root.
 * Says when the index is not enough; then the root is planned. Reads names, sizes and times, and opens nothing.
 */
import { type Dirent, readdirSync, type Stats, statSync } from "node:fs"
import { join } from "node:path"
import type { SourceFile, SourceUnit } from "../../adapters/adapter.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { ImportSource } from "../import.ts"

export interface UnitIndex {
  /** The current units of these paths; undefined if the paths alone do not tell. */
  at(places: Iterable<string>): SourceUnit[] | undefined
  /**
   * Polls a root without events: returns the paths that changed. Files that were idle for long are polled in rotation.
   */
  look(nowMs: number): readonly string[] | "all"
}

/**
 * A session that was active today is likely to continue, so each poll checks the files of the last day, at most so
 * many of them.
 */
const RECENT_MS = 86_400_000
const RECENT_MAX = 100
/** Idle files are checked by every third poll, or more rarely where a poll would take over two milliseconds. */
const TURNS_MIN = 3
const RESTED_AT_ONCE = 1_000
/** Some file systems keep times by two seconds: a directory that is younger may change again without another time. */
const COARSE_MS = 2_000

/** `plannedAtMs` is when the plan that found the units began. */
export function createUnitIndex(source: ImportSource, units: readonly SourceUnit[], plannedAtMs: number): UnitIndex {
  const byPlace = new Map<string, SourceUnit>()
  for (const unit of units) for (const file of unit.files) byPlace.set(file.relativePath, unit)
  // The last entry of a database's journal commits what was written.
  const databases = [
    ...new Set(units.flatMap(({ files }) => files.filter(isDatabase).map(({ relativePath }) => relativePath))),
  ]
  let [marks, looks]: [Map<string, string> | undefined, number] = [undefined, 0]
  let folders: Set<string> | undefined
  let youngSinceMs: number | undefined

  function again(place: string): SourceUnit | undefined {
    const unit = byPlace.get(place)
    // Which sessions of a database changed is only known from its rows.
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

  /** Whether the path is a draft that an editor has already renamed over a session. */
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
      const latelyMs = Math.max(youngSinceMs, nowMs - RECENT_MS)
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

/** The modification time from which on files are checked by each poll. */
function sinceOfYoungest(units: readonly SourceUnit[]): number {
  const times = Float64Array.from(units.flatMap(({ files }) => files.map(({ modifiedMs }) => modifiedMs)))
  return times.toSorted().at(-RECENT_MAX) ?? Number.NEGATIVE_INFINITY
}

function isOther({ path, sizeBytes, modifiedMs, changedMs, inode }: SourceFile): boolean {
  const stat = statIfThere(path)
  const isSame = stat?.size === sizeBytes && stat.mtimeMs === modifiedMs && stat.ino === inode
  return !isSame || (changedMs !== undefined && stat.ctimeMs !== changedMs)
}

/** Signatures of directories, which change when a file comes or goes, and of databases with their journals. */
function marksOf(source: ImportSource, units: readonly SourceUnit[], plannedAtMs: number): Map<string, string> {
  const databases = units.flatMap(({ files }) => files.filter(isDatabase))
  const paths = databases.flatMap(({ path }) => [path, `${path}-wal`])
  const marks = new Map<string, string>()
  for (const path of [...paths, ...foldersBelow(source, "")]) {
    const changedMs = statIfThere(path)?.mtimeMs ?? 0
    // What changed while the plan ran may not be in it.
    marks.set(path, changedMs >= plannedAtMs - COARSE_MS ? "young" : markOf(path))
  }
  return marks
}

/**
 * All directories below the root: a new one may hold a new session. Links are not followed; the sweep finds what lies
 * behind them.
 */
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
    // A path that cannot be read is reported by the plan.
    if (isSystemError(error)) return undefined
    throw error
  }
}
