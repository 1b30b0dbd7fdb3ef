/**
 * Plan: what is on the disk, and what of it changed since it was last stored. Names and sizes; of files that grew also
 * the bytes before their old end, because a file can be rewritten and be longer afterwards. Writes nothing.
 */
import { existsSync, statSync } from "node:fs"
import { join } from "node:path"
import type { Adapter, SourceFile, SourceUnit } from "../../adapters/adapter.ts"
import { isAsRead, isPrefixOf, type LogPosition } from "../../adapters/shared/log-window.ts"
import type { Issue } from "../../model/report.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { SyncState, UnitMemory } from "../state/sync-state.ts"
import { createRootFingerprint } from "./root-fingerprint.ts"

export type Change = "new" | "grown" | "rewritten"

export interface PlannedUnit {
  readonly unit: SourceUnit
  readonly change: Change
  /** Of a grown unit: where to go on. */
  readonly memory: UnitMemory | undefined
  /** Of a rewritten unit: the session that it was when it was last stored. */
  readonly storedAs?: string | undefined
  /** It is read again as it was when it was last stored, because all was asked for. */
  readonly isAsStored?: boolean
  /** It was read before, does not say yet which session it is, and has not a byte more: its client has the next word. */
  readonly isNameless?: boolean
  readonly bytesToRead: number
}

export interface RootPlan {
  readonly adapter: Adapter
  readonly root: string
  readonly seen: number
  readonly unchanged: number
  readonly units: readonly PlannedUnit[]
  /** The keys of units that were there before. */
  readonly gone: readonly string[]
  /** The keys of units that were there before, and that are told under another path now. */
  readonly renamed: readonly string[]
  readonly issues: readonly Issue[]
  readonly bytesToRead: number
  /** How all of it looked; nothing where not all was seen, or where that is remembered already. */
  readonly look: string | undefined
}

export interface PlanOptions {
  /** Ignores what is remembered: everything is read again, and what is stored already stays as it is. */
  readonly isFull: boolean
  readonly signal?: AbortSignal
  /** Who knows which units changed has only these looked at. */
  readonly only?: readonly SourceUnit[] | undefined
  /** Told of each unit that is there. */
  readonly onUnit?: ((unit: SourceUnit) => void) | undefined
}

export async function planRoot(
  adapter: Adapter,
  root: string,
  state: SyncState,
  options: PlanOptions,
): Promise<RootPlan> {
  const issues: Issue[] = []
  const found: SourceUnit[] = []
  const look = createRootFingerprint()
  await forEach(options.only ?? adapter.source.plan(root), (each) => {
    if (!("files" in each)) issues.push(each)
    else {
      found.push(each)
      look.add(each)
      options.onUnit?.(each)
    }
    return options.signal?.aborted !== true
  })
  const asSeen = options.only === undefined ? look.text() : undefined
  if (!options.isFull && asSeen !== undefined && asSeen === state.look(adapter.id, root)) {
    const seen = found.length
    return {
      adapter,
      root,
      seen,
      unchanged: seen,
      units: [],
      gone: [],
      renamed: [],
      issues,
      bytesToRead: 0,
      look: undefined,
    }
  }
  const stamps = state.stamps(adapter.id, root)
  const met = new Set(found.map(({ key }) => key))
  const changed = options.isFull ? found : found.filter((unit) => stamps.get(unit.key) !== unitSignature(unit))
  const units: PlannedUnit[] = []
  for (const unit of changed) {
    if (options.signal?.aborted) break
    units.push(await planUnit(unit, state.unit(adapter.id, root, unit.key), options.isFull))
  }
  const unchanged = met.size - changed.length
  // A root that could not be listed whole, or was away at that moment, has lost nothing.
  const isListed = options.only === undefined && options.signal?.aborted !== true && existsSync(root)
  const isWhole = isListed && issues.every(({ severity }) => severity !== "fault")
  const missing = isWhole && unchanged < stamps.size ? [...stamps.keys()].filter((key) => !met.has(key)) : []
  const renamed = findRenamed(missing, found, (key) => state.unit(adapter.id, root, key))
  const bytesToRead = units.reduce((sum, unit) => sum + unit.bytesToRead, 0)
  const isTold = isWhole && met.size === found.length
  return {
    adapter,
    root,
    seen: met.size,
    unchanged,
    units,
    gone: missing.filter((key) => !renamed.has(key)),
    renamed: [...renamed],
    issues,
    bytesToRead,
    look: isTold ? asSeen : undefined,
  }
}

/** Their file lies where it lay, and another unit is read from it: of the ways that links make to one folder, one is told. */
function findRenamed(
  missing: readonly string[],
  found: readonly SourceUnit[],
  memoryOf: (key: string) => UnitMemory | undefined,
): ReadonlySet<string> {
  if (missing.length === 0) return new Set()
  const files = found.flatMap((unit) => unit.files)
  const [places, inodes] = [
    new Set(files.map(({ relativePath }) => relativePath)),
    new Set(files.map(({ inode }) => inode)),
  ]
  const isRenamed = (key: string) => {
    const [main] = Object.keys(memoryOf(key)?.files ?? {})
    // A place that is told still: of several units in one database this one is gone.
    if (main === undefined || places.has(main)) return false
    return inodes.has(inodeAt(join(found[0]?.root ?? "", main)) ?? Number.NaN)
  }
  return new Set(missing.filter(isRenamed))
}

function inodeAt(path: string): number | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })?.ino
  } catch (error) {
    if (isSystemError(error)) return undefined
    throw error
  }
}

/** Until it says no. Waiting for each of ten thousand costs as much as looking them up, where there is nothing to wait for. */
async function forEach<Item>(items: Iterable<Item> | AsyncIterable<Item>, isGoingOn: (item: Item) => boolean) {
  if (Symbol.iterator in items) {
    for (const item of items) if (!isGoingOn(item)) return
  } else {
    for await (const item of items) if (!isGoingOn(item)) return
  }
}

async function planUnit(unit: SourceUnit, memory: UnitMemory | undefined, isFull: boolean): Promise<PlannedUnit> {
  const whole = unit.files.reduce((sum, file) => sum + file.sizeBytes, 0)
  if (memory === undefined) return { unit, change: "new", memory, bytesToRead: whole }
  const changed = unit.files.filter((file) => hasChanged(file, memory))
  // A file that lies elsewhere now (archived, compressed) holds records that are stored already.
  const here = new Set(unit.files.map(({ relativePath }) => relativePath))
  const isMoved = Object.keys(memory.files).some((place) => !here.has(place))
  if (isFull || memory.session === null || isMoved || !(await everyLogGrew(changed, memory))) {
    const isAsStored = memory.stamp === unitSignature(unit)
    const isNameless = !isFull && memory.session === null && changed.length === 0 && !isMoved
    return {
      unit,
      change: "rewritten",
      memory: undefined,
      storedAs: memory.session?.id,
      isAsStored,
      isNameless,
      bytesToRead: whole,
    }
  }
  const unread = unit.files.filter(
    (file) => changed.includes(file) || !isReadToEnd(file, memory.positions[file.relativePath]),
  )
  const bytesToRead = unread.reduce(
    (sum, file) => sum + file.sizeBytes - (memory.positions[file.relativePath]?.offset ?? 0),
    0,
  )
  return { unit, change: "grown", memory, bytesToRead }
}

async function everyLogGrew(changed: readonly SourceFile[], memory: UnitMemory): Promise<boolean> {
  for (const file of changed) {
    const position = memory.positions[file.relativePath]
    if (file.form !== "log" || position === undefined) continue
    if (!(await goesOn(file, position))) return false
  }
  return true
}

async function goesOn(file: SourceFile, position: LogPosition): Promise<boolean> {
  try {
    // No longer than it was: other bytes in the same places, which its beginning and end would not tell, or only other times.
    return await (isReadToEnd(file, position) ? isAsRead(file, position) : isPrefixOf(file, position))
  } catch (error) {
    // It may not be read, or is gone by now: that is told when it is read, and what is remembered of it stays until then.
    if (isSystemError(error)) return true
    throw error
  }
}

/**
 * Changes whenever a file of the unit does, or what lies beside them. A hash: a unit may have thousands of files. A database
 * changes with every session that is in it, so there the mark of the rows speaks alone.
 */
export function unitSignature(unit: SourceUnit): string {
  let text = unit.row?.mark ?? ""
  for (const file of unit.files) {
    if (unit.row === undefined || file.form !== "database") text += `|${file.relativePath}:${fileSignature(file)}`
  }
  for (const record of unit.beside ?? []) text += `|${"text" in record ? record.text : JSON.stringify(record)}`
  return Bun.hash.xxHash64(text).toString(16)
}

/** A last line without its line feed is left where it lies until it is settled: such a log is not read to its end. */
export function isReadToEnd(file: SourceFile, position: LogPosition | undefined): boolean {
  return position === undefined || position.offset + (position.open?.bytes ?? 0) >= file.sizeBytes
}

/**
 * No program can set back when a file was last changed, as an editor or a restore of a backup does with when it was written.
 * A name that is added (a backup of links), another mode or a new disk change that too, without a new byte: then the bytes
 * are summed up once, and not parsed.
 */
export function fileSignature({ sizeBytes, modifiedMs, inode, changedMs }: SourceFile): string {
  // Most files changed when they were written, and a moment of seventeen digits takes as long to write as the file to look up.
  const modified = String(modifiedMs)
  const stat = `${sizeBytes}.${modified}.${inode}`
  if (changedMs === undefined) return stat
  return `${stat}${CHANGED}${changedMs === modifiedMs ? modified : changedMs}`
}

const CHANGED = "|"

function withoutChangeTime(stamp: string): string {
  return stamp.split(CHANGED, 1)[0] ?? ""
}

/** Stamps of earlier versions did not say when. */
function hasChanged(file: SourceFile, { files }: UnitMemory): boolean {
  const [before = "", now] = [files[file.relativePath], fileSignature(file)]
  return before !== now && !(before === withoutChangeTime(before) && before === withoutChangeTime(now))
}
