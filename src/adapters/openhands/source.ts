/**
 * Where OpenHands keeps its conversations: a folder for each below `.openhands/conversations`, with a document for each event.
 * Reads names, opens nothing. Settings with keys, logins, secrets and profiles lie beside that folder.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Source, SourceUnit } from "../adapter.ts"
import { below, type Folders, foldersBelow, isFolder, isShown } from "../shared/folders.ts"
import { EVENT, STATE } from "./records.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const CONVERSATIONS = "conversations"
const EVENTS = "events"
const GIVEN_DEPTH = 6

export function concerns(root: string, place: string): boolean {
  if (/\/(?:observations\/|events\/\.)/.test(place)) return false
  return place === CONVERSATIONS || place.startsWith(`${CONVERSATIONS}/`) || !existsSync(join(root, CONVERSATIONS))
}

function plan(root: string): (SourceUnit | Issue)[] {
  const disk = foldersBelow(root)
  const units: SourceUnit[] = []
  walk(disk, existsSync(join(root, CONVERSATIONS)) ? CONVERSATIONS : "", 0, units)
  disk.followLinks()
  return [...units, ...disk.issues]
}

/** The conversations of sub-agents lie in folders inside that of the one which gave them their work. */
function walk(disk: Folders, at: string, depth: number, units: SourceUnit[]): void {
  const entries = disk.entries(at)
  for (const entry of entries) {
    if (!isShown(entry) || !isFolder(entry)) continue
    const place = below(at, entry.name)
    if (entry.name === EVENTS) addUnit(disk, at, units)
    else if (depth < GIVEN_DEPTH && entry.name !== "observations")
      disk.enter(place, () => walk(disk, place, depth + 1, units))
  }
}

function addUnit(disk: Folders, at: string, units: SourceUnit[]): void {
  const numbered = disk.entries(below(at, EVENTS)).flatMap(({ name }): [number, string][] => {
    const number = EVENT.exec(name)?.[1]
    return number === undefined ? [] : [[Number(number), name]]
  })
  const events = numbered.sort(([left], [right]) => left - right).map(([, name]) => `${EVENTS}/${name}`)
  if (events.length === 0) return
  const names = disk.stat(below(at, STATE))?.isFile() === true ? [STATE, ...events] : events
  const files = names.flatMap((name) => disk.file(below(at, name), "document") ?? [])
  if (files.length > 0) units.push({ key: below(at, EVENTS), root: disk.root, files })
}
