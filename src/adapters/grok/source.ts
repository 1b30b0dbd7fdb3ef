/**
 * Where Grok Build keeps its sessions: `~/.grok/sessions/<directory, percent-encoded>/<id>/`. Settings and logins are beside
 * `sessions`; in the folder of a session are prompts, traces and counters as well, which the client makes anew.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Source, SourceFile, SourceForm, SourceUnit } from "../adapter.ts"
import { below, type Folders, foldersBelow, isFolder, isShown } from "../shared/folders.ts"
import { HISTORY, SUMMARY, UPDATES } from "./records.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const SESSIONS = "sessions"
const GIVEN_DEPTH = 8

export function concerns(root: string, place: string): boolean {
  return place === SESSIONS || place.startsWith(`${SESSIONS}/`) || !existsSync(join(root, SESSIONS))
}

function plan(root: string): (SourceUnit | Issue)[] {
  const disk = foldersBelow(root)
  const isHome = existsSync(join(root, SESSIONS))
  const units = [...planFolder(disk, isHome ? SESSIONS : "", isHome ? 2 : GIVEN_DEPTH)]
  disk.followLinks()
  return [...units, ...disk.issues]
}

/** Folders whose names begin with a dot are copies that are being made. */
function planFolder(disk: Folders, folder: string, depth: number): SourceUnit[] {
  const entries = disk.entries(folder)
  const names = new Set(entries.map(({ name }) => name))
  if (names.has(SUMMARY) && names.has(UPDATES)) return [sessionUnit(disk, folder, names)]
  const units: SourceUnit[] = []
  if (depth === 0) return units
  for (const entry of entries) {
    const place = below(folder, entry.name)
    if (isShown(entry) && isFolder(entry)) disk.enter(place, () => units.push(...planFolder(disk, place, depth - 1)))
  }
  return units
}

/** Further files that say something of a session, by their forms. */
const BESIDE: readonly (readonly [name: string, form: SourceForm])[] = [
  [HISTORY, "text"],
  ["btw_history.jsonl", "log"],
  ["feedback.jsonl", "log"],
  ["rewind_points.jsonl", "log"],
  ["plan.json", "document"],
  ["plan_mode.json", "document"],
  ["tool_state.json", "document"],
]

function sessionUnit(disk: Folders, folder: string, names: ReadonlySet<string>): SourceUnit {
  const at = (name: string, form: SourceForm): SourceFile[] => {
    const file = disk.file(below(folder, name), form)
    return file === undefined ? [] : [file]
  }
  const files = [
    ...at(SUMMARY, "document"),
    ...at(UPDATES, "log"),
    ...BESIDE.flatMap(([name, form]) => (names.has(name) ? at(name, form) : [])),
    ...(names.has("goal") ? at("goal/state.json", "document") : []),
    ...(names.has("compaction_checkpoints") ? inFolder(disk, below(folder, "compaction_checkpoints"), ".json") : []),
    ...(names.has("compaction") ? inFolder(disk, below(folder, "compaction"), ".md") : []),
    ...(names.has("subagents") ? agentsIn(disk, below(folder, "subagents")) : []),
  ]
  return { key: folder, root: disk.root, files }
}

function inFolder(disk: Folders, folder: string, ending: ".json" | ".md"): SourceFile[] {
  const names = disk.entries(folder).map(({ name }) => name)
  return names.flatMap((name) => {
    const file = name.endsWith(ending)
      ? disk.file(below(folder, name), ending === ".md" ? "text" : "document")
      : undefined
    return file ?? []
  })
}

/** What each agent was given, and what it said at the end. What it did is a session beside this one. */
function agentsIn(disk: Folders, folder: string): SourceFile[] {
  return disk.entries(folder).flatMap(({ name }) =>
    ["meta.json", "output.json"].flatMap((each) => {
      const place = below(below(folder, name), each)
      return (disk.stat(place)?.isFile() === true ? disk.file(place, "document") : undefined) ?? []
    }),
  )
}
