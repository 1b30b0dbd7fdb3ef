/**
 * Writing sessions: entries in, one commit per table out. Order of a flush: blobs, parts, messages, sessions, so that
 * whatever is visible is whole; everything is insert-if-absent, so that whatever is repeated is a no-op.
 */

import { PondError } from "../model/errors.ts"
import type { Entry, Message, Part, Session } from "../model/session.ts"
import { and, eq, isIn, isNull, not, range } from "../substrate/filter.ts"
import type { Table } from "../substrate/table.ts"
import { createBlobSink } from "./oversized.ts"
import { markReplays } from "./replays.ts"
import { type IngestFacts, messageRow, partRows, type SessionFacts, sessionRow } from "./rows.ts"
import { CONTEXT_DEPTH, createTermWriter, type Spoken } from "./search-text.ts"
import type { BLOBS, Lane, MESSAGES, MessageRow, PARTS, PartRow, SESSIONS } from "./tables.ts"

export interface SessionTables {
  readonly sessions: Table<(typeof SESSIONS)["columns"]>
  readonly messages: Table<(typeof MESSAGES)["columns"]>
  readonly parts: Table<(typeof PARTS)["columns"]>
  readonly blobs: Table<(typeof BLOBS)["columns"]>
}

/** A session, or the next stretch of one. The entries are in order; earlier ones may be stored already. */
export interface SessionBatch {
  readonly session: Session
  readonly entries: readonly Entry[]
}

export interface BatchResult {
  readonly sessionId: string
  readonly status: "stored" | "unchanged" | "rejected"
  readonly isNewSession: boolean
  readonly inserted: { readonly messages: number; readonly parts: number }
  readonly error?: PondError
}

export async function writeBatches(
  tables: SessionTables,
  batches: readonly SessionBatch[],
  facts: IngestFacts,
): Promise<BatchResult[]> {
  const stored = await storedSessions(tables, batches)
  const accepted = batches.filter(({ session }) => faultOf(session, stored) === undefined)
  const marked = await markReplays(tables.messages, accepted, stored)
  const blobs = createBlobSink()
  const rows = { messages: [] as MessageRow[], parts: [] as PartRow[] }
  for (const { session, entries } of marked) {
    const sessionFacts: SessionFacts = { ...facts, sourceAgent: session.source_agent, project: session.project }
    const terms = createTermWriter(stored.has(session.id) ? await spokenBefore(tables, session.id, entries) : [])
    for (const entry of entries) {
      const lane = laneOf(session, entry.message)
      rows.messages.push(messageRow(entry, sessionFacts, { lane, terms }, blobs))
      for (const row of partRows(entry, sessionFacts, lane, blobs)) rows.parts.push(row)
    }
  }
  const newSessions = distinctById(accepted.map(({ session }) => session)).filter(({ id }) => !stored.has(id))
  const sessionRows = newSessions.map((session) => sessionRow(session, facts, blobs))
  const blobRows = blobs.take()
  if (blobRows.length > 0) await tables.blobs.insertAbsent(blobRows)
  const parts = await tables.parts.insertAbsent(rows.parts)
  const messages = await tables.messages.insertAbsent(rows.messages)
  if (sessionRows.length > 0) await tables.sessions.insertAbsent(sessionRows)
  return report(batches, stored, { messages: messages.absent, parts: parts.absent })
}

/** A session that goes on: what was said last is part of what its next messages are found by. */
async function spokenBefore(tables: SessionTables, sessionId: string, entries: readonly Entry[]): Promise<Spoken[]> {
  const first = entries[0]?.message.ordinal ?? 0
  if (first === 0) return []
  const rows = await tables.messages.read({
    columns: ["role", "search_text", "ordinal"],
    where: and(
      eq("session_id", sessionId),
      range("ordinal", { to: first, toExclusive: true }),
      not(isNull("search_text")),
    ),
    orderBy: [{ column: "ordinal", descending: true }],
    limit: CONTEXT_DEPTH,
  })
  return rows.toReversed().map(({ role, search_text }) => ({ role, text: search_text ?? "" }))
}

/** What a stored session says of the two facts that may never change. */
export type StoredSessions = ReadonlyMap<string, Pick<Session, "source_agent" | "project">>

async function storedSessions(tables: SessionTables, batches: readonly SessionBatch[]): Promise<StoredSessions> {
  const ids = [...new Set(batches.map(({ session }) => session.id))]
  if (ids.length === 0) return new Map()
  const rows = await tables.sessions.read({ columns: ["id", "source_agent", "project"], where: isIn("id", ids) })
  return new Map(rows.map((row) => [row.id, row]))
}

/** Both are copied onto every message, so a second value would make two truths. */
function faultOf(session: Session, stored: StoredSessions): PondError | undefined {
  const before = stored.get(session.id)
  if (before === undefined) return undefined
  for (const field of ["source_agent", "project"] as const) {
    if (before[field] === session[field]) continue
    return new PondError(
      "validation_failed",
      `The session ${session.id} is stored with ${field} "${before[field]}" and cannot become "${session[field]}". Give the other session another id.`,
      { details: { session_id: session.id, field, stored: before[field], given: session[field] } },
    )
  }
  return undefined
}

function laneOf(session: Session, message: Message): Lane {
  const pond = message.options["pond"] as { replay_of?: unknown } | undefined
  if (pond?.replay_of !== undefined) return "replay"
  return session.source_agent.includes("/") ? "subagent" : "main"
}

function distinctById(sessions: readonly Session[]): Session[] {
  return [...new Map(sessions.map((session) => [session.id, session] as const).reverse()).values()].reverse()
}

interface Absent {
  readonly messages: readonly { readonly session_id: string }[]
  readonly parts: readonly { readonly session_id: string }[]
}

function report(batches: readonly SessionBatch[], stored: StoredSessions, absent: Absent): BatchResult[] {
  const messages = countBySession(absent.messages)
  const parts = countBySession(absent.parts)
  return distinctById(batches.map(({ session }) => session)).map(({ id, ...session }) => {
    const error = faultOf({ id, ...session }, stored)
    const inserted = { messages: messages.get(id) ?? 0, parts: parts.get(id) ?? 0 }
    const isNewSession = !stored.has(id)
    const fields = { sessionId: id, isNewSession, inserted }
    if (error !== undefined) return { ...fields, status: "rejected", error }
    const isChanged = isNewSession || inserted.messages > 0 || inserted.parts > 0
    return { ...fields, status: isChanged ? "stored" : "unchanged" }
  })
}

function countBySession(rows: readonly { readonly session_id: string }[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { session_id } of rows) counts.set(session_id, (counts.get(session_id) ?? 0) + 1)
  return counts
}

/** About how much memory the rows of an entry take: what a caller adds up to decide when to flush. */
export function entryUnits({ message, parts }: Entry): number {
  return parts.reduce(
    (units, part) => units + partUnits(part),
    256 + (message.role === "system" ? message.content.length : 0),
  )
}

function partUnits(part: Part): number {
  if ("text" in part) return part.text.length + 256
  if (part.type === "tool_result" && typeof part.result === "string") return part.result.length + 256
  return part.type === "file" ? (Object.values(part.data)[0]?.length ?? 0) + 256 : 512
}
