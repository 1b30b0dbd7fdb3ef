/**
 * Take canonical objects in: sessions, messages and parts, in batches. Partial success is normal: each session of a batch
 * is stored, found unchanged, or rejected with the place and the reason, and no session stands in another's way.
 */
import { type Static, Type } from "typebox"
import { Compile } from "typebox/compile"
import { ERROR_TABLE, type ErrorCode } from "../../model/errors.ts"
import {
  type Entry,
  IngestEvent,
  type Message,
  type Part,
  partsAllowed,
  type Session,
  type SessionEvent,
  sessionFault,
} from "../../model/session.ts"
import { microsOfText, textOfMicros } from "../../model/timestamp.ts"
import type { SessionBatch } from "../../sessions/write/prepare.ts"
import type { BatchResult } from "../../sessions/write/write-sessions.ts"
import { oneOf } from "../fields.ts"
import { closedObject, defineOperation } from "../operation.ts"
import { groupCommit } from "./group-commit.ts"

const EVENTS_MAX = 10_000

const IngestInput = closedObject({
  events: Type.Array(Type.Unknown(), {
    minItems: 1,
    maxItems: EVENTS_MAX,
    description:
      "For each session: the session, then each message followed by its parts. See the schema `ingest_event`.",
  }),
})

const IngestOutput = closedObject({
  results: Type.Array(
    closedObject({
      session_id: Type.String(),
      status: oneOf(["stored", "unchanged", "rejected", "erased", "excluded"], {
        description: "Of an erased session, or one of an excluded project, nothing is stored.",
      }),
      inserted: closedObject({ messages: Type.Integer(), parts: Type.Integer() }),
      error: Type.Optional(
        closedObject({
          code: Type.String(),
          message: Type.String(),
          details: Type.Record(Type.String(), Type.Unknown()),
        }),
      ),
    }),
  ),
})
export type IngestOutput = Static<typeof IngestOutput>
type Result = IngestOutput["results"][number]

export const ingest = defineOperation({
  name: "ingest",
  summary: "Store sessions that are already in the canonical form.",
  input: IngestInput,
  output: IngestOutput,
  errors: ["conflict"],
  surfaces: { http: true },
  read: false,
  run: async ({ pond }, { events }) => {
    const { batches, rejected } = groupEvents(events)
    const sessions = await pond.sessions()
    const written = batches.length === 0 ? [] : await groupCommit(pond, sessions, batches)
    return { results: [...written.map(resultOf), ...rejected] }
  },
})

// --- Events to sessions -----------------------------------------------------------------------------------------------

interface Grouped {
  readonly batches: readonly SessionBatch[]
  readonly rejected: readonly Result[]
}

interface Group {
  session: Session | undefined
  readonly entries: { message: Message; parts: Part[] }[]
  fault: Result | undefined
}

const event = Compile(IngestEvent)

function groupEvents(events: readonly unknown[]): Grouped {
  const groups = new Map<string, Group>()
  for (const [index, given] of events.entries()) {
    const id = sessionIdOf(given)
    const group = groups.get(id) ?? { session: undefined, entries: [], fault: undefined }
    groups.set(id, group)
    if (group.fault === undefined) group.fault = addEvent(group, given, index, id)
  }
  for (const [id, group] of groups) group.fault ??= wholeFault(group, id)
  const accepted = [...groups.values()].filter(({ fault }) => fault === undefined)
  return {
    batches: accepted.flatMap(({ session, entries }) =>
      session === undefined ? [] : [{ session, entries: entries as unknown as Entry[] }],
    ),
    rejected: [...groups.values()].flatMap(({ fault }) => fault ?? []),
  }
}

/** The order is fixed, so that a message is complete when the next one begins (`adapter-integrity-event-ordering`). */
function addEvent(group: Group, given: unknown, index: number, id: string): Result | undefined {
  if (!event.Check(given)) {
    const [first] = event.Errors(given)
    return rejection(id, `Event ${index} has an unexpected structure.`, {
      index,
      path: `/events/${index}${first?.instancePath ?? ""}`,
      fault: first?.message ?? "",
    })
  }
  const { kind, ...object } = given as unknown as SessionEvent
  const at = { index, path: `/events/${index}` }
  const moment = kind === "session" ? (object as Session).created_at : (object as Partial<Message>).timestamp
  if (moment !== undefined && microsOfText(moment) === undefined) {
    return rejection(id, `Event ${index}: "${moment}" is not a timestamp. Use RFC 3339: 2026-01-31T12:00:00Z.`, at)
  }
  if (kind === "session") {
    if (group.session !== undefined) return rejection(id, `Event ${index} repeats the id of another session.`, at)
    const session = { ...object, created_at: normalMoment((object as Session).created_at) } as Session
    const fault = sessionFault(session)
    if (fault !== undefined) return rejection(id, `Event ${index}: ${fault}.`, at)
    group.session = session
    return undefined
  }
  if (group.session === undefined) return rejection(id, `Event ${index} comes before its session.`, at)
  if (kind === "message") {
    const message = object as Message
    group.entries.push({ message: { ...message, timestamp: normalMoment(message.timestamp) } as Message, parts: [] })
    return undefined
  }
  const part = object as Part
  const last = group.entries.at(-1)
  if (last?.message.id !== part.message_id)
    return rejection(id, `Event ${index} is a part that does not follow its message.`, at)
  if (last.parts.some(({ id: other }) => other === part.id))
    return rejection(id, `Event ${index} repeats the id of another part of its message.`, at)
  last.parts.push(part)
  if (partsAllowed(last.message.role, [part])) return undefined
  return rejection(id, `Event ${index}: a message of role ${last.message.role} cannot contain ${part.type}.`, at)
}

function wholeFault({ entries }: Group, id: string): Result | undefined {
  for (const what of ["ordinal", "id"] as const) {
    const met = new Set<string | number>()
    for (const { message } of entries) {
      if (met.has(message[what]))
        return rejection(id, `Two messages have the ${what} ${message[what]}.`, { [what]: message[what] })
      met.add(message[what])
    }
  }
  return undefined
}

function normalMoment(text: string): string {
  const micros = microsOfText(text)
  return micros === undefined ? text : textOfMicros(micros)
}

function sessionIdOf(given: unknown): string {
  if (typeof given !== "object" || given === null) return ""
  const { kind, id, session_id } = given as { kind?: unknown; id?: unknown; session_id?: unknown }
  return String((kind === "session" ? id : session_id) ?? "")
}

function rejection(sessionId: string, message: string, details: Record<string, unknown>): Result {
  const code: ErrorCode = "validation_failed"
  return {
    session_id: sessionId,
    status: "rejected",
    inserted: { messages: 0, parts: 0 },
    error: { code, message, details },
  }
}

function resultOf({ sessionId, status, inserted, error }: BatchResult): Result {
  const fault =
    error === undefined
      ? {}
      : {
          error: {
            code: error.code,
            message: error.message,
            details: { ...error.details, retryable: ERROR_TABLE[error.code].retryable },
          },
        }
  return { session_id: sessionId, status, inserted, ...fault }
}
