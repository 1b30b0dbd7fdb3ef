/** Finds what stored tool calls did to a file, or to all files of a session. */
import { originOf } from "../../adapters/registry.ts"
import { sourceOf } from "../../adapters/shared/native.ts"
import { resultContent } from "../../adapters/shared/translate.ts"
import type { JsonObject } from "../../model/json.ts"
import type { Entry, Session, ToolCallPart, ToolResultPart } from "../../model/session.ts"
import { microsOfText } from "../../model/timestamp.ts"
import { BLOB_SCHEME } from "../../sessions/rows/oversized.ts"
import type { Sessions } from "../../sessions/store.ts"
import { contains, eq, type Filter, isIn, or, startsWith } from "../../substrate/filter.ts"
import { changesOf } from "./file-change.ts"
import { isSameFile, pathInProject } from "./file-path.ts"
import type { FileEvent, Shown } from "./line-history.ts"
import { shownLines } from "./shown-lines.ts"

const SESSIONS_AT_ONCE = 64

export interface SessionEvent extends FileEvent {
  /** The whole path, as its session means it. */
  readonly path: string
}

/** Everything that was done to the file of that normalized absolute path, in the order of time. */
export async function eventsOfFile(sessions: Sessions, path: string, signal: AbortSignal): Promise<SessionEvent[]> {
  const name = path.split("/").at(-1) ?? path
  const named = contains("variant_data", JSON.stringify(name).slice(1, -1))
  // Without the type, which has an index: half of all rows by number cost 600 ms of the million messages, all of them in
  // their order 120.
  const where = or(named, startsWith("variant_data", BLOB_SCHEME))
  // Copies that a forked session took over are no second act.
  const events = await eventsWhere(sessions, { where, isOwn: (lane) => lane !== "replay" }, signal)
  return events.filter(({ event, project }) => isSameFile(path, event.path, project)).map(({ event }) => event)
}

/** Everything that these sessions did to files, in the order of time. */
export async function eventsOfSessions(
  sessions: Sessions,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<SessionEvent[]> {
  const found: SessionEvent[] = []
  for (let at = 0; at < ids.length; at += SESSIONS_AT_ONCE) {
    const where = isIn("session_id", ids.slice(at, at + SESSIONS_AT_ONCE))
    found.push(...(await eventsWhere(sessions, { where, isOwn: () => true }, signal)).map(({ event }) => event))
  }
  return found.toSorted(byTime)
}

function byTime(left: FileEvent, right: FileEvent): number {
  if (left.atMicros === right.atMicros) return 0
  return left.atMicros < right.atMicros ? -1 : 1
}

interface Found {
  readonly event: SessionEvent
  readonly project: string
}

interface Wanted {
  readonly where: Filter
  readonly isOwn: (lane: string) => boolean
}

async function eventsWhere(sessions: Sessions, { where, isOwn }: Wanted, signal: AbortSignal): Promise<Found[]> {
  const ordinals = new Map<string, Set<number>>()
  for (const row of await sessions.fewParts(where)) {
    const isCall = row.type === "tool_call" && isOwn(row.lane)
    if (!isCall || !isFileTool(row.source_agent, row.tool_name)) continue
    const known = ordinals.get(row.session_id) ?? new Set()
    ordinals.set(row.session_id, known.add(row.message_ordinal))
  }
  signal.throwIfAborted()
  const ids = [...ordinals.keys()]
  if (ids.length === 0) return []
  const found: Found[] = []
  for (const session of await sessions.sessions(ids)) {
    signal.throwIfAborted()
    found.push(...(await eventsOfSession(sessions, session, [...(ordinals.get(session.id) ?? [])])))
  }
  return found.toSorted((left, right) => byTime(left.event, right.event))
}

const FILE_KINDS = new Set<string>(["read", "write", "edit", "patch", "shell"])

function isFileTool(sourceAgent: string, name: string | null): boolean {
  const vocabulary = originOf(sourceAgent)?.vocabulary ?? []
  return vocabulary.some((row) => row.name === name && FILE_KINDS.has(row.kind))
}

// --- One session -------------------------------------------------------------------------------------------------------

async function eventsOfSession(sessions: Sessions, session: Session, ordinals: readonly number[]): Promise<Found[]> {
  const adapter = originOf(session.source_agent)
  const vocabulary = adapter?.vocabulary
  if (vocabulary === undefined) return []
  const [gone, entries] = await Promise.all([
    sessions.superseded([session.id]),
    sessions.entries(session.id, { only: ordinals }),
  ])
  const calling = entries.filter(({ message }) => !gone.has(session.id, message.id))
  const calls = calling.flatMap((entry) => entry.parts.filter((part) => part.type === "tool_call"))
  const results = await resultsOf(sessions, session.id, calls)
  return calling.flatMap((entry) =>
    entry.parts.flatMap((part): Found[] => {
      const result = part.type === "tool_call" ? results.get(part.call_id) : undefined
      // A call that failed, or that nothing answered, did nothing that is known.
      if (part.type !== "tool_call" || result === undefined || result.part.is_failure) return []
      const read = (each: JsonObject) => adapter?.files?.(each, part.call_id, textOfResult(result.part))
      const record = firstFound([...result.records, rawRecordOf(entry)], read)
      const { name, params } = part
      const call = { name, params: params as JsonObject, vocabulary, record }
      return changesOf(call).map((change) => ({
        event: {
          path: pathInProject(change.path, session.project),
          atMicros: microsOfText(entry.message.timestamp) ?? 0n,
          sessionId: session.id,
          messageId: entry.message.id,
          sourceAgent: session.source_agent,
          change,
          shownBefore: () => shownBefore(sessions, session.id, entry.message.ordinal),
        },
        project: session.project,
      }))
    }),
  )
}

interface Result {
  readonly part: ToolResultPart
  readonly records: readonly JsonObject[]
}

/** The results of the calls with the records that they came in, the last of each where a client wrote several. */
async function resultsOf(
  sessions: Sessions,
  sessionId: string,
  calls: readonly ToolCallPart[],
): Promise<ReadonlyMap<string, Result>> {
  const callIds = new Set(calls.map(({ call_id }) => call_id))
  const ordinals = new Set<number>()
  for (const { type, call_id: callId, message_ordinal: ordinal } of await sessions.fewParts(
    eq("session_id", sessionId),
  ))
    if (type === "tool_result" && callId !== null && callIds.has(callId)) ordinals.add(ordinal)
  const entries = await sessions.entries(sessionId, { only: [...ordinals] })
  const firsts = entries.flatMap(({ message }) => {
    const { of } = sourceOf(message)
    return typeof of === "string" ? [of] : []
  })
  const owners = await Promise.all([...new Set(firsts)].map((id) => sessions.messages(id, sessionId)))
  const records = new Map(owners.flat().map((entry) => [entry.message.id, rawRecordOf(entry)]))
  return new Map(
    entries.flatMap((entry) => {
      const { of } = sourceOf(entry.message)
      const shared = typeof of === "string" ? records.get(of) : undefined
      const told = [rawRecordOf(entry), ...(shared === undefined ? [] : [shared])]
      return entry.parts
        .filter((part) => part.type === "tool_result")
        .map((part) => [part.call_id, { part, records: told }] as const)
    }),
  )
}

function rawRecordOf({ message }: Entry): JsonObject {
  const { record } = sourceOf(message)
  return (record ?? {}) as JsonObject
}

function firstFound<From, To>(all: readonly From[], read: (from: From) => To | undefined): To | undefined {
  for (const each of all) {
    const found = read(each)
    if (found !== undefined) return found
  }
  return undefined
}

function textOfResult({ result }: ToolResultPart): string {
  return resultContent(result as JsonObject)
    .map((content) => (content.type === "text" ? content.text : ""))
    .join("\n")
}

/** What stood before the agent's eyes when it wrote that message. */
async function shownBefore(sessions: Sessions, sessionId: string, ordinal: number): Promise<Shown> {
  const lines = new Set<string>()
  const results: string[] = []
  for (const { message, parts } of await sessions.entries(sessionId, { to: ordinal - 1 })) {
    for (const part of parts) {
      const isPrompt = part.type === "text" && message.role === "user"
      if (!isPrompt && part.type !== "tool_result") continue
      const text = part.type === "text" ? part.text : textOfResult(part)
      for (const line of shownLines(text)) lines.add(line)
      // That a file is not there is said by its name, too.
      if (part.type === "tool_result" && !part.is_failure) results.push(text)
    }
  }
  return { lines, mentions: (name) => results.some((text) => text.includes(name)) }
}
