/**
 * What a session is called, where it was held and whom it comes from, gathered from the first records of its rollout.
 * An enveloped rollout says all of it in its first line; a bare one names its directory in a message that comes later,
 * or nowhere. Then the directory of the first command stands in, and at last the folder that the file lies in.
 */
import { isJsonObject } from "../../model/json.ts"
import type { RawRecord, SourceFile, SourceUnit } from "../adapter.ts"
import {
  keyAt,
  matchIn,
  nonEmptyStringAt,
  parsedIn,
  plain,
  type Sealed,
  sealedModifiedAt,
  sealedOrigin,
  sealedRelativePath,
  stringAt,
  textOfFile,
  timestampAt,
  valueAt,
} from "../extract.ts"
import type { SessionStart } from "../session-writer.ts"
import type { SourceObject } from "../source-value.ts"
import type { PathKey } from "../spot.ts"

export const BRAND = { id: "codex" }
/** The command line of Trae is made of Codex, and writes its rollouts. */
export const TRAE = { id: "trae-cli" }

export type Brand = typeof BRAND

/** What wrote a rollout stands in its header. These are ours: events of reasoning have no items beside them there. */
export const ORIGINATOR = "pond"

export interface Opening {
  /** Reads one record of the first rollout, before its values are taken out. */
  learn(record: SourceObject): void
  /** The session, once it is certain; `isLast` says that nothing more will come. */
  start(isLast: boolean): SessionStart | undefined
  /** Whether any record has said anything of the session: half a line has not. */
  hasLearned(): boolean
}

interface Learned {
  id?: Sealed<string> | undefined
  createdAt?: Sealed<string> | undefined
  cwd?: Sealed<string> | undefined
  /** Second best: the directory of a command, the address of a repository. */
  place?: Sealed<string> | undefined
  parent?: Sealed<string> | undefined
  /** The number of the first record of the parent that is not the fork's. */
  forkedAt?: number
  agent?: Sealed<string> | undefined
  isSubagent?: boolean
}

export function createOpening(unit: SourceUnit, main: SourceFile, brand: Brand): Opening {
  const learned: Learned = {}
  let hasHeader = false
  return {
    learn(record) {
      if (!hasHeader) hasHeader = learnHeader(learned, record)
      learned.createdAt ??= timestampAt(record, "timestamp")
      learned.cwd ??= nonEmptyStringAt(record, "payload", "cwd") ?? contextDirectory(record)
      learned.place ??= commandDirectory(record)
    },
    start(isLast) {
      const { id, createdAt, cwd } = learned
      const isCertain = id !== undefined && createdAt !== undefined && cwd !== undefined
      if (!isCertain && !isLast) return undefined
      return startOf(unit, main, brand, learned)
    },
    hasLearned: () => Object.values(learned).some((value) => value !== undefined),
  }
}

function startOf(unit: SourceUnit, main: SourceFile, brand: Brand, learned: Learned): SessionStart | undefined {
  const place = sealedRelativePath(main)
  const createdAt = learned.createdAt ?? sealedModifiedAt(main)
  if (createdAt === undefined) return undefined
  return {
    id: learned.id ?? matchIn(place, /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/i) ?? place,
    sourceAgent: sealedOrigin(brand, learned.agent),
    project: learned.cwd ?? learned.place ?? matchIn(place, /^(.*)\/[^/]*$/) ?? place,
    createdAt,
    parentSessionId: learned.parent,
    ...(learned.forkedAt === undefined ? {} : { pond: { forked_at: learned.forkedAt } }),
    title: titleBeside(unit),
  }
}

/** The first line of a rollout, whichever generation wrote it. */
function learnHeader(learned: Learned, record: SourceObject): boolean {
  const at = headerPath(record)
  if (at === undefined) return false
  learned.id = nonEmptyStringAt(record, ...at, "id")
  learned.createdAt = timestampAt(record, ...at, "timestamp")
  learned.place = nonEmptyStringAt(record, ...at, "git", "repository_url")
  learnLineage(learned, record, at)
  return true
}

function headerPath(record: SourceObject): readonly PathKey[] | undefined {
  if (record["type"] === "session_meta") return ["payload"]
  if (isJsonObject(record["session"])) return ["session"]
  return record["type"] === undefined && typeof record["id"] === "string" ? [] : undefined
}

/** A fork names what it was forked from, an agent its parent; an agent that got its parent's history names both. */
function learnLineage(learned: Learned, record: SourceObject, at: readonly PathKey[]): void {
  const source = [...at, "source", "subagent"]
  const spawn = [...source, "thread_spawn"]
  learned.parent =
    nonEmptyStringAt(record, ...spawn, "parent_thread_id") ??
    nonEmptyStringAt(record, ...at, "parent_thread_id") ??
    nonEmptyStringAt(record, ...at, "forked_from_id")
  // A thread that was reverted continues its own log.
  const end = valueAt(record, ...at, "history_base", "end_ordinal_exclusive")
  const isOfParent = valueAt(record, ...at, "history_base", "thread_id") === (learned.parent && plain(learned.parent))
  if (typeof end === "number" && isOfParent) learned.forkedAt = end
  if (valueAt(record, ...source) === undefined) return
  learned.agent =
    nonEmptyStringAt(record, ...source) ??
    nonEmptyStringAt(record, ...spawn, "agent_role") ??
    nonEmptyStringAt(record, ...source, "other") ??
    keyAt(record, ...source)
}

/** The directory in the message about the environment: a tag since August 2025, a sentence before. */
function contextDirectory(record: SourceObject): Sealed<string> | undefined {
  for (const at of [["content"], ["payload", "content"]]) {
    const content = valueAt(record, ...at)
    if (!Array.isArray(content)) continue
    for (const index of content.keys()) {
      const text = stringAt(record, ...at, index, "text")
      if (text === undefined || !text.value.includes("<environment_context>")) continue
      const found = matchIn(text, /<cwd>([^<\n]+)<\/cwd>/) ?? matchIn(text, /Current working directory: ([^\n]+)/)
      if (found !== undefined) return found
    }
  }
  return undefined
}

/** Where a command was run: the only directory that some of the first sessions know. */
function commandDirectory(record: SourceObject): Sealed<string> | undefined {
  const direct =
    nonEmptyStringAt(record, "action", "working_directory") ??
    nonEmptyStringAt(record, "payload", "action", "working_directory")
  if (direct !== undefined) return direct
  const text =
    stringAt(record, "arguments") ??
    stringAt(record, "payload", "arguments") ??
    stringAt(record, "tool_calls", 0, "function", "arguments")
  if (text === undefined || !text.value.includes('"workdir"')) return undefined
  return nonEmptyStringAt(parsedIn(text) ?? null, "workdir")
}

/** The newest name of the thread in the index of all threads. */
function titleBeside(unit: SourceUnit): Sealed<string> | undefined {
  const texts = (unit.beside ?? []).map(indexEntry)
  return texts.findLast((title) => title !== undefined)
}

function indexEntry(raw: RawRecord): Sealed<string> | undefined {
  if (!("text" in raw)) return undefined
  return nonEmptyStringAt(parsedIn(textOfFile(raw)) ?? null, "thread_name")
}
