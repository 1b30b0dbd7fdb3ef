/**
 * Where Trae keeps chats: in the databases of workspaces until 2025, since then in one that is encrypted, of which the first
 * bytes alone are looked at.
 */
import { closeSync, openSync, readSync } from "node:fs"
import { basename } from "node:path"
import type { JsonObject } from "../../model/json.ts"
import type { Issue } from "../../model/report.ts"
import { isSystemError } from "../../platform/system-error.ts"
import type { Source, SourceFile, SourceUnit } from "../adapter.ts"
import { foldersBelow } from "../shared/folders.ts"
import {
  assembleWorkspaceChat,
  concernsWorkspaceChats,
  idUnder,
  listUnder,
  planWorkspaceChats,
  type WorkspaceChat,
  type WorkspaceShape,
} from "../shared/workspace-chats.ts"
import { roots } from "./roots.ts"

export const source: Source = { roots, plan }

const CHATS: WorkspaceShape = {
  keys: ["memento/icube-ai-agent-storage"],
  chatsOf: chatsIn,
  folder: "chats",
}
const ENCRYPTED = "ModularData/ai-agent/database.db"
const SQLITE = "SQLite format 3\0"

export function concerns(_root: string, place: string): boolean {
  return concernsWorkspaceChats(place)
}

export function assemble(file: SourceFile): string | undefined {
  return assembleWorkspaceChat(file, CHATS)
}

function chatsIn(value: JsonObject): readonly WorkspaceChat[] {
  return (listUnder(value, "list")?.items ?? []).flatMap((chat) => {
    const messages = listUnder(chat, "messages")
    const id = messages && idUnder(chat as JsonObject, "sessionId")
    return messages === undefined || id === undefined || messages.items.length === 0 ? [] : [{ id, ...messages }]
  })
}

/** Somebody may point at the folder of the person in it. */
function* plan(root: string): Generator<SourceUnit | Issue> {
  const disk = foldersBelow(root)
  yield* planWorkspaceChats(disk, basename(root) === "User" ? "" : "User", CHATS)
  if (disk.stat(ENCRYPTED)?.isFile() === true && firstBytes(`${root}/${ENCRYPTED}`) !== SQLITE)
    yield {
      ...{ kind: "encrypted_file", severity: "note", file: ENCRYPTED },
      found: "an encrypted database: chats of 2026 cannot be read",
    }
  yield* disk.issues
}

function firstBytes(path: string): string {
  const bytes = Buffer.alloc(SQLITE.length)
  try {
    const file = openSync(path, "r")
    readSync(file, bytes, 0, bytes.length, 0)
    closeSync(file)
    return bytes.toString("latin1")
  } catch (error) {
    if (isSystemError(error)) return SQLITE
    throw error
  }
}
