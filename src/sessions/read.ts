/**
 * Reading sessions: by id through an index, never by scanning a table. Values come back exactly as they were written.
 */
import { PondError } from "../model/errors.ts"
import type { Entry, Message, Part, Session, SessionLog, SessionTree } from "../model/session.ts"
import { and, eq, type Filter, isIn, range } from "../substrate/filter.ts"
import { MissingBlob } from "./oversized.ts"
import { type Blobs, blobsOfPart, blobsOfRow, messageOfRow, partOfRow, sessionOfRow } from "./rows.ts"
import type { SessionTables } from "./write.ts"

const SESSION_COLUMNS = [
  "id",
  "parent_session_id",
  "parent_message_id",
  "source_agent",
  "created_at",
  "project",
  "title",
  "options",
] as const
const MESSAGE_COLUMNS = ["session_id", "id", "ordinal", "role", "timestamp", "content", "options"] as const
const PART_COLUMNS = [
  "session_id",
  "message_id",
  "id",
  "ordinal",
  "type",
  "provenance",
  "tool_name",
  "call_id",
  "is_failure",
  "text",
  "variant_data",
  "options",
] as const

/** Lineage deeper than this is a broken graph, not a family. */
const LINEAGE_DEPTH_MAX = 64

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

export async function readSessions(tables: SessionTables, where: Filter): Promise<Session[]> {
  const rows = await tables.sessions.read({ columns: SESSION_COLUMNS, where })
  const blobs = await readBlobs(
    tables,
    rows.flatMap((row) => blobsOfRow([row.options])),
  )
  return rows.map((row) => sessionOfRow(row, blobs))
}

export async function readSession(tables: SessionTables, id: string): Promise<Session | undefined> {
  return (await readSessions(tables, eq("id", id)))[0]
}

/** The entries whose ordinals lie in the range, in order. */
export async function readEntries(
  tables: SessionTables,
  sessionId: string,
  ordinals: OrdinalRange = {},
): Promise<Entry[]> {
  const within = (column: string) => {
    const own = eq("session_id", sessionId)
    if (ordinals.only !== undefined) return and(own, isIn(column, ordinals.only))
    const isWhole = ordinals.from === undefined && ordinals.to === undefined
    return isWhole ? own : and(own, range(column, ordinals))
  }
  const [messages, parts] = await Promise.all([
    tables.messages.read({ columns: MESSAGE_COLUMNS, where: within("ordinal") }),
    tables.parts.read({ columns: PART_COLUMNS, where: within("message_ordinal") }),
  ])
  return await assembled(tables, messages, parts)
}

/** Where the messages of a session stand, in order: those that a filter leaves. */
export async function readPlaces(tables: SessionTables, sessionId: string, where?: Filter): Promise<Place[]> {
  const own = eq("session_id", sessionId)
  const rows = await tables.messages.read({
    columns: ["id", "ordinal"],
    where: where === undefined ? own : and(own, where),
  })
  return rows.toSorted((left, right) => left.ordinal - right.ordinal)
}

/** Messages by their own id, in every session that has one of that id, with their parts. */
export async function readMessages(tables: SessionTables, messageId: string, sessionId?: string): Promise<Entry[]> {
  const own = eq("id", messageId)
  const messages = await tables.messages.read({
    columns: MESSAGE_COLUMNS,
    where: sessionId === undefined ? own : and(own, eq("session_id", sessionId)),
  })
  const [first] = messages
  if (first === undefined) return []
  const sessionIds = isIn(
    "session_id",
    messages.map((row) => row.session_id),
  )
  const parts = await tables.parts.read({ columns: PART_COLUMNS, where: and(sessionIds, eq("message_id", messageId)) })
  return await assembled(tables, messages, parts)
}

export async function readLog(tables: SessionTables, sessionId: string): Promise<SessionLog> {
  const session = await readSession(tables, sessionId)
  if (session === undefined) throw sessionNotFound(sessionId)
  return { session, entries: await readEntries(tables, sessionId) }
}

/** A session with everything that names it as its parent, however deep (`adapter-lineage-complete-restore`). */
export async function readTree(
  tables: SessionTables,
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
  const log = await readLog(tables, sessionId)
  const ids = await tables.sessions.read({ columns: ["id"], where: eq("parent_session_id", sessionId) })
  const children: SessionTree[] = []
  for (const { id } of ids.toSorted((left, right) => (left.id < right.id ? -1 : 1))) {
    children.push(await readTree(tables, id, [...above, sessionId]))
  }
  return { ...log, children }
}

export function sessionNotFound(sessionId: string): PondError {
  return new PondError(
    "not_found",
    `There is no session ${sessionId} in this store. \`pond search\` finds sessions and prints their ids.`,
    {
      details: { session_id: sessionId },
    },
  )
}

type MessageRows = Parameters<typeof messageOfRow>[0][]
type PartRows = Parameters<typeof partOfRow>[0][]

async function assembled(tables: SessionTables, messages: MessageRows, parts: PartRows): Promise<Entry[]> {
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
  const rows = await tables.blobs.readBlobs("bytes", { columns: ["sha256"], where: isIn("sha256", wanted) })
  const blobs = new Map(rows.map((row) => [row.sha256, row.bytes ?? new Uint8Array(0)]))
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
