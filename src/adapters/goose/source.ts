/**
 * Where Goose keeps its sessions: `sessions/sessions.db` of its data. Logs, which it wrote before it had a database, lie beside
 * it and are read where the database has no such session. Settings and secrets lie in another folder.
 */
import { statSync } from "node:fs"
import type { Issue } from "../../model/report.ts"
import type { Database, Source, SourceUnit } from "../adapter.ts"
import { below, type Folders, foldersBelow } from "../shared/folders.ts"
import { placeOfFile, planRows, readRows } from "../shared/row-sessions.ts"
import { isIssue } from "../shared/walk.ts"
import { LAYOUT } from "./records.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

export const rows: Database["rows"] = async function* (unit, since) {
  yield* readRows(LAYOUT, unit, since)
}

const DATABASE = /^sessions(?:-[\w.-]+)?\.db$/
const LOG = /^([\w-]+)\.jsonl$/

function* plan(root: string): Generator<SourceUnit | Issue> {
  if (statSync(root, { throwIfNoEntry: false })?.isFile() === true) {
    const { folder, name } = placeOfFile(root)
    const disk = foldersBelow(folder)
    yield* name.endsWith(".jsonl") ? planLog(disk, name) : planRows(LAYOUT, disk, name)
    yield* disk.issues
    return
  }
  const disk = foldersBelow(root)
  for (const folder of ["sessions", ""]) yield* planFolder(disk, folder)
  yield* disk.issues
}

function* planFolder(disk: Folders, at: string): Generator<SourceUnit | Issue> {
  const names = disk.entries(at).map(({ name }) => name)
  const met = new Set<string>()
  for (const name of names.filter((each) => DATABASE.test(each)))
    for (const unit of planRows(LAYOUT, disk, below(at, name))) {
      if (!isIssue(unit) && unit.row !== undefined) met.add(unit.row.id)
      yield unit
    }
  for (const name of names) {
    const id = LOG.exec(name)?.[1]
    if (id !== undefined && !met.has(id)) yield* planLog(disk, below(at, name))
  }
}

function* planLog(disk: Folders, place: string): Generator<SourceUnit> {
  const file = disk.file(place, "log")
  if (file !== undefined) yield { key: place, root: disk.root, files: [file] }
}
