/**
 * Turns a session's entries into columns. It asks no store, so it can run in another thread. What only the store knows
 * (which messages are copies of another session's) is added when they are written.
 */
import type { Issue } from "../../model/report.ts"
import type { Entry, Message, Session } from "../../model/session.ts"

import { type ColumnBatch, columnBytes, columnsOf, rowsOfColumns } from "../../substrate/columns/column-batch.ts"
import { unpackBlobs } from "../rows/blob-packing.ts"

import { createBlobSink } from "../rows/oversized.ts"
import {
  type IngestFacts,
  messageOfRow,
  messageRow,
  partOfRow,
  partRows,
  type SessionFacts,
} from "../rows/row-codecs.ts"
import { type BlobRow, type Lane, MESSAGES, type MessageRow, PARTS, type PartRow } from "../tables.ts"

/** A session, or the next stretch of one. The entries are in order; earlier ones may be stored already. */
export interface SessionBatch {
  readonly session: Session
  readonly entries: readonly Entry[]
}

/** The same as columns. Messages are in order, and parts in the order of their messages. */
export interface PreparedBatch {
  readonly session: Session
  readonly messages: ColumnBatch
  readonly parts: ColumnBatch
  readonly blobs: readonly BlobRow[]
  readonly spoken: SpokenRows
  /** Of a session that begins with messages of its parent: the last of them. */
  readonly copiedTo?: string | undefined
}

/**
 * Messages with text that is searched: their row numbers, and the keys by which copies in other sessions are
 * recognized.
 */
export interface SpokenRows {
  readonly places: readonly number[]
  readonly keys: readonly string[]
}

export function prepare({ session, entries }: SessionBatch, facts: IngestFacts): PreparedBatch {
  const blobs = createBlobSink()
  const sessionFacts: SessionFacts = { ...facts, sourceAgent: session.source_agent, project: session.project }
  const messages: MessageRow[] = []
  const parts: PartRow[] = []
  let lastTitle: string | undefined
  for (const entry of entries) {
    const title = recordedTitle(entry)
    // Clients write the same title again and again: one row is enough to find it.
    const isNew = title !== undefined && title !== lastTitle
    lastTitle = title ?? lastTitle
    const lane: Lane = isNew ? "title" : laneOf(session, entry.message)
    const row = messageRow(entry, { ...sessionFacts, lane }, blobs)
    messages.push(row)
    for (const part of partRows(entry, row, blobs)) parts.push(part)
  }
  return {
    session,
    messages: columnsOf(MESSAGES, messages),
    parts: columnsOf(PARTS, parts),
    blobs: blobs.take(),
    spoken: spokenOf(messages),
  }
}

/**
 * Rows of these entries whose key an earlier one has, named by their ids: the tables would keep the first of each and drop
 * the others (`adapter-integrity-no-silent-drops`).
 */
export function rowsWithTakenKeys(entries: readonly Entry[]): string[] {
  const messages = new Set<string>()
  const taken: string[] = []
  for (const { message, parts } of entries) {
    if (messages.has(message.id)) taken.push(`the message ${message.id}`)
    messages.add(message.id)
    if (parts.length < 2) continue
    const ids = new Set<string>()
    for (const { id } of parts) {
      if (ids.has(id)) taken.push(`the part ${id} of the message ${message.id}`)
      ids.add(id)
    }
  }
  return taken
}

/** Adapters give every row its own key. Where one does not, what is lost is said. */
export function takenKeyIssues({ key, files }: TakenFrom, entries: readonly Entry[]): Issue[] {
  const file = files[0]?.relativePath ?? key
  return rowsWithTakenKeys(entries).map((found) => ({ kind: "taken_key", severity: "fault", file, found }))
}

/** The unit that the rows were read from. */
interface TakenFrom {
  readonly key: string
  readonly files: readonly { readonly relativePath: string }[]
}

/** Turns columns back into the entries they were made of. */
export function entriesOf({ messages, parts, blobs }: PreparedBatch): Entry[] {
  const bytes = unpackBlobs(blobs)
  const partsOf = Map.groupBy(rowsOfColumns(PARTS, parts) as unknown as readonly PartRow[], (row) => row.message_id)
  return (rowsOfColumns(MESSAGES, messages) as unknown as readonly MessageRow[]).map((row) => ({
    message: messageOfRow(row, bytes),
    parts: (partsOf.get(row.id) ?? []).map((part) => partOfRow(part, bytes)),
  })) as Entry[]
}

/** Carriers repeat across sessions without being copies, so only messages with searched text count. */
function spokenOf(rows: readonly MessageRow[]): SpokenRows {
  const spoken = rows.map((row, place) => ({ row, place })).filter(({ row }) => row.search_text !== null)
  return { places: spoken.map(({ place }) => place), keys: spoken.map(({ row }) => momentKey(row)) }
}

/**
 * Ids are unique only within a session: programs number their messages from one, and write many in one second. A copy has
 * the time and the text of what it copies.
 */
export function momentKey({ timestamp, id, search_text: text }: SpokenRow): string {
  return `${timestamp}:${Bun.hash.xxHash64(text ?? "").toString(36)} ${id}`
}

type SpokenRow = Pick<MessageRow, "timestamp" | "id" | "search_text">

export function idOfMoment(key: string): string {
  return key.slice(key.indexOf(" ") + 1)
}

function laneOf(session: Session, message: Message): Lane {
  const pond = message.options["pond"] as { replay_of?: unknown } | undefined
  if (pond?.replay_of !== undefined) return "replay"
  return session.source_agent.includes("/") ? "subagent" : "main"
}

/** The title that a record gives its session, if it says nothing else. */
function recordedTitle({ message }: Entry): string | undefined {
  if (message.role !== "system" || message.content !== "") return undefined
  const pond = message.options["pond"] as { readonly title?: unknown; readonly replay_of?: unknown } | undefined
  return typeof pond?.title === "string" && pond.replay_of === undefined ? pond.title : undefined
}

const ROW_UNITS = 64

/** Estimates the memory of the rows, by which a caller decides when to flush. */
export function estimateBytes({ messages, parts, blobs }: PreparedBatch): number {
  const rows = ROW_UNITS * (messages.length + parts.length) + columnBytes(messages) + columnBytes(parts)
  return blobs.reduce((sum, { bytes }) => sum + bytes.byteLength, rows)
}
