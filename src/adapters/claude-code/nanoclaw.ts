/**
 * Where NanoClaw keeps what its agents did: below its checkout, which somebody names, a directory of Claude Code's for each group
 * of chats. Logs that grew too long have a moment behind their names. Its databases, keys and logins are left alone.
 */
import { dirname } from "node:path"
import type { Source } from "../adapter.ts"
import { below, type Folders, foldersBelow } from "../shared/folders.ts"
import { addProjects, type Found, finished, type Planning } from "./source.ts"

export const nanoclawSource: Source = { roots: () => [], plan: planGroups }

/** Of version 2, and of version 1. */
const PLACES = [
  { groups: "data/v2-sessions", settings: ".claude-shared" },
  { groups: "data/sessions", settings: ".claude" },
]
const ROTATED = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.jsonl\.rotated-\d{1,16}$/

function planGroups(root: string): Found[] {
  const disk = foldersBelow(root)
  const planning: Planning = { disk, found: [], unfinished: [], isWalk: false, todos: new Map() }
  for (const { groups, settings } of PLACES) {
    for (const group of groupFolders(disk, groups)) {
      const place = below(groups, group)
      if (!groupFolders(disk, place).includes(settings)) continue
      const projects = below(below(place, settings), "projects")
      addProjects(planning, projects)
      for (const folder of groupFolders(disk, projects)) addRotated(planning, below(projects, folder))
    }
  }
  return finished(planning)
}

/** The folders in a place, none where the place is missing. */
function groupFolders(disk: Folders, place: string): string[] {
  const isThere =
    place === "" || disk.stat(dirname(place)) === undefined ? place === "" : disk.stat(place) !== undefined
  return isThere ? disk.entries(place).flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])) : []
}

function addRotated({ disk, found }: Planning, folder: string): void {
  for (const { name } of disk.entries(folder)) {
    const file = ROTATED.test(name) ? disk.file(below(folder, name), "log") : undefined
    if (file !== undefined) found.push({ key: file.relativePath, root: disk.root, files: [file] })
  }
}
