/**
 * Plan: the files below a root that a client's names tell apart, with their stat and nothing else. Opens no file.
 * Directories are read at once and sorted, so that the same tree is planned in the same order everywhere.
 */
import { type Dirent, readdirSync, type Stats, statSync } from "node:fs"
import { join } from "node:path"
import type { Issue } from "../../model/report.ts"
import { isOwnName } from "../../platform/own-names.ts"
import type { SourceFile, SourceForm } from "../adapter.ts"

export interface WalkRule {
  readonly form: SourceForm
  /** How many directories may lie between the root and a file. */
  readonly depthMax: number
  /** Whether a file is one of the client's, by its place below the root, with `/`. */
  readonly accepts: (place: string) => boolean
}

/**
 * A root that is not there holds nothing. What cannot be looked at is an issue, and the rest goes on. At once: a value that
 * comes alone through a generator costs as much as looking its file up.
 */
export function filesBelow(root: string, rule: WalkRule): (SourceFile | Issue)[] {
  const found: (SourceFile | Issue)[] = []
  walk({ root, rule, found }, "", new Set())
  return found
}

export function isIssue(found: object): found is Issue {
  return "severity" in found
}

interface Walk {
  readonly root: string
  readonly rule: WalkRule
  readonly found: (SourceFile | Issue)[]
}

/** `entered` holds the directories on the way down: a link that leads back to one of them would never end. */
function walk(walking: Walk, place: string, entered: ReadonlySet<string>): void {
  const { root, rule, found: all } = walking
  const entries = entriesIn(root, place)
  if (isIssue(entries)) {
    all.push(entries)
    return
  }
  for (const entry of entries) {
    const below = place === "" ? entry.name : `${place}/${entry.name}`
    const found = lookAt(root, below, entry, rule)
    if (found === undefined) continue
    if (typeof found === "object") all.push(found)
    else if (!entered.has(found)) walk(walking, below, new Set([...entered, found]))
  }
}

/** A file of the client, the identity of a directory to enter, or nothing of interest. */
function lookAt(root: string, place: string, entry: Dirent, rule: WalkRule): SourceFile | Issue | string | undefined {
  const isAccepted = rule.accepts(place)
  if (entry.isFile() && !isAccepted) return undefined
  const stat = statAt(root, place)
  if (stat === undefined || isIssue(stat)) return stat
  if (stat.isFile()) return isAccepted ? fileOf(root, place, rule.form, stat) : undefined
  const mayEnter = stat.isDirectory() && place.split("/").length <= rule.depthMax
  return mayEnter ? `${stat.dev}:${stat.ino}` : undefined
}

export function fileOf(root: string, place: string, form: SourceForm, stat: Stats): SourceFile {
  return {
    path: `${root}/${place}`,
    place,
    form,
    sizeBytes: stat.size,
    modifiedMs: stat.mtimeMs,
    changedMs: stat.ctimeMs,
    inode: stat.ino,
  }
}

function entriesIn(root: string, place: string): Dirent[] | Issue {
  try {
    const entries = readdirSync(join(root, place), { withFileTypes: true })
    return entries.filter(({ name }) => !isOwnName(name)).sort((left, right) => (left.name < right.name ? -1 : 1))
  } catch (error) {
    const code = codeOf(error)
    return place === "" && code === "ENOENT" ? [] : unreadable(place, code)
  }
}

/** Follows links. Nothing where the file went away in between. */
function statAt(root: string, place: string): Stats | Issue | undefined {
  try {
    // `join` costs more than the system call.
    return statSync(`${root}/${place}`, { throwIfNoEntry: false })
  } catch (error) {
    return unreadable(place, codeOf(error))
  }
}

function unreadable(place: string, code: string): Issue {
  return { kind: "unreadable_file", severity: "fault", file: place, found: code }
}

/** Errors of the file system have a code. Anything else is ours, and not for here. */
function codeOf(error: unknown): string {
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code
  throw error
}
