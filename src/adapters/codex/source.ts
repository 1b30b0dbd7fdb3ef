/**
 * Where Codex keeps its threads. Reads names and sizes, and one small index for the titles of threads, which stand nowhere
 * else since 2026. `auth.json`, `config.toml`, `history.jsonl` (the prompts once more) and the SQLite files (caches of what
 * the rollouts say) are next to them and are never opened.
 */
import { type Dirent, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { isJsonObject, parseJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { RawRecord, Source, SourceFile, SourceUnit } from "../adapter.ts"
import { below, type Folders, fileOf, foldersBelow, isFolder, isShown } from "../shared/folders.ts"
import { INDEX_PLACE } from "./parse.ts"
import { nameOf, type RolloutName, rolloutName } from "./rollout-name.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const LIVE = "sessions"
const ARCHIVED = "archived_sessions"
const KEPT = [LIVE, ARCHIVED]

interface Found {
  readonly place: string
  readonly name: RolloutName
}

/** A root without the folders of the client is walked whole. */
export function concerns(root: string, place: string): boolean {
  const [top = ""] = place.split("/")
  return [LIVE, ARCHIVED, INDEX_PLACE].includes(top) || !KEPT.some((folder) => existsSync(join(root, folder)))
}

/** At once: a value that comes alone through a generator costs as much as looking its file up. */
function plan(root: string): (SourceUnit | Issue)[] {
  const disk = foldersBelow(root)
  const here = shownEntries(disk, "")
  if (here.length === 0) return [...disk.issues]
  const kept = here.filter(({ name }) => KEPT.includes(name)).map(({ name }) => name)
  const found: Found[] = []
  // A root without these folders is a folder of rollouts that somebody points at, and is walked whole.
  if (kept.length === 0) walk(disk, "", found)
  for (const folder of kept) disk.enter(folder, () => walk(disk, folder, found))
  disk.followLinks()
  const titles = titlesOf(disk)
  const planned: (SourceUnit | Issue)[] = []
  for (const [threadId, rollouts] of byThread(found))
    planThread(planned, { disk, threadId, rollouts, beside: titles.get(threadId) })
  return [...planned, ...disk.issues]
}

export function currentPath(root: string): (place: string) => string {
  const disk = foldersBelow(root)
  const found: Found[] = []
  for (const folder of KEPT) walk(disk, folder, found)
  disk.followLinks()
  const places = new Map<string, string>()
  for (const { place } of found.toSorted((left, right) => openedLast(left) - openedLast(right)))
    if (!places.has(nameOf(place))) places.set(nameOf(place), place)
  return (place) => places.get(nameOf(place)) ?? place
}

/** Of a rollout that lies live and archived it opens the live one, and says nothing of the other. */
function openedLast({ place, name }: Found): number {
  return (isArchived(place) ? 2 : 0) + (name.isCompressed ? 1 : 0)
}

export function isArchived(place: string): boolean {
  return place.startsWith(`${ARCHIVED}/`)
}

// --- One thread -------------------------------------------------------------------------------------------------------

interface Thread {
  readonly disk: Folders
  readonly threadId: string
  readonly rollouts: readonly Found[]
  readonly beside: readonly RawRecord[] | undefined
}

function planThread(planned: (SourceUnit | Issue)[], { disk, threadId, rollouts, beside }: Thread): void {
  const files: SourceFile[] = []
  for (const group of byRollout(rollouts)) {
    const [file, ...rest] = preferred(group.flatMap(({ place, name }) => disk.file(place, name.form) ?? []))
    if (file === undefined) continue
    files.push(file)
    for (const copy of rest) planned.push(secondCopy(copy, file))
  }
  if (files.length > 0)
    planned.push({ key: threadId, root: disk.root, files, ...(beside === undefined ? {} : { beside }) })
}

/**
 * Codex 0.169 opens the live one though it is the shorter, so that the rest is not said any more; and `codex archive` puts it
 * in the place of the archived one, which is gone then.
 */
function secondCopy(copy: SourceFile, read: SourceFile): Issue {
  const { relativePath: place, sizeBytes } = copy
  const isGoneOnWith = isArchived(read.relativePath) && !isArchived(place) && !place.endsWith(".zst")
  if (!isGoneOnWith || sizeBytes === read.sizeBytes)
    return { kind: "second_copy", severity: "note", file: place, found: `the same rollout as ${read.relativePath}` }
  const found = `shorter than ${read.relativePath}, which is stored; Codex resumes the shorter one, and archiving it replaces the longer`
  return { kind: "shorter_live_copy", severity: "note", file: place, found }
}

/** A rollout may lie twice for a moment: while it is compressed, or archived. The one with more in it is read. */
function preferred(files: readonly SourceFile[]): SourceFile[] {
  const rank = ({ relativePath: place }: SourceFile) => (place.endsWith(".zst") ? 0 : 1)
  return files.toSorted((left, right) => rank(right) - rank(left) || right.sizeBytes - left.sizeBytes)
}

/** In the order in which they began: each of a thread's later rollouts goes on from an earlier one. */
function byRollout(rollouts: readonly Found[]): (readonly Found[])[] {
  if (rollouts.length === 1) return [rollouts]
  const groups = new Map<string, [Found, ...Found[]]>()
  const sorted = rollouts.toSorted((left, right) => compare(orderOf(left), orderOf(right)))
  for (const rollout of sorted) {
    const key = nameOf(rollout.place)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [rollout])
    else group.push(rollout)
  }
  return [...groups.values()]
}

/** The clock of a name may jump with the time zone, so a thread's first rollout comes first by what it is called. */
function orderOf({ name, place }: Found): string {
  const isFirst = name.rolloutId === name.threadId
  return `${isFirst ? 0 : 1} ${isFirst ? name.stamp : name.rolloutId} ${place}`
}

function byThread(found: readonly Found[]): [string, Found[]][] {
  const threads = new Map<string, Found[]>()
  for (const rollout of found) {
    const thread = threads.get(rollout.name.threadId)
    if (thread === undefined) threads.set(rollout.name.threadId, [rollout])
    else thread.push(rollout)
  }
  return [...threads].sort(([, left], [, right]) => compare(left[0]?.place ?? "", right[0]?.place ?? ""))
}

function compare(left: string, right: string): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}

// --- The index of titles ----------------------------------------------------------------------------------------------

/** The lines of the index by thread. A line that names none belongs to no session. */
function titlesOf({ root, stat }: Folders): Map<string, RawRecord[]> {
  const titles = new Map<string, RawRecord[]>()
  const found = stat(INDEX_PLACE)
  if (found === undefined) return titles
  const file = fileOf(root, INDEX_PLACE, "log", found)
  for (const [index, text] of readTextOrEmpty(file.path).split("\n").entries()) {
    const parsed = parseJson(text)
    const id = parsed.ok && isJsonObject(parsed.value) ? parsed.value["id"] : undefined
    if (typeof id !== "string") continue
    const record: RawRecord = { form: "log", file, line: index + 1, text }
    const known = titles.get(id)
    if (known === undefined) titles.set(id, [record])
    else known.push(record)
  }
  return titles
}

/** An index that cannot be read names no thread. */
function readTextOrEmpty(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    if (isSystemError(error)) return ""
    throw error
  }
}

// --- Folders ------------------------------------------------------------------------------------------------

const DEPTH_MAX = 12

function walk(disk: Folders, folder: string, found: Found[], depth = 0): void {
  for (const entry of shownEntries(disk, folder)) {
    const place = below(folder, entry.name)
    const name = rolloutName(place)
    if (name !== undefined) found.push({ place, name })
    else if (isFolder(entry) && depth < DEPTH_MAX) disk.enter(place, () => walk(disk, place, found, depth + 1))
  }
}

function shownEntries(disk: Folders, folder: string): Dirent[] {
  return disk.entries(folder).filter(isShown)
}
