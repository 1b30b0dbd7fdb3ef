/**
 * Reading sessions: by id through an index, never by scanning a table. Values come back exactly as they were written.
 */
import { PondError } from "../model/errors.ts"
import type { Entry, Message, Part, Session, SessionLog, SessionTree } from "../model/session.ts"
import { visibleLine } from "../model/visible.ts"
import { and, eq, isIn, range } from "../substrate/filter.ts"
import { plainBlobs } from "./blob-packing.ts"
import { MissingBlob } from "./oversized.ts"
import {
  MESSAGE_COLUMNS,
  PART_COLUMNS,
  type PlaceKind,
  type PointReads,
  type ReadMessage,
  type ReadPart,
  type ReadSession,
} from "./point-reads.ts"
import { type Blobs, blobsOfPart, blobsOfRow, messageOfRow, partOfRow, sessionOfRow } from "./rows.ts"
import type { SessionTables } from "./write.ts"

/** Lineage deeper than this is a broken graph, not a family. */
const LINEAGE_DEPTH_MAX = 64

const LOG_MESSAGES_AT_ONCE = 4_096

export interface OrdinalRange {
  readonly from?: number
  readonly to?: number
  /** These ordinals alone. */
  readonly only?: readonly number[]
}

/** A message by its place, without its content. */
export interface Place {
  readonly id: string
  readonly ordinal: number
}

/** What readers of sessions stand on: the tables, and the reads by name that they share with each other. */
export interface Reading {
  readonly tables: SessionTables
  readonly points: PointReads
}

export async function readSession({ tables, points }: Reading, id: string): Promise<Session | undefined> {
  return (await sessionsOf(tables, await points.sessions([id])))[0]
}

export async function readSessions({ tables, points }: Reading, ids: readonly string[]): Promise<Session[]> {
  return await sessionsOf(tables, await points.sessions(ids))
}

export async function readChildren({ tables, points }: Reading, id: string): Promise<Session[]> {
  return await sessionsOf(tables, await points.children([id]))
}

async function sessionsOf(tables: SessionTables, rows: readonly ReadSession[]): Promise<Session[]> {
  const blobs = await readBlobs(
    tables,
    rows.flatMap((row) => blobsOfRow([row.options])),
  )
  return rows.map((row) => sessionOfRow(row, blobs))
}

/** The entries whose ordinals lie in the range, in order. */
export async function readEntries(reading: Reading, sessionId: string, ordinals: OrdinalRange = {}): Promise<Entry[]> {
  const { tables, points } = reading
  if (ordinals.only !== undefined) {
    const keys = ordinals.only.map((ordinal) => ({ sessionId, ordinal }))
    const [messages, parts] = await Promise.all([points.messagesAt(keys), points.partsAt(keys)])
    return await assembled(tables, messages, parts)
  }
  const within = (column: string) => {
    const own = eq("session_id", sessionId)
    const isWhole = ordinals.from === undefined && ordinals.to === undefined
    return isWhole ? own : and(own, range(column, ordinals))
  }
  const [messages, parts] = await Promise.all([
    tables.messages.read({ columns: MESSAGE_COLUMNS, where: within("ordinal") }),
    tables.parts.read({ columns: PART_COLUMNS, where: within("message_ordinal") }),
  ])
  return await assembled(tables, messages, parts)
}

/** Where the messages of a session stand, in order. */
export async function readPlaces({ points }: Reading, sessionId: string, kind: PlaceKind): Promise<Place[]> {
  const rows = await points.places[kind]([sessionId])
  return rows.toSorted((left, right) => left.ordinal - right.ordinal)
}

/** Messages by their own id, in every session that has one of that id, with their parts. */
export async function readMessages(
  { tables, points }: Reading,
  messageId: string,
  sessionId?: string,
): Promise<Entry[]> {
  const messages =
    sessionId === undefined
      ? await tables.messages.read({ columns: MESSAGE_COLUMNS, where: eq("id", messageId) })
      : await points.messagesNamed([{ sessionId, messageId }])
  const parts = await points.partsNamed(messages.map((row) => ({ sessionId: row.session_id, messageId })))
  return await assembled(tables, messages, parts)
}

export async function readLog(reading: Reading, sessionId: string): Promise<SessionLog> {
  const session = await readSession(reading, sessionId)
  if (session === undefined) throw sessionNotFound(sessionId)
  const where = eq("session_id", sessionId)
  const places = await reading.tables.messages.read({ columns: ["ordinal"], where })
  const ordinals = Int32Array.from(new Set(places.map(({ ordinal }) => ordinal))).sort()
  const entries: Entry[] = []
  // What the engine read of a stretch, and the rows of it, are let go before the next one.
  for (let index = 0; index < ordinals.length; index += LOG_MESSAGES_AT_ONCE) {
    const stretch = ordinals.subarray(index, index + LOG_MESSAGES_AT_ONCE)
    const [from, to] = [stretch[0] as number, stretch.at(-1) as number]
    for (const entry of await readEntries(reading, sessionId, { from, to })) entries.push(entry)
  }
  return { session, entries }
}

/** A session with everything that names it as its parent, however deep (`adapter-lineage-complete-restore`). */
export async function readTree(
  reading: Reading,
  sessionId: string,
  above: readonly string[] = [],
): Promise<SessionTree> {
  if (above.includes(sessionId) || above.length > LINEAGE_DEPTH_MAX) {
    throw new PondError(
      "validation_failed",
      `The lineage of the session ${above[0] ?? sessionId} has a cycle: ${[...above, sessionId].join(" -> ")}. None of them can be written before the others. Read each with pond get.`,
      { details: { cycle: [...above, sessionId] } },
    )
  }
  const log = await readLog(reading, sessionId)
  const ids = await reading.points.children([sessionId])
  const children: SessionTree[] = []
  for (const { id } of ids.toSorted((left, right) => (left.id < right.id ? -1 : 1))) {
    children.push(await readTree(reading, id, [...above, sessionId]))
  }
  return { ...log, children }
}

export function sessionNotFound(sessionId: string): PondError {
  return new PondError(
    "not_found",
    `There is no session ${visibleLine(sessionId)} in this store. \`pond search\` finds sessions and prints their ids.`,
    {
      details: { session_id: sessionId },
    },
  )
}

async function assembled(
  tables: SessionTables,
  messages: readonly ReadMessage[],
  parts: readonly Omit<ReadPart, "message_ordinal">[],
): Promise<Entry[]> {
  const references = [
    ...messages.flatMap((row) => blobsOfRow([row.content, row.options])),
    ...parts.flatMap((row) => blobsOfPart(row)),
  ]
  const blobs = await readBlobs(tables, references)
  const byMessage = Map.groupBy(parts, (row) => messageKey(row.session_id, row.message_id))
  return messages
    .toSorted((left, right) => left.ordinal - right.ordinal)
    .map((row) => {
      const own = byMessage.get(messageKey(row.session_id, row.id)) ?? []
      return entryOf(
        messageOfRow(row, blobs),
        own.toSorted((left, right) => left.ordinal - right.ordinal).map((part) => partOfRow(part, blobs)),
      )
    })
}

function entryOf(message: Message, parts: readonly Part[]): Entry {
  return { message, parts } as Entry
}

function messageKey(sessionId: string, messageId: string): string {
  return `${sessionId.length} ${sessionId}${messageId}`
}

async function readBlobs(tables: SessionTables, references: readonly string[]): Promise<Blobs> {
  const wanted = [...new Set(references)]
  if (wanted.length === 0) return new Map()
  const rows = await tables.blobs.readBlobs("bytes", { columns: ["sha256", "size"], where: isIn("sha256", wanted) })
  const blobs = plainBlobs(rows)
  const missing = wanted.find((sha256) => !blobs.has(sha256))
  if (missing !== undefined) {
    throw new PondError(
      "storage_unavailable",
      "The store lacks the bytes of an attachment. Run `pond doctor`, then `pond sync --full`.",
      {
        details: { sha256: missing },
        cause: new MissingBlob(missing),
      },
    )
  }
  return blobs
}
