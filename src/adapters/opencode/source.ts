/**
 * Where opencode keeps its sessions: in its database since January 2026, in a tree of JSON files before, which stays where
 * it was. A session that is in both is read from the database, which the client went on with.
 *
 * Only named places are looked at. `auth.json`, `mcp-auth.json` and `storage/share` are next to them and are never opened.
 */
import { statSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Clock } from "../../platform/host/clock.ts"
import { errorCode } from "../../platform/system-error.ts"
import type { Database, Source, SourceFile, SourceUnit } from "../adapter.ts"
import { below, type Folders, fileOf, foldersBelow } from "../shared/folders.ts"
import { readSettings } from "../shared/settings-file.ts"
import { isIssue } from "../shared/walk.ts"
import { fieldsOf } from "../source-value.ts"
import type { Brand } from "./brands.ts"
import { lastModelIn, listSessions, readRows } from "./database.ts"
import { documentAt, documentsIn, foldersIn, planFirstTree, planTree, sessionIdOf } from "./tree.ts"

export interface OpencodeSource {
  readonly source: Source
  readonly rows: Database["rows"]
}

export function createSource(brand: Brand, clock: Clock): OpencodeSource {
  return {
    source: {
      roots: brand.roots,
      plan: async function* (root) {
        yield* planRoot({ brand, nowMs: clock.nowMs() }, root)
      },
    },
    rows: async function* (unit, since) {
      const file = unit.files.find(({ form }) => form === "database")
      if (file === undefined || unit.row === undefined) return
      yield* readRows(brand, file, unit.row, since, clock.nowMs())
    },
  }
}

export function concerns(_root: string, relativePath: string): boolean {
  return !BESIDE.test(relativePath)
}

/** What the client keeps beside its sessions, and writes to all the time. */
const BESIDE = /^(?:log|snapshot|bin)(?:\/|$)/

/** The model that the user works with: the last one in the database, or in the client's list of chosen models. */
export function lastModel({ id }: Brand, root: string): string | undefined {
  const state = join(root, "..", "..", "state", id, "model.json")
  return wished(() => modelOfDatabase(join(root, `${id}.db`))) ?? wished(() => modelOfState(state))
}

/** A wish, not a fact that anything hangs on: what cannot be read says nothing of it. */
function wished(read: () => string | undefined): string | undefined {
  try {
    return read()
  } catch (error) {
    if (errorCode(error) !== undefined) return undefined
    throw error
  }
}

function modelOfDatabase(path: string): string | undefined {
  return statSync(path, { throwIfNoEntry: false }) && lastModelIn(path)
}

function modelOfState(path: string): string | undefined {
  const { recent } = readSettings(path)
  const [first] = Array.isArray(recent) ? recent : []
  const { providerID, modelID } = fieldsOf(first)
  return typeof providerID === "string" && typeof modelID === "string" ? `${providerID}/${modelID}` : undefined
}

/** For which client it is planned, and when. */
interface Planning {
  readonly brand: Brand
  readonly nowMs: number
}

function* planRoot(planning: Planning, path: string): Generator<SourceUnit | Issue> {
  const above = foldersBelow(dirname(path))
  const isFile = above.stat(basename(path))?.isFile() === true
  const disk = isFile ? above : foldersBelow(path)
  if (isFile) yield* planFile(planning, disk, basename(path))
  else yield* planFolder(planning, disk, "")
  yield* disk.issues
}

/** One file that somebody points at: a database, or an export. */
function* planFile(planning: Planning, disk: Folders, name: string): Generator<SourceUnit | Issue> {
  if (name.endsWith(".json")) yield* planExport(disk, name)
  else yield* planDatabase(planning, disk, name)
}

/** The folder of the client, or one that somebody points at and that holds such folders somewhere below it. */
function* planFolder(planning: Planning, disk: Folders, at: string): Generator<SourceUnit | Issue> {
  const names = new Set(disk.entries(at).map(({ name }) => name))
  const databases = [...names].filter((name) => planning.brand.databases.test(name))
  if (databases.length > 0 || names.has("storage") || (names.has("project") && firstTrees(disk, at).length > 0))
    yield* planData(planning, disk, at, databases)
  else if (names.has("session") && (names.has("message") || names.has("part"))) yield* planTree(disk, at)
  else {
    for (const name of documentsIn(disk, at)) if (EXPORT.test(name)) yield* planExport(disk, below(at, name))
    for (const folder of foldersIn(disk, at)) if (!UNENTERED.test(folder)) yield* planFolder(planning, disk, folder)
  }
}

/** Names that people give to what `opencode export` prints. */
const EXPORT = /(?:^|[^a-z])ses_|opencode|export/i
const UNENTERED = /(?:^|\/)(?:node_modules|\.git|snapshot|tool-output)$/

function* planData(
  planning: Planning,
  disk: Folders,
  at: string,
  databases: readonly string[],
): Generator<SourceUnit | Issue> {
  const met = new Set<string>()
  let twice = 0
  for (const units of storesIn(planning, disk, at, databases)) {
    const ids = new Set<string>()
    for (const unit of units) {
      const id = isIssue(unit) ? undefined : sessionIdOf(unit)
      if (id !== undefined && met.has(id)) twice++
      else {
        if (id !== undefined) ids.add(id)
        yield unit
      }
    }
    for (const id of ids) met.add(id)
  }
  if (twice === 0) return
  const found = `${twice} sessions exist twice; the copy that ${planning.brand.title} continued is read`
  yield { kind: "duplicate_session", severity: "note", file: at === "" ? "storage" : at, found }
}

/** The newest way of keeping sessions comes first, and wins. */
function* storesIn(
  planning: Planning,
  disk: Folders,
  at: string,
  databases: readonly string[],
): Generator<Iterable<SourceUnit | Issue>> {
  for (const name of databases) yield planDatabase(planning, disk, below(at, name))
  const storage = below(at, "storage")
  const isFirst = isFirstTree(disk, `${storage}/session`)
  yield isFirst ? planFirstTree(disk, `${storage}/session`) : planTree(disk, storage)
  for (const tree of firstTrees(disk, at)) yield planFirstTree(disk, tree)
}

/** A folder for each directory that somebody worked in. */
function firstTrees(disk: Folders, at: string): string[] {
  const trees = foldersIn(disk, below(at, "project")).map((project) => `${project}/storage/session`)
  return trees.filter((tree) => isFirstTree(disk, tree))
}

function isFirstTree(disk: Folders, at: string): boolean {
  return documentsIn(disk, `${at}/info`).length > 0
}

function* planDatabase({ brand, nowMs }: Planning, disk: Folders, place: string): Generator<SourceUnit | Issue> {
  const { root } = disk
  const path = join(root, place)
  let listing: ReturnType<typeof listSessions>
  try {
    listing = listSessions(brand, path, nowMs)
  } catch (error) {
    const code = errorCode(error)
    if (code === undefined) throw error
    yield { kind: "unreadable_file", severity: "fault", file: place, found: code }
    return
  }
  if (listing === undefined) {
    yield {
      kind: "unknown_store",
      severity: "note",
      file: place,
      found: `a database without the tables of ${brand.title}`,
    }
    return
  }
  for (const column of listing.withheld)
    yield {
      kind: "withheld_column",
      severity: "note",
      file: place,
      found: `${column} may contain a secret and is not read`,
    }
  for (const column of listing.unknown)
    yield { kind: "unknown_column", severity: "note", file: place, found: `${column} is unknown and kept as is` }
  for (const table of listing.unknownTables) {
    const found = `the table ${table} has something about sessions, is unknown, and is not read`
    yield { kind: "unknown_table", severity: "note", file: place, found }
  }
  const stat = disk.stat(place)
  if (stat === undefined) return
  const { isAtRest } = listing
  const folder = place.slice(0, Math.max(0, place.lastIndexOf("/")))
  for (const { id, mark, share, updatedMs } of listing.sessions) {
    // A row's file is its own part of the database: what other sessions do is not a change of this one.
    const sizeBytes = Math.round(stat.size * share)
    const file: SourceFile = { ...fileOf(root, place, "database", stat), sizeBytes, modifiedMs: updatedMs }
    const diff = documentAt(disk, below(folder, `storage/session_diff/${id}.json`))
    yield {
      key: `${place}#${id}`,
      root,
      files: diff === undefined ? [file] : [file, diff],
      row: { id, mark, isAtRest },
    }
  }
}

function* planExport(disk: Folders, place: string): Generator<SourceUnit> {
  const file = documentAt(disk, place)
  if (file !== undefined) yield { key: place, root: disk.root, files: [file] }
}
