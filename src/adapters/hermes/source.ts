/**
 * Where Hermes keeps its sessions: `state.db` of its home, and of each profile below it. Snapshots in JSON, which it wrote
 * before it had a database, are read where no database has the session. Credentials, tokens of channels, settings and logs
 * lie beside them, and in other tables.
 */
import { statSync } from "node:fs"
import type { Issue } from "../../model/report.ts"
import type { Database, Source, SourceUnit } from "../adapter.ts"
import { below, type Folders, foldersBelow, isFolder, isShown } from "../shared/folders.ts"
import { placeOfFile, planRows, readRows } from "../shared/row-sessions.ts"
import { isIssue } from "../shared/walk.ts"
import { LAYOUT } from "./records.ts"
import { PROFILES, roots } from "./roots.ts"

export const source: Source = { roots, plan }

export const rows: Database["rows"] = async function* (unit, since) {
  yield* readRows(LAYOUT, unit, since)
}

const DATABASE = "state.db"
const SNAPSHOT = /^session_(.+)\.json$/

function* plan(root: string): Generator<SourceUnit | Issue> {
  if (statSync(root, { throwIfNoEntry: false })?.isFile() === true) {
    const { folder, name } = placeOfFile(root)
    const disk = foldersBelow(folder)
    yield* name.endsWith(".json") ? planDocument(disk, name) : planRows(LAYOUT, disk, name)
    yield* disk.issues
    return
  }
  const disk = foldersBelow(root)
  yield* planHome(disk, "")
  const profiles = disk.entries(PROFILES).filter((entry) => isShown(entry) && isFolder(entry))
  for (const { name } of profiles) yield* planHome(disk, `${PROFILES}/${name}`)
  yield* disk.issues
}

function* planHome(disk: Folders, at: string): Generator<SourceUnit | Issue> {
  const met = new Set<string>()
  const database = below(at, DATABASE)
  if (disk.stat(database) !== undefined)
    for (const unit of planRows(LAYOUT, disk, database)) {
      if (!isIssue(unit) && unit.row !== undefined) met.add(unit.row.id)
      yield unit
    }
  for (const folder of [below(at, "sessions"), ...(at === "" ? [""] : [])])
    for (const { name } of disk.entries(folder)) {
      const id = SNAPSHOT.exec(name)?.[1]
      if (id !== undefined && !met.has(id)) yield* planDocument(disk, below(folder, name))
    }
}

function* planDocument(disk: Folders, place: string): Generator<SourceUnit> {
  const file = disk.file(place, "document")
  if (file !== undefined) yield { key: place, root: disk.root, files: [file] }
}
