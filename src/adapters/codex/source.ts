/**
 * Where Codex keeps its threads. Reads names and sizes, and one small index for the titles of threads, which stand nowhere
 * else since 2026. `auth.json`, `config.toml`, `history.jsonl` (the prompts once more) and the SQLite files (caches of what
 * the rollouts say) lie beside them and are never opened.
 */
import { type Dirent, existsSync, readdirSync, readFileSync, type Stats, statSync } from "node:fs"
import { join } from "node:path"
import { isJsonObject, parseJson } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import type { Environment } from "../../platform/environment.ts"
import type { RawRecord, Source, SourceFile, SourceUnit } from "../adapter.ts"
import { INDEX_PLACE } from "./parse.ts"
import { type RolloutName, rolloutName } from "./rollout-name.ts"

export const source: Source = { roots, plan, concerns, hasContentIds: true }

const LIVE = "sessions"
const ARCHIVED = "archived_sessions"
const KEPT = [LIVE, ARCHIVED]

function roots(environment: Environment, home: string): readonly string[] {
  const chosen = environment["CODEX_HOME"]
  return [...new Set([...(chosen ? [chosen] : []), join(home, ".codex")])]
}

interface Found {
  readonly place: string
  readonly name: RolloutName
}

/** A root without the folders of the client is walked whole. */
function concerns(root: string, place: string): boolean {
  const [top = ""] = place.split("/")
  return [LIVE, ARCHIVED, INDEX_PLACE].includes(top) || !KEPT.some((folder) => existsSync(join(root, folder)))
}

/** At once: a value that comes alone through a generator costs as much as looking its file up. */
function plan(root: string): (SourceUnit | Issue)[] {
  const here = entriesOf(root, "")
  if (here === undefined) return []
  const kept = here.filter(({ name }) => KEPT.includes(name)).map(({ name }) => name)
  const found: Found[] = []
  // A root without these folders is a folder of rollouts that somebody points at, and is walked whole.
  if (kept.length === 0) walk(root, "", here, found)
  for (const folder of kept) walk(root, folder, entriesOf(root, folder), found)
  const titles = titlesOf(root)
  const planned: (SourceUnit | Issue)[] = []
  for (const [threadId, rollouts] of byThread(found))
    planThread(planned, { root, threadId, rollouts, beside: titles.get(threadId) })
  return planned
}

// --- One thread -------------------------------------------------------------------------------------------------------

interface Thread {
  readonly root: string
  readonly threadId: string
  readonly rollouts: readonly Found[]
  readonly beside: readonly RawRecord[] | undefined
}

function planThread(planned: (SourceUnit | Issue)[], { root, threadId, rollouts, beside }: Thread): void {
  const files: SourceFile[] = []
  for (const group of byRollout(rollouts)) {
    const copies = group.map((rollout) => fileAt(root, rollout))
    const [file, ...rest] = preferred(copies.filter((copy): copy is SourceFile => !("kind" in copy)))
    for (const copy of copies) if ("kind" in copy) planned.push(copy)
    if (file !== undefined) files.push(file)
    for (const { place } of rest)
      planned.push({ kind: "second_copy", severity: "note", file: place, found: `the same rollout as ${file?.place}` })
  }
  if (files.length > 0) planned.push({ key: threadId, root, files, ...(beside === undefined ? {} : { beside }) })
}

/** A rollout may lie twice for a moment: while it is compressed, or archived. The one with more in it is read. */
function preferred(files: readonly SourceFile[]): SourceFile[] {
  const rank = ({ place }: SourceFile) => (place.endsWith(".zst") ? 0 : 1)
  return files.toSorted((left, right) => rank(right) - rank(left) || right.sizeBytes - left.sizeBytes)
}

/** In the order in which they began: each of a thread's later rollouts goes on from an earlier one. */
function byRollout(rollouts: readonly Found[]): (readonly Found[])[] {
  if (rollouts.length === 1) return [rollouts]
  const groups = new Map<string, [Found, ...Found[]]>()
  const sorted = rollouts.toSorted((left, right) => compare(orderOf(left), orderOf(right)))
  for (const rollout of sorted) {
    const { stamp, rolloutId } = rollout.name
    const key = `${stamp} ${rolloutId}`
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
function titlesOf(root: string): Map<string, RawRecord[]> {
  const titles = new Map<string, RawRecord[]>()
  const path = join(root, INDEX_PLACE)
  const stats = statOf(path)
  if (!("ino" in stats)) return titles
  const file = sourceFile(root, INDEX_PLACE, "log", stats)
  for (const [index, text] of textAt(path).split("\n").entries()) {
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
function textAt(path: string): string {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    if (codeOf(error) === "unknown") throw error
    return ""
  }
}

// --- Folders and files ------------------------------------------------------------------------------------------------

const DEPTH_MAX = 12

function walk(root: string, folder: string, entries: readonly Dirent[] | undefined, found: Found[], depth = 0): void {
  for (const entry of entries ?? []) {
    const place = folder === "" ? entry.name : `${folder}/${entry.name}`
    const name = rolloutName(place)
    if (name !== undefined) found.push({ place, name })
    else if (isFolder(entry) && depth < DEPTH_MAX) walk(root, place, entriesOf(root, place), found, depth + 1)
  }
}

/** Sorted, so that a plan is the same every time. Nothing where no folder is. */
function entriesOf(root: string, folder: string): Dirent[] | undefined {
  try {
    const entries = readdirSync(join(root, folder), { withFileTypes: true })
    return entries.filter(({ name }) => !name.startsWith(".")).sort((left, right) => compare(left.name, right.name))
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP"].includes(codeOf(error))) return undefined
    throw error
  }
}

/** People link session folders to other disks. */
function isFolder(entry: Dirent): boolean {
  return entry.isDirectory() || (entry.isSymbolicLink() && !entry.name.includes("."))
}

function fileAt(root: string, { place, name }: Found): SourceFile | Issue {
  const stats = statOf(`${root}/${place}`)
  if ("code" in stats) return { kind: "unreadable_file", severity: "fault", file: place, found: stats.code }
  return sourceFile(root, place, name.form, stats)
}

function sourceFile(root: string, place: string, form: SourceFile["form"], stats: Stats): SourceFile {
  return {
    path: `${root}/${place}`,
    place,
    form,
    sizeBytes: stats.size,
    modifiedMs: stats.mtimeMs,
    changedMs: stats.ctimeMs,
    inode: stats.ino,
  }
}

function statOf(path: string): Stats | { readonly code: string } {
  try {
    return statSync(path)
  } catch (error) {
    return { code: codeOf(error) }
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown"
}
