/**
 * Where Windsurf keeps what can be read: chats in the databases of workspaces, and transcripts that a hook has it write. The
 * conversations of Cascade are encrypted; they are counted, and never opened.
 */
import { basename } from "node:path"
import type { Issue } from "../../model/report.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import type { CountRetention } from "../capabilities.ts"
import { TABS } from "../shared/chat-tabs.ts"
import { below, type Folders, foldersBelow } from "../shared/folders.ts"
import { assembleWorkspaceChat, concernsWorkspaceChats, planWorkspaceChats } from "../shared/workspace-chats.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const TRANSCRIPTS = "transcripts"
const TRANSCRIPT = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.jsonl$/
const CASCADE = "cascade"
const ENCRYPTED = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.pb$/
/** By its documentation. */
const TRANSCRIPTS_KEPT = 100

export function concerns(_root: string, place: string): boolean {
  return place === TRANSCRIPTS || place.startsWith(`${TRANSCRIPTS}/`) || concernsWorkspaceChats(place)
}

export function retention(root: string): CountRetention | undefined {
  return basename(root) === ".windsurf" ? { sessions: TRANSCRIPTS_KEPT } : undefined
}

export function assemble(file: SourceFile): string | undefined {
  return file.path.endsWith(".jsonl") ? undefined : assembleWorkspaceChat(file, TABS)
}

function* plan(root: string): Generator<SourceUnit | Issue> {
  const disk = foldersBelow(root)
  yield* planWorkspaceChats(disk, "", TABS)
  yield* planTranscripts(disk, TRANSCRIPTS)
  if (basename(root) === TRANSCRIPTS) yield* planTranscripts(disk, "")
  const encrypted = disk.entries(CASCADE).filter(({ name }) => ENCRYPTED.test(name))
  const [first] = encrypted
  if (first !== undefined) yield unreadable(first.name, encrypted.length)
  yield* disk.issues
}

function* planTranscripts(disk: Folders, folder: string): Generator<SourceUnit> {
  for (const { name } of disk.entries(folder)) {
    const file = TRANSCRIPT.test(name) ? disk.file(below(folder, name), "log") : undefined
    if (file !== undefined) yield { key: file.relativePath, root: disk.root, files: [file] }
  }
}

function unreadable(name: string, count: number): Issue {
  const found = `${count} encrypted ${count === 1 ? "conversation" : "conversations"} of Cascade: a hook for transcripts keeps those to come`
  return { kind: "encrypted_file", severity: "note", file: below(CASCADE, name), found }
}
