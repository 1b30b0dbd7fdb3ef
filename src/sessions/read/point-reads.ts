/**
 * Reads by key: sessions, their children, positions, messages and parts. Callers that ask at the same time share one
 * read of the table, so that a server with many readers pays its fixed cost once.
 */

import { type CoalescedRead, coalesceReads } from "../../substrate/coalesce-reads.ts"
import { and, eq, type Filter, isIn, isNull, not, or } from "../../substrate/filter.ts"
import type { ScannedName } from "../../substrate/table-definition.ts"
import type { MESSAGES, MessageRow, PARTS, PartRow, SESSIONS, SessionRow } from "../tables.ts"
import type { SessionTables } from "../write/write-sessions.ts"

const SESSION_COLUMNS = [
  "id",
  "parent_session_id",
  "parent_message_id",
  "source_agent",
  "created_at",
  "project",
  "title",
  "options",
  "host",
] as const satisfies readonly ScannedName<(typeof SESSIONS)["columns"]>[]
export const MESSAGE_COLUMNS = [
  "session_id",
  "id",
  "ordinal",
  "role",
  "timestamp",
  "content",
  "options",
] as const satisfies readonly ScannedName<(typeof MESSAGES)["columns"]>[]
export const PART_COLUMNS = [
  "session_id",
  "message_id",
  "id",
  "ordinal",
  "message_ordinal",
  "type",
  "provenance",
  "tool_name",
  "call_id",
  "is_failure",
  "text",
  "variant_data",
  "options",
] as const satisfies readonly ScannedName<(typeof PARTS)["columns"]>[]

export type ReadSession = Pick<SessionRow, (typeof SESSION_COLUMNS)[number]>
export type ReadMessage = Pick<MessageRow, (typeof MESSAGE_COLUMNS)[number]>
export type ReadPart = Pick<PartRow, (typeof PART_COLUMNS)[number]>
type PlaceRow = Pick<MessageRow, "session_id" | "id" | "ordinal">

/** All messages of a session, those that say something (conversation), or those that are no carriers. */
export type PositionKind = "all" | "spoken" | "turns"

/** A message by its place in its session, and by its name there. */
export interface OrdinalKey {
  readonly sessionId: string
  readonly ordinal: number
}
export interface NameKey {
  readonly sessionId: string
  readonly messageId: string
}

export interface PointReads {
  readonly sessions: CoalescedRead<string, ReadSession>
  /** By the session that they name as their parent. */
  readonly children: CoalescedRead<string, ReadSession>
  readonly places: Readonly<Record<PositionKind, CoalescedRead<string, PlaceRow>>>
  readonly messagesAt: CoalescedRead<OrdinalKey, ReadMessage>
  readonly partsAt: CoalescedRead<OrdinalKey, ReadPart>
  readonly messagesNamed: CoalescedRead<NameKey, ReadMessage>
  readonly partsNamed: CoalescedRead<NameKey, ReadPart>
}

export const SESSIONS_MAX = 128
const PLACES_OF_MAX = 64
export const MESSAGES_MAX = 400

export const itself = (key: string) => key
const textOfPlace = ({ sessionId, ordinal }: OrdinalKey) => `${ordinal} ${sessionId}`
export const textOfName = ({ sessionId, messageId }: NameKey) => `${sessionId.length} ${sessionId}${messageId}`

export function openPointReads({ sessions, messages, parts }: SessionTables): PointReads {
  const sessionsBy = (column: "id" | "parent_session_id") =>
    coalesceReads<string, ReadSession>({
      read: (ids) => sessions.read({ columns: SESSION_COLUMNS, where: isIn(column, ids) }),
      keyOf: (row) => row[column] ?? "",
      textOf: itself,
      keysMax: SESSIONS_MAX,
    })
  const placesWhere = (condition?: Filter) =>
    coalesceReads<string, PlaceRow>({
      read: (ids) =>
        messages.read({
          columns: ["session_id", "id", "ordinal"],
          where: and(isIn("session_id", ids), ...(condition === undefined ? [] : [condition])),
        }),
      keyOf: (row) => row.session_id,
      textOf: itself,
      keysMax: PLACES_OF_MAX,
    })
  const named = <Row extends { readonly session_id: string }>(
    idOf: (row: Row) => string,
    read: (where: Filter) => Promise<readonly Row[]>,
    column: "id" | "message_id",
  ) =>
    coalesceReads<NameKey, Row>({
      read: (keys) => read(byNames(column, keys)),
      keyOf: (row) => ({ sessionId: row.session_id, messageId: idOf(row) }),
      textOf: textOfName,
      keysMax: MESSAGES_MAX,
    })
  return {
    sessions: sessionsBy("id"),
    children: sessionsBy("parent_session_id"),
    places: {
      all: placesWhere(),
      spoken: placesWhere(not(isNull("search_text"))),
      turns: placesWhere(not(eq("role", "system"))),
    },
    messagesAt: coalesceReads<OrdinalKey, ReadMessage>({
      read: (keys) => messages.read({ columns: MESSAGE_COLUMNS, where: byPlaces("ordinal", keys) }),
      keyOf: (row) => ({ sessionId: row.session_id, ordinal: row.ordinal }),
      textOf: textOfPlace,
      keysMax: MESSAGES_MAX,
    }),
    partsAt: coalesceReads<OrdinalKey, ReadPart>({
      read: (keys) => parts.read({ columns: PART_COLUMNS, where: byPlaces("message_ordinal", keys) }),
      keyOf: (row) => ({ sessionId: row.session_id, ordinal: row.message_ordinal }),
      textOf: textOfPlace,
      keysMax: MESSAGES_MAX,
    }),
    messagesNamed: named(
      (row: ReadMessage) => row.id,
      (where) => messages.read({ columns: MESSAGE_COLUMNS, where }),
      "id",
    ),
    partsNamed: named(
      (row: ReadPart) => row.message_id,
      (where) => parts.read({ columns: PART_COLUMNS, where }),
      "message_id",
    ),
  }
}

function byPlaces(column: "ordinal" | "message_ordinal", keys: readonly OrdinalKey[]): Filter {
  const groups = Map.groupBy(keys, ({ sessionId }) => sessionId)
  return or(
    ...[...groups].map(([sessionId, own]) =>
      and(
        eq("session_id", sessionId),
        isIn(
          column,
          own.map(({ ordinal }) => ordinal),
        ),
      ),
    ),
  )
}

/** Each list by its own index. That a session has a message of another's name too costs a row that nobody is given. */
export function byNames(column: "id" | "message_id", keys: readonly NameKey[]): Filter {
  return and(
    isIn(
      "session_id",
      keys.map(({ sessionId }) => sessionId),
    ),
    isIn(
      column,
      keys.map(({ messageId }) => messageId),
    ),
  )
}
