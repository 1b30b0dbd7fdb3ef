/**
 * What a chat is called, where it was held and whom it belongs to, gathered from its first records. No chat says its
 * directory in a field: it stands in the text about the environment (since 0.44), among the directories of a sub-agent, or
 * shows in a path of a call, which is it where its hash is the one of the project.
 */
import { sha256Of } from "../../platform/sha256.ts"
import type { SourceFile } from "../adapter.ts"
import {
  matchIn,
  nonEmptyStringAt,
  type Placed,
  plain,
  type Sealed,
  sealedModifiedAt,
  sealedOrigin,
  sealedRelativePath,
  stringAt,
  stringHere,
  stringUnder,
  timestampAt,
} from "../extract.ts"
import type { SessionStart } from "../session-writer.ts"
import type { SourceValue } from "../source-value.ts"
import { inside, itemsOf, type Spot, whole } from "../spot.ts"
import { BRAND, kindOf, messagesIn } from "./records.ts"

export interface Opening {
  /** Whether something is here that is more than what the client says when it starts, and yet no chat. */
  readonly isDamaged: boolean
  /** Reads a record before its values are taken out. */
  learn(record: SourceValue): void
  /** The session, once it is certain; `isLast` says that nothing more will come. */
  start(isLast: boolean): SessionStart | undefined
}

interface Learned {
  id?: Sealed<string> | undefined
  createdAt?: Sealed<string> | undefined
  spokenAt?: Sealed<string> | undefined
  project?: Sealed<string> | undefined
  hash?: Sealed<string> | undefined
  agent?: Sealed<string> | undefined
  title?: Sealed<string> | undefined
}

export function createOpening(main: SourceFile): Opening {
  const learned: Learned = {}
  const tried = new Set<string>()
  let hasSpoken = false
  let isDamaged = false
  return {
    get isDamaged() {
      return isDamaged
    },
    learn(record) {
      isDamaged ||= kindOf(record) === undefined
      learnMetadata(learned, record)
      for (const message of messageSpots(record)) {
        learned.spokenAt ??= timestampAt(message.value, "timestamp")
        learned.project ??= contextDirectory(message) ?? hashedDirectory(message, learned.hash, tried)
        hasSpoken ||= !isContext(message)
      }
      hasSpoken ||= main.form === "document"
    },
    start(isLast) {
      if (!hasSpoken) return undefined
      const { id, project, createdAt } = learned
      const isCertain = id !== undefined && project !== undefined && createdAt !== undefined
      return isCertain || isLast ? startOf(main, learned) : undefined
    },
  }
}

function startOf(main: SourceFile, learned: Learned): SessionStart | undefined {
  const place = sealedRelativePath(main)
  const createdAt = learned.createdAt ?? learned.spokenAt ?? sealedModifiedAt(main)
  if (createdAt === undefined) return undefined
  const folder = matchIn(place, /(?:^|\/)tmp\/([^/]+)\//) ?? matchIn(place, /([^/]+)\/[^/]+$/)
  const parentSessionId = matchIn(place, SUBAGENT)
  return {
    id: learned.id ?? matchIn(place, /([^/]+)\.jsonl?$/) ?? place,
    sourceAgent: sealedOrigin(BRAND, learned.agent),
    project: learned.project ?? folder ?? learned.hash ?? place,
    createdAt,
    parentSessionId,
    title: learned.title,
    ...(main.form === "log" ? { reappends: true } : {}),
  }
}

/** `<id of the chat>/<id of its agent>.jsonl` */
const SUBAGENT = /(?:^|\/)(?!session-)([0-9a-fA-F-]{36})\/[^/]+\.jsonl$/

function learnMetadata(learned: Learned, record: SourceValue): void {
  const isPatch = kindOf(record) === "patch"
  const at = isPatch ? ["$set"] : []
  if (!isPatch && kindOf(record) !== "metadata") return
  learned.id ??= nonEmptyStringAt(record, ...at, "sessionId")
  learned.createdAt ??= timestampAt(record, ...at, "startTime")
  learned.hash ??= nonEmptyStringAt(record, ...at, "projectHash")
  learned.project ??= nonEmptyStringAt(record, ...at, "directories", 0)
  learned.title ??= nonEmptyStringAt(record, ...at, "summary")
  const kind = nonEmptyStringAt(record, ...at, "kind")
  learned.agent ??= kind && matchIn(kind, /^(subagent)$/)
}

function messageSpots(record: SourceValue): Spot[] {
  const spot = whole(record)
  if (kindOf(record) === "message") return [spot]
  if (messagesIn(record) === undefined) return []
  const holder = kindOf(record) === "patch" ? inside(spot, "$set") : spot
  return itemsOf(holder && inside(holder, "messages"))
}

// --- The directory ----------------------------------------------------------------------------------------------------

/** What the client tells its model of the environment, in each version's words. */
const CONTEXT = /^(?:<session_context>|This is the Gemini CLI\. We are setting up the context)/

function isContext(message: Spot): boolean {
  const text = firstText(message)
  return text !== undefined && CONTEXT.test(text.value)
}

function firstText(message: Spot): Placed<string> | undefined {
  const content = inside(message, "content")
  if (content === undefined) return undefined
  return stringHere(content) ?? stringUnder(itemsOf(content)[0] ?? content, "text")
}

function contextDirectory(message: Spot): Sealed<string> | undefined {
  const text = firstText(message)
  if (text === undefined || !CONTEXT.test(text.value)) return undefined
  return (
    matchIn(text, /\*\*Workspace Directories:\*\*\n\s+- ([^\n]+)/) ??
    matchIn(text, /working in the (?:following )?director(?:y|ies):\s+(?:- )?([^\n]+)/)
  )
}

const PATH_KEYS = ["file_path", "absolute_path", "dir_path", "path", "directory"]

/** A path of a call, up to the directory whose hash is that of the project. */
function hashedDirectory(
  message: Spot,
  hash: Sealed<string> | undefined,
  tried: Set<string>,
): Sealed<string> | undefined {
  if (hash === undefined) return undefined
  for (const call of itemsOf(inside(message, "toolCalls"))) {
    for (const key of PATH_KEYS) {
      const path = stringAt(call.value, "args", key)
      const found = path && ancestorOf(path, plain(hash), tried)
      if (found !== undefined) return found
    }
  }
  return undefined
}

/** So many directories are tried for one chat. */
const TRIED_MAX = 1_000

function ancestorOf(path: Placed<string>, hash: string, tried: Set<string>): Sealed<string> | undefined {
  const { value } = path
  if (value.length > 4_096) return undefined
  for (
    let end = value.length;
    end > 0;
    end = Math.max(value.lastIndexOf("/", end - 1), value.lastIndexOf("\\", end - 1))
  ) {
    const directory = value.slice(0, end)
    if (tried.has(directory) || tried.size >= TRIED_MAX) return undefined
    tried.add(directory)
    if (sha256Of(directory) === hash) return matchIn(path, new RegExp(`^([\\s\\S]{${end}})`))
  }
  return undefined
}
