/**
 * Plan: the files below a root that a client's names tell apart, with their stat and nothing else. Opens no file.
 */
import type { Dirent } from "node:fs"
import type { Issue } from "../../model/report.ts"
import type { SourceFile, SourceForm } from "../adapter.ts"
import { below, type Folders, fileOf, foldersBelow } from "./folders.ts"

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
  const found: SourceFile[] = []
  const folders = foldersBelow(root)
  walk({ folders, rule, found }, "")
  folders.followLinks()
  return [...found, ...folders.issues]
}

export function isIssue(found: object): found is Issue {
  return "severity" in found
}

interface Walk {
  readonly folders: Folders
  readonly rule: WalkRule
  readonly found: SourceFile[]
}

function walk(walking: Walk, place: string): void {
  const { folders, rule, found: all } = walking
  for (const entry of folders.entries(place)) {
    const inner = below(place, entry.name)
    const found = lookAt(folders, inner, entry, rule)
    if (found === "folder") folders.enter(inner, () => walk(walking, inner))
    else if (found !== undefined) all.push(found)
  }
}

/** A file of the client, a folder to enter, or nothing of interest. */
function lookAt(folders: Folders, place: string, entry: Dirent, rule: WalkRule): SourceFile | "folder" | undefined {
  const isAccepted = rule.accepts(place)
  if (entry.isFile() && !isAccepted) return undefined
  const stat = folders.stat(place)
  if (stat === undefined) return undefined
  if (stat.isFile()) return isAccepted ? fileOf(folders.root, place, rule.form, stat) : undefined
  return stat.isDirectory() && place.split("/").length <= rule.depthMax ? "folder" : undefined
}
