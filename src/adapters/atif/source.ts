/** Trajectories lie wherever somebody wrote them, one in a file, and are named with `--path`. A file without steps is none. */
import { readFileSync, statSync } from "node:fs"
import { basename, dirname } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import { foldersBelow } from "../shared/folders.ts"
import { filesBelow, isIssue } from "../shared/walk.ts"

export const source: Source = { roots: () => [], plan }

const NAME = /(?:^|\/)(?:trajectory|[\w.-]+\.(?:trajectory|atif)|trajectories\/[\w-]+)\.json$/
const DEPTH_MAX = 8
/** The first key of a trajectory says which version it is of. */
const OPENING = /"schema_version"\s*:\s*"ATIF-v/

function plan(root: string): (SourceUnit | Issue)[] {
  if (statSync(root, { throwIfNoEntry: false })?.isFile() === true) {
    const disk = foldersBelow(dirname(root))
    const file = root.endsWith(".json") ? disk.file(basename(root), "document") : undefined
    return file === undefined || !OPENING.test(readFileSync(file.path, "utf8"))
      ? []
      : [trajectoryUnit(disk.root, named(file))]
  }
  const found = filesBelow(root, { form: "document", depthMax: DEPTH_MAX, accepts: (place) => NAME.test(place) })
  return found.map((file) => (isIssue(file) ? file : trajectoryUnit(root, file)))
}

function trajectoryUnit(root: string, file: SourceFile): SourceUnit {
  return { key: file.relativePath, root, files: [file] }
}

/** One that somebody points at may have any name; it is stored under one that tells what it is. */
function named(file: SourceFile): SourceFile {
  const stem = file.relativePath
    .slice(0, -".json".length)
    .replaceAll(/[^\w-]/g, "-")
    .slice(0, 80)
  return NAME.test(file.relativePath) ? file : { ...file, relativePath: `${stem}.trajectory.json` }
}
