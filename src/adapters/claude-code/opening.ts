/**
 * Which session a file of Claude Code is, by its name and by what its records say before the session can begin. What the records
 * mean is for `parse.ts`.
 */
import type { SourceFile } from "../adapter.ts"
import {
  joined,
  matchIn,
  nonEmptyStringAt,
  plain,
  type Sealed,
  sealedOrigin,
  sealedRelativePath,
  timestampAt,
  valueAt,
} from "../extract.ts"
import type { SessionWriter } from "../session-writer.ts"
import type { SourceObject } from "../source-value.ts"
import { type Brand, printedId } from "./brands.ts"

// --- By its name --------------------------------------------------------------------------------------------------------

export const META = ".meta.json"
const AGENT = "agent-"
const LOG = ".jsonl"
/** Looked for from the beginning of a name alone. */
export const STEM = /(?<![^/])([^/]+)\.jsonl(?:\.rotated-\d+)?$/
/** The log of a task of Cowork, which is named by its folder. */
const AUDIT = /(?:^|\/)local_([^/]+)\/audit\.jsonl$/
/** Its record, beside the folder. */
export const TASK = /(?:^|\/)local_[^/]+\.json$/
/** A file in the folder of a session, which is named by its id. */
const LEFT =
  /(?<![^/])([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\/(?:tool-results|workflows|subagents)\/(?:.*\/)?[^/]+$/i

export function isAgentLog(place: string): boolean {
  const name = place.slice(place.lastIndexOf("/") + 1)
  return name.startsWith(AGENT) && name.endsWith(LOG) && name.length > AGENT.length + LOG.length
}

/** Whether this is the first file of a session whose log is gone, as are its agents. */
export function isLeftOfSession(place: string): boolean {
  return LEFT.test(place) && !isAgentLog(place)
}

/** Where the log of a session lies, or lay: should it come back, it is the same session. */
export function logOf(place: string): string {
  const found = isAgentLog(place) ? null : LEFT.exec(place)
  return found === null ? place : `${place.slice(0, found.index + (found[1]?.length ?? 0))}${LOG}`
}

// --- By its records -----------------------------------------------------------------------------------------------------

/** What a parser has learned about its session before it can say it. */
export interface Learned {
  project: Sealed<string> | undefined
  /** The folder that the person chose for a task of Cowork, which is at work elsewhere. */
  chosen: Sealed<string> | undefined
  createdAt: Sealed<string> | undefined
  parent: Sealed<string> | undefined
  /** The last message of its parent that a forked agent knows. */
  parentMessage: Sealed<string> | undefined
  agent: Sealed<string> | undefined
  title: Sealed<string> | undefined
  spawnedBy: Sealed<string> | undefined
  /** The session id inside output of `claude -p`, whose file can have any name. */
  printed: Sealed<string> | undefined
  isWarmup: boolean
}

export interface Opening {
  readonly brand: Brand
  readonly main: SourceFile
  readonly isAgent: boolean
  readonly writer: SessionWriter
  readonly learned: Learned
}

export function nothingLearned(): Learned {
  return {
    project: undefined,
    chosen: undefined,
    createdAt: undefined,
    parent: undefined,
    parentMessage: undefined,
    agent: undefined,
    title: undefined,
    spawnedBy: undefined,
    printed: undefined,
    isWarmup: false,
  }
}

export function beginSession({ brand, writer, main, isAgent, learned }: Opening): void {
  if (writer.hasBegun) return
  const place = sealedRelativePath(main)
  const left = isAgent ? undefined : matchIn(place, LEFT)
  const stem = learned.printed ?? left ?? matchIn(place, AUDIT) ?? matchIn(place, STEM) ?? place
  const folder = matchIn(place, /(?:^|\/)projects\/([^/]+)\//) ?? matchIn(place, /([^/]+)\/[^/]+$/) ?? stem
  const parent = isAgent ? (matchIn(place, /([^/]+)\/subagents\//) ?? learned.parent) : undefined
  // Agents of one client count from anew in every session, so an agent's own name tells it apart only within its parent.
  const id = parent === undefined ? stem : joined([parent, stem], ":")
  // An agent whose type nobody wrote down is an agent all the same. Some agents of the harness's own say what they are in their name.
  const agent =
    learned.agent ?? matchIn(place, /\/agent-a([a-z][a-z_]*)-[0-9a-f]+\.jsonl$/) ?? matchIn(place, /(agent)-[^/]+$/)
  const spawnedBy = learned.spawnedBy === undefined ? {} : { spawned_by: plain(learned.spawnedBy) }
  const noise = learned.isWarmup ? { noise: "warmup" } : {}
  const pond = { ...spawnedBy, ...noise }
  writer.begin({
    id,
    sourceAgent: sealedOrigin(brand, isAgent ? agent : undefined),
    project: (brand.projectIn && matchIn(place, brand.projectIn)) ?? learned.chosen ?? learned.project ?? folder,
    createdAt: learned.createdAt,
    parentSessionId: parent,
    parentMessageId: parent === undefined ? undefined : learned.parentMessage,
    title: learned.title,
    ...(Object.keys(pond).length === 0 ? {} : { pond }),
  })
}

export function learn({ brand, learned, isAgent }: Opening, record: SourceObject): void {
  learned.project ??= nonEmptyStringAt(record, "cwd")
  if (brand.isPrinted)
    learned.printed ??= printedId(
      nonEmptyStringAt(record, "session_id") ?? nonEmptyStringAt(record, "sessionId"),
      brand,
    )
  learned.createdAt ??= timestampAt(record, "timestamp") ?? timestampAt(record, "_audit_timestamp")
  if (!isAgent) return
  learned.parent ??= nonEmptyStringAt(record, "sessionId")
  if (record["type"] === "fork-context-ref") learned.parentMessage ??= nonEmptyStringAt(record, "parentLastUuid")
  learned.agent ??= nonEmptyStringAt(record, "attributionAgent")
  // Versions 2.0 started throw-away agents to warm a cache. Nobody asked for them.
  if (record["parentUuid"] === null && valueAt(record, "message", "content") === "Warmup") learned.isWarmup = true
}
