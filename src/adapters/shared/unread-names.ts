/**
 * Logs below a directory that somebody named, which no adapter's plan has: their names are none that the client gives. Nothing
 * is said of them in a client's own directory, which also has other logs than sessions.
 */
import { statSync } from "node:fs"
import { basename, dirname } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Adapter, SourceUnit } from "../adapter.ts"
import { foldersBelow } from "./folders.ts"
import { filesBelow, isIssue } from "./walk.ts"

const LOG = /\.jsonl(?:\.zst)?$/
/** Where nothing was found, one JSON document may be a session, too. */
const LOG_OR_DOCUMENT = /\.json(?:l(?:\.zst)?)?$/
const DEPTH_MAX = 8

/** Prompts and titles of all sessions once more, which clients keep beside them. */
const BESIDE = /(?:^|\/)(?:history|session_index)\.jsonl$/

export function unreadNames(
  adapter: Pick<Adapter, "title">,
  root: string,
  units: readonly SourceUnit[],
  issues: readonly Issue[],
): Issue[] {
  const told = new Set(issues.map(({ file }) => file))
  const read = new Set(
    units.flatMap(({ files, beside = [] }) => [...files, ...beside.map(({ file }) => file)].map(pathOf)),
  )
  const name = units.length === 0 ? LOG_OR_DOCUMENT : LOG
  return logsBelow(root, name).flatMap(({ path, relativePath }) => {
    if (read.has(path) || told.has(relativePath) || BESIDE.test(relativePath)) return []
    const found = `no name that ${adapter.title} gives to a session`
    return [{ kind: "unread_name", severity: "note", file: relativePath, found }]
  })
}

interface Log {
  readonly path: string
  readonly relativePath: string
}

const pathOf = ({ path }: Log) => path

/** The root may be a log itself. */
function logsBelow(root: string, name: RegExp): readonly Log[] {
  const accepts = (place: string) => name.test(place)
  if (statSync(root, { throwIfNoEntry: false })?.isFile() === true) {
    const file = accepts(root) ? foldersBelow(dirname(root)).file(basename(root), "log") : undefined
    return file === undefined ? [] : [file]
  }
  const found = filesBelow(root, { form: "log", depthMax: DEPTH_MAX, accepts })
  return found.flatMap((each) => (isIssue(each) ? [] : [each]))
}
