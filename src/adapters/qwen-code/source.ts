/**
 * Where Qwen Code keeps its chats: `projects/<key>/` below `.qwen`, or below a separate runtime directory. Reads names
 * and sizes, opens nothing. Credentials, settings, ledgers, debug logs and backups of files are next to them.
 */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Source, SourceUnit } from "../adapter.ts"
import { below, type Folders, foldersBelow, isFolder, isShown } from "../shared/folders.ts"
import { filesBelow, isIssue } from "../shared/walk.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const PROJECTS = "projects"
/** The client sees no chat of another name. */
const CHAT = /^[0-9a-fA-F-]{32,36}\.jsonl$/
const AGENT = /^agent-.+\.jsonl$/
const META = ".meta.json"
const GIVEN_DEPTH = 8

export function concerns(root: string, place: string): boolean {
  return place === PROJECTS || place.startsWith(`${PROJECTS}/`) || !existsSync(join(root, PROJECTS))
}

function plan(root: string): (SourceUnit | Issue)[] {
  if (!existsSync(join(root, PROJECTS))) return givenChats(root)
  const disk = foldersBelow(root)
  const units: SourceUnit[] = []
  for (const project of foldersIn(disk, PROJECTS)) {
    disk.enter(project, () => {
      for (const folder of [`${project}/chats`, `${project}/chats/archive`])
        for (const name of namesIn(disk, folder)) if (CHAT.test(name)) addLog(disk, below(folder, name), units)
      for (const folder of foldersIn(disk, `${project}/subagents`))
        disk.enter(folder, () => addAgents(disk, folder, units))
    })
  }
  disk.followLinks()
  return [...units, ...disk.issues]
}

function foldersIn(disk: Folders, place: string): string[] {
  const entries = disk.entries(place).filter((entry) => isShown(entry) && isFolder(entry))
  return entries.map(({ name }) => below(place, name))
}

function namesIn(disk: Folders, place: string): string[] {
  return disk.entries(place).map(({ name }) => name)
}

function addAgents(disk: Folders, folder: string, units: SourceUnit[]): void {
  const names = namesIn(disk, folder)
  for (const name of names) {
    if (!AGENT.test(name)) continue
    const meta = name.replace(/\.jsonl$/, META)
    addLog(disk, below(folder, name), units, names.includes(meta) ? below(folder, meta) : undefined)
  }
}

/** What the client says of an agent lies in a file beside its log. */
function addLog(disk: Folders, place: string, units: SourceUnit[], meta?: string): void {
  const log = disk.file(place, "log")
  if (log === undefined) return
  const beside = meta === undefined ? undefined : disk.file(meta, "document")
  units.push({ key: place, root: disk.root, files: beside === undefined ? [log] : [log, beside] })
}

/** A folder of chats that somebody points at. */
function givenChats(root: string): (SourceUnit | Issue)[] {
  const isChat = (place: string) => CHAT.test(nameIn(place)) || AGENT.test(nameIn(place))
  const all = filesBelow(root, { form: "log", depthMax: GIVEN_DEPTH, accepts: isChat })
  return all.map((file) => (isIssue(file) ? file : { key: file.relativePath, root, files: [file] }))
}

function nameIn(place: string): string {
  return place.slice(place.lastIndexOf("/") + 1)
}
