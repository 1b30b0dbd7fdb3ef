/**
 * Where Gemini CLI keeps its chats: `tmp/<project>/chats/` below `.gemini`. Reads names and sizes, opens nothing.
 * Credentials, settings, the prompts of `logs.json` and saved checkpoints are next to them and are never opened.
 */
import { type Dirent, existsSync } from "node:fs"
import { join } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import { below, type Folders, foldersBelow, isFolder, isShown } from "../shared/folders.ts"
import { filesBelow, isIssue } from "../shared/walk.ts"
import { isHashFolder, placeBelowProject } from "./project-folder.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const TMP = "tmp"
const CHAT = /^session-.+\.jsonl?$/
const LOG = /^[^.].*\.jsonl$/
const UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
const UUID_NAME = new RegExp(`^${UUID}$`)
/** In a folder of chats that somebody points at. */
const GIVEN = new RegExp(`(?:^|/)(?:session-[^/]+\\.jsonl?|${UUID}/[^/.][^/]*\\.jsonl)$`)
const GIVEN_DEPTH = 8

const CONCERNED = /^tmp(?:$|\/[^/]+(?:$|\/(?:chats|tool-outputs)(?:$|\/)))/

export function concerns(root: string, place: string): boolean {
  return CONCERNED.test(place) || !existsSync(join(root, TMP))
}

function plan(root: string): (SourceUnit | Issue)[] {
  if (!existsSync(join(root, TMP))) return givenChats(root)
  const disk = foldersBelow(root)
  const found: Found[] = []
  for (const entry of shownEntries(disk, TMP).filter(isFolder)) {
    const project = below(TMP, entry.name)
    disk.enter(project, () => walkProject(disk, project, found))
  }
  disk.followLinks()
  return [...chosen(root, found), ...disk.issues]
}

function givenChats(root: string): (SourceUnit | Issue)[] {
  const all = filesBelow(root, { form: "log", depthMax: GIVEN_DEPTH, accepts: (place) => GIVEN.test(place) })
  return all.map((file) => (isIssue(file) ? file : chatUnit(root, { file: formed(file), outputs: [] })))
}

/** A chat or an agent of one, with the outputs of tools that were too long for it. */
interface Found {
  readonly file: SourceFile
  readonly outputs: readonly SourceFile[]
}

function formed(file: SourceFile): SourceFile {
  return file.relativePath.endsWith(".json") ? { ...file, form: "document" } : file
}

function chatUnit(root: string, { file, outputs }: Found): SourceUnit {
  return { key: file.relativePath, root, files: [file, ...outputs] }
}

function walkProject(disk: Folders, project: string, found: Found[]): void {
  const outputs = outputsIn(disk, `${project}/tool-outputs`)
  const chats = `${project}/chats`
  for (const entry of shownEntries(disk, chats)) {
    const place = below(chats, entry.name)
    if (isFolder(entry) && UUID_NAME.test(entry.name)) {
      disk.enter(place, () => {
        for (const { name } of shownEntries(disk, place))
          if (LOG.test(name)) addChat(disk, below(place, name), [], found)
      })
    } else if (CHAT.test(entry.name)) addChat(disk, place, outputs.get(shortIdOf(entry.name)) ?? [], found)
  }
}

function addChat(disk: Folders, place: string, outputs: readonly SourceFile[], found: Found[]): void {
  const file = disk.file(place, "log")
  if (file !== undefined) found.push({ file: formed(file), outputs })
}

/** The name of a chat ends with the first eight characters of its id. */
function shortIdOf(name: string): string {
  return /-([^-]+)\.jsonl?$/.exec(name)?.[1] ?? ""
}

function outputsIn(disk: Folders, folder: string): Map<string, SourceFile[]> {
  const outputs = new Map<string, SourceFile[]>()
  for (const entry of shownEntries(disk, folder).filter(isFolder)) {
    const shortId = /^session-(.{8})/.exec(entry.name)?.[1]
    if (shortId === undefined) continue
    const place = below(folder, entry.name)
    const files = shownEntries(disk, place).flatMap(({ name }) => disk.file(below(place, name), "text") ?? [])
    outputs.set(shortId, [...(outputs.get(shortId) ?? []), ...files])
  }
  return outputs
}

function shownEntries(disk: Folders, place: string): Dirent[] {
  return disk.entries(place).filter(isShown)
}

// --- Copies -----------------------------------------------------------------------------------------------------------

/**
 * The client leaves chats of before where they are when it goes on with them elsewhere: those of a hash folder in the slug
 * folder, a document as a log beside it. The one that goes on is read.
 */
function chosen(root: string, found: readonly Found[]): (SourceUnit | Issue)[] {
  const planned: (SourceUnit | Issue)[] = []
  for (const group of Map.groupBy(found, ({ file }) => stemOf(file)).values()) {
    const goingOn = group.filter((each) => !group.some((other) => isFollowedBy(each.file, other.file)))
    for (const each of goingOn) planned.push(chatUnit(root, each))
    for (const { file } of group)
      if (goingOn[0] !== undefined && !goingOn.some((each) => each.file === file))
        planned.push(secondCopy(file, goingOn[0].file))
  }
  return planned
}

function stemOf({ relativePath }: SourceFile): string {
  return placeBelowProject(relativePath).replace(/\.jsonl?$/, "")
}

/** Of two files of one chat, whether the client goes on with the second. */
function isFollowedBy({ relativePath: one }: SourceFile, { relativePath: other }: SourceFile): boolean {
  return (isHashFolder(one) && !isHashFolder(other)) || `${one}l` === other
}

function secondCopy(copy: SourceFile, read: SourceFile): Issue {
  const found = `the same chat as ${read.relativePath}`
  return { kind: "second_copy", severity: "note", file: copy.relativePath, found }
}
