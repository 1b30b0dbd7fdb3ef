/**
 * Reading sessions: by id through an index, never by scanning a table. Values come back exactly as they were written.
 */
import { PondError } from "../../model/errors.ts"
import type { Entry, Message, Part, Session, SessionLog } from "../../model/session.ts"
import { visibleLine } from "../../model/visible.ts"
import { madeValues } from "../../platform/memory.ts"
import { and, contains, eq, isIn, or, range, startsWith } from "../../substrate/filter.ts"
import { unpackBlobs } from "../rows/blob-packing.ts"
import { BLOB_SCHEME, MissingBlob } from "../rows/oversized.ts"
import {
  type Blobs,
  blobsOfPart,
  blobsOfRow,
  createInterner,
  messageOfRow,
  partOfRow,
  sessionOfRow,
} from "../rows/row-codecs.ts"
import type { SessionTables } from "../write/write-sessions.ts"
import {
  MESSAGE_COLUMNS,
  PART_COLUMNS,
  type PointReads,
  type PositionKind,
  type ReadMessage,
  type ReadPart,
  type ReadSession,
} from "./point-reads.ts"
import type { Titles } from "./titles.ts"

/** Lineage deeper than this is a broken graph, not a family. */
const LINEAGE_DEPTH_MAX = 64

/** So much of a long session is read at once. */
const LOG_MESSAGES_AT_ONCE = 4_096
const FIRST_MESSAGES_AT_ONCE = 64
const STRETCH_UNITS = 8 << 20
/** What a message takes besides its texts, and what its rows took. */
const MESSAGE_BYTES = 4_096

export interface OrdinalRange {
  readonly from?: number
  readonly to?: number
  /** These ordinals alone. */
  readonly only?: readonly number[]
}

/** Where a message stands in its session, without its content. */
export interface Place {
  readonly id: string
  readonly ordinal: number
}

/** What readers of sessions stand on: the tables, and the reads by name that they share with each other. */
export interface Reading {
  readonly tables: SessionTables
  readonly points: PointReads
  readonly titles: Titles
  /** Called for each session that is read. */
  readonly learn?: (session: Session) => void
}

export async function readSession(reading: Reading, id: string): Promise<Session | undefined> {
  return (await sessionsOf(reading, await reading.points.sessions([id])))[0]
}

export async function readSessions(reading: Reading, ids: readonly string[]): Promise<Session[]> {
  return await sessionsOf(reading, await reading.points.sessions(ids))
}

export async function readChildren(reading: Reading, id: string): Promise<Session[]> {
  return await sessionsOf(reading, await reading.points.children([id]))
}

async function sessionsOf({ tables, titles, learn }: Reading, stored: readonly ReadSession[]): Promise<Session[]> {
  const rows = await titles.last(stored)
  const blobs = await readBlobs(
    tables,
    rows.flatMap((row) => blobsOfRow([row.options])),
  )
  const sessions = rows.map((row) => sessionOfRow(row, blobs))
  for (const session of sessions) learn?.(session)
  return sessions
}

/** The entries whose ordinals lie in the range, in order. */
export async function readEntries(reading: Reading, sessionId: string, ordinals: OrdinalRange = {}): Promise<Entry[]> {
  const { tables, points } = reading
  if (ordinals.only !== undefined) {
    const keys = ordinals.only.map((ordinal) => ({ sessionId, ordinal }))
    const [messages, parts] = await Promise.all([points.messagesAt(keys), points.partsAt(keys)])
    return await assembleEntries(tables, messages, parts)
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
  return await assembleEntries(tables, messages, parts)
}

/** Where the messages of a session stand, in order. */
export async function readPositions({ points }: Reading, sessionId: string, kind: PositionKind): Promise<Place[]> {
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
  return await assembleEntries(tables, messages, parts)
}

export async function readLog(reading: Reading, sessionId: string): Promise<SessionLog> {
  return await collectLog(await openLog(reading, sessionId))
}

/**
 * A session whose messages are read when they are asked for, a stretch after the other: a long one need not be held whole.
 */
export interface StoredLog {
  readonly session: Session
  /** All its entries in order, each time anew. */
  readonly stretches: () => AsyncIterable<readonly Entry[]>
  /** Those of them that are later states of others. */
  readonly revisions: () => Promise<readonly Entry[]>
}

export interface StoredTree extends StoredLog {
  readonly children: readonly StoredTree[]
}

export async function collectLog({ session, stretches }: StoredLog): Promise<SessionLog> {
  const entries: Entry[] = []
  for await (const stretch of stretches()) for (const entry of stretch) entries.push(entry)
  return { session, entries }
}

export async function openLog(reading: Reading, sessionId: string): Promise<StoredLog> {
  const session = await readSession(reading, sessionId)
  if (session === undefined) throw sessionNotFound(sessionId)
  return {
    session,
    stretches: () => readStretches(reading, sessionId),
    revisions: () => readRevisions(reading, sessionId),
  }
}

/** What the engine read of a stretch, and the rows of it, are let go before the next one. */
async function* readStretches(reading: Reading, sessionId: string): AsyncGenerator<readonly Entry[]> {
  const where = eq("session_id", sessionId)
  const places = await reading.tables.messages.read({ columns: ["ordinal"], where })
  const ordinals = Int32Array.from(new Set(places.map(({ ordinal }) => ordinal))).sort()
  for (let index = 0, count = FIRST_MESSAGES_AT_ONCE; index < ordinals.length; ) {
    const stretch = ordinals.subarray(index, index + count)
    index += stretch.length
    const entries = await readEntries(reading, sessionId, {
      from: stretch[0] as number,
      to: stretch.at(-1) as number,
    })
    // Few messages may be large, and what is as long again is most often as large.
    const share = STRETCH_UNITS / Math.max(1, codeUnitsOf(entries))
    count = Math.min(LOG_MESSAGES_AT_ONCE, Math.max(1, Math.floor(stretch.length * Math.min(share, 4))))
    madeValues(codeUnitsOf(entries) + MESSAGE_BYTES * entries.length, entries.length)
    yield entries
  }
}

/** The length of all texts of some messages; their other fields are not counted. */
export function codeUnitsOf(entries: readonly Entry[]): number {
  let units = 0
  for (const { message, parts } of entries) {
    if (message.role === "system") units += message.content.length
    for (const part of parts as readonly Part[]) units += unitsOfPart(part)
  }
  return units
}

function unitsOfPart(part: Part): number {
  if ("text" in part) return part.text.length
  if (part.type === "tool_result") return typeof part.result === "string" ? part.result.length : 0
  if (part.type === "file") return Object.values(part.data)[0]?.length ?? 0
  return 0
}

/** Where options lie with the blobs, what they say is not known before they are read. */
async function readRevisions({ tables }: Reading, sessionId: string): Promise<readonly Entry[]> {
  const mayRevise = or(contains("options", '"revision_of"'), startsWith("options", BLOB_SCHEME))
  const where = and(eq("session_id", sessionId), mayRevise)
  const entries = await assembleEntries(tables, await tables.messages.read({ columns: MESSAGE_COLUMNS, where }), [])
  return entries.filter(({ message }) => isRevision(message))
}

function isRevision({ options }: Message): boolean {
  return (options["pond"] as { revision_of?: unknown } | undefined)?.revision_of !== undefined
}

/** A session with everything that names it as its parent, however deep (`adapter-lineage-complete-restore`). */
export async function readTree(
  reading: Reading,
  sessionId: string,
  above: readonly string[] = [],
): Promise<StoredTree> {
  if (above.includes(sessionId) || above.length > LINEAGE_DEPTH_MAX) {
    throw new PondError(
      "validation_failed",
      `The lineage of the session ${above[0] ?? sessionId} has a cycle: ${[...above, sessionId].join(" -> ")}. They cannot be restored. Read each one with pond get.`,
      { details: { cycle: [...above, sessionId] } },
    )
  }
  const log = await openLog(reading, sessionId)
  const ids = await reading.points.children([sessionId])
  const children: StoredTree[] = []
  for (const { id } of ids.toSorted((left, right) => (left.id < right.id ? -1 : 1))) {
    children.push(await readTree(reading, id, [...above, sessionId]))
  }
  return { ...log, children }
}

export function sessionNotFound(sessionId: string): PondError {
  return new PondError(
    "not_found",
    `No session ${visibleLine(sessionId)} in this store. \`pond search\` prints the ids of sessions.`,
    {
      details: { session_id: sessionId },
    },
  )
}

async function assembleEntries(
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
  const repeated = createInterner(blobs)
  return messages
    .toSorted((left, right) => left.ordinal - right.ordinal)
    .map((row) => {
      const own = byMessage.get(messageKey(row.session_id, row.id)) ?? []
      const message = messageOfRow({ ...row, session_id: repeated.text(row.session_id) }, blobs)
      const inOrder = own.toSorted((left, right) => left.ordinal - right.ordinal)
      return entryOf(
        message,
        inOrder.map((part) =>
          partOfRow({ ...part, session_id: message.session_id, message_id: message.id }, blobs, repeated.options),
        ),
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
  const blobs = unpackBlobs(rows)
  const missing = wanted.find((sha256) => !blobs.has(sha256))
  if (missing !== undefined) {
    throw new PondError(
      "storage_unavailable",
      "An attachment is missing from the store. Run `pond doctor`, then `pond sync --full`.",
      {
        details: { sha256: missing },
        cause: new MissingBlob(missing),
      },
    )
  }
  return blobs
}
