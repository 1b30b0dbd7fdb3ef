/**
 * Sources whose files lie wherever somebody put them: named with `--path`, one file under any name, or a folder, of which only
 * names that say what they are are taken. Which of the files that people point at is one of this source is told by how it begins.
 */
import { closeSync, openSync, readSync, statSync } from "node:fs"
import { basename, dirname } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Source, SourceFile, SourceForm, SourceUnit } from "../adapter.ts"
import { foldersBelow } from "./folders.ts"
import { filesBelow, isIssue } from "./walk.ts"

export interface PointedShape {
  /** Places below a folder. Other files of the folder are not opened. */
  readonly names: RegExp
  /** How many directories may lie between the folder and a file. */
  readonly depthMax?: number
  /** What stands in the first 64 KiB of a file that somebody points at. */
  readonly opening: RegExp
  readonly formOf: (opening: string) => SourceForm
  /** A file of another name is stored under its stem with this ending, by form. */
  readonly endingOf: (form: SourceForm) => string
}

const DEPTH_MAX = 8
const OPENING_BYTES = 1 << 16
const STEM_LENGTH_MAX = 80

export function pointedSource(shape: PointedShape): Source {
  return {
    roots: () => [],
    plan: (root) => planPointed(root, shape),
    isOwn: (path) => shape.opening.test(openingOf(path)),
  }
}

function planPointed(root: string, shape: PointedShape): (SourceUnit | Issue)[] {
  if (statSync(root, { throwIfNoEntry: false })?.isFile() === true) return planFile(root, shape)
  const { names, depthMax = DEPTH_MAX } = shape
  const found = filesBelow(root, { form: "log", depthMax, accepts: (place) => names.test(place) })
  return found.map((file) => {
    if (isIssue(file)) return file
    return pointedUnit(root, { ...file, form: shape.formOf(openingOf(file.path)) })
  })
}

function planFile(path: string, shape: PointedShape): SourceUnit[] {
  const opening = openingOf(path)
  if (!shape.opening.test(opening)) return []
  const disk = foldersBelow(dirname(path))
  const file = disk.file(basename(path), shape.formOf(opening))
  return file === undefined ? [] : [pointedUnit(disk.root, named(file, shape))]
}

function pointedUnit(root: string, file: SourceFile): SourceUnit {
  return { key: file.relativePath, root, files: [file] }
}

/** A restore writes names of known forms alone. */
function named(file: SourceFile, { names, endingOf }: PointedShape): SourceFile {
  if (names.test(file.relativePath)) return file
  const stem = file.relativePath
    .replace(/\.\w{1,8}$/, "")
    .replaceAll(/[^\w-]/g, "-")
    .slice(0, STEM_LENGTH_MAX)
  return { ...file, relativePath: `${stem}${endingOf(file.form)}` }
}

/** What cannot be opened begins with nothing: it is told when it is read. */
function openingOf(path: string): string {
  try {
    const file = openSync(path, "r")
    try {
      const bytes = Buffer.alloc(OPENING_BYTES)
      return bytes.toString("utf8", 0, readSync(file, bytes, 0, OPENING_BYTES, 0)).replace(/^\ufeff/, "")
    } finally {
      closeSync(file)
    }
  } catch {
    return ""
  }
}
