/**
 * Writes prepared sessions with one commit per table. Blobs come first, then parts, messages and sessions, so that
 * whatever is visible is whole. Every insert skips keys that are stored, so repeating a write changes nothing
 * (`lance-forward-compat-no-cross-shard-atomic-write`).
 */
import { COPY_OF_JSON, copiedFrom } from "../../model/copies.ts"
import { PondError } from "../../model/errors.ts"
import { isJsonObject, type JsonValue, parseOwnJson } from "../../model/json.ts"
import type { Session } from "../../model/session.ts"
import { fillColumns } from "../../substrate/columns/column-batch.ts"
import { and, contains, eq, isIn } from "../../substrate/filter.ts"
import type { Table } from "../../substrate/table.ts"
import { createBlobSink } from "../rows/oversized.ts"
import { type IngestFacts, sessionRow } from "../rows/row-codecs.ts"
import { type BLOBS, type BlobRow, type COPIES, MESSAGES, PARTS, type SESSIONS } from "../tables.ts"
import { markCopies } from "./copies.ts"
import { markReplays, textsIn } from "./mark-replays.ts"
import type { PreparedBatch, SessionBatch } from "./prepare.ts"

export interface SessionTables {
  readonly sessions: Table<(typeof SESSIONS)["columns"]>
  readonly messages: Table<(typeof MESSAGES)["columns"]>
  readonly parts: Table<(typeof PARTS)["columns"]>
  readonly blobs: Table<(typeof BLOBS)["columns"]>
}

export interface BatchResult {
  readonly sessionId: string
  readonly sourceAgent: string
  /** `erased`, `excluded`: nothing of it was stored, because its owner has erased it or what it goes with, or its project is kept out. */
  readonly status: "stored" | "unchanged" | "rejected" | LeftOut
  readonly isNewSession: boolean
  readonly inserted: { readonly messages: number; readonly parts: number }
  readonly error?: PondError
}

export async function writePrepared(
  tables: SessionTables,
  batches: readonly PreparedBatch[],
  facts: IngestFacts,
  { recent, copies, refuse }: Beside,
): Promise<BatchResult[]> {
  const stored = await storedSessions(tables, batches, recent)
  const maybeCopies = new Set(
    batches.flatMap(({ session: { id } }) => (stored.has(id) && stored.get(id)?.isCopy !== true ? [] : [id])),
  )
  const marked = await markCopies(copies, batches, maybeCopies)
  const left = await refuse(marked)
  for (const id of left.keys()) recent.delete(id)
  const welcome = left.size === 0 ? marked : marked.filter(({ session }) => !left.has(session.id))
  const kept = await keepStoredProjects(tables.sessions, welcome, stored)
  const written = await write(tables, kept, { facts, stored, recent })
  return [...written, ...resultsOfLeft(batches, left)]
}

/** Why nothing of a session is stored. */
export type LeftOut = "erased" | "excluded"

interface Beside {
  readonly recent: RecentSessions
  readonly copies: Table<(typeof COPIES)["columns"]>
  /** Which of the sessions are erased (`erase/erasure.ts`) or of an excluded project (`exclusions.ts`). */
  readonly refuse: (batches: readonly PreparedBatch[]) => Promise<ReadonlyMap<string, LeftOut>>
}

function resultsOfLeft(batches: readonly PreparedBatch[], left: ReadonlyMap<string, LeftOut>): BatchResult[] {
  const sessions = distinctById(batches.map(({ session }) => session)).filter(({ id }) => left.has(id))
  return sessions.map(({ id: sessionId, source_agent: sourceAgent }) => ({
    sessionId,
    sourceAgent,
    status: left.get(sessionId) ?? "erased",
    isNewSession: false,
    inserted: { messages: 0, parts: 0 },
  }))
}

interface WriteFacts {
  readonly facts: IngestFacts
  readonly stored: StoredSessions
  readonly recent: RecentSessions
}

async function write(
  tables: SessionTables,
  batches: readonly PreparedBatch[],
  { facts, stored, recent }: WriteFacts,
): Promise<BatchResult[]> {
  const owners = ownersOf(batches, stored)
  const accepted = batches.filter(({ session }) => ownershipConflict(session, owners) === undefined)
  const marked = await markReplays(tables.messages, accepted, stored)
  const fresh = distinctById(accepted.map(({ session }) => session)).filter(({ id }) => !stored.has(id))
  const newSessions = await Promise.all(fresh.map((session) => withForkPoint(tables.messages, session, marked)))
  const blobs = createBlobSink()
  const sessionRows = newSessions.map((session) => sessionRow(session, facts, blobs))
  for (const group of splitBySize([...marked.flatMap((batch) => batch.blobs), ...blobs.take()])) {
    await tables.blobs.insertAbsent(group)
  }
  const parts = await tables.parts.insertColumns(marked.map((batch) => batch.parts))
  const messages = await tables.messages.insertColumns(marked.map((batch) => batch.messages))
  const { inserted } = await tables.sessions.insertAbsent(sessionRows)
  // If another process stored one of them first, its facts may differ.
  if (inserted === sessionRows.length) rememberRecent(recent, newSessions)
  return report(
    batches,
    { stored, owners },
    {
      messages: countBySession(marked, messages.absent),
      parts: countBySession(marked, parts.absent),
    },
  )
}

/** The engine copies a row several times, so large blobs are written in several commits. */
const BLOB_BYTES_MAX = 32_000_000

function splitBySize(rows: readonly BlobRow[]): BlobRow[][] {
  const groups: BlobRow[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const row of rows) {
    bytes += row.bytes.byteLength
    if (bytes > BLOB_BYTES_MAX) {
      groups.push([])
      bytes = row.bytes.byteLength
    }
    groups.at(-1)?.push(row)
  }
  return groups
}

/** The facts of a stored session that never change. */
interface StoredFacts extends Pick<Session, "source_agent" | "project"> {
  /** Whether pond wrote it: see `copies.ts`. */
  readonly isCopy: boolean
}

export type StoredSessions = ReadonlyMap<string, StoredFacts>

/**
 * The same of sessions that were stored a moment ago: the last one of a flush goes on in the next, and to look it up
 * among 40,000 sessions that no index covers yet took 0.1 s each time.
 */
export type RecentSessions = Map<string, StoredFacts>

const RECENT_MAX = 4_096

function rememberRecent(recent: RecentSessions, sessions: readonly Session[]): void {
  if (recent.size + sessions.length > RECENT_MAX) recent.clear()
  for (const { id, source_agent, project, options } of sessions)
    recent.set(id, { source_agent, project, isCopy: copiedFrom(options) !== undefined })
}

async function storedSessions(
  tables: SessionTables,
  batches: readonly Pick<SessionBatch, "session">[],
  recent: RecentSessions,
): Promise<StoredSessions> {
  const ids = [...new Set(batches.map(({ session }) => session.id))]
  const stored: RecentSessions = new Map()
  for (const id of ids) {
    const facts = recent.get(id)
    if (facts !== undefined) stored.set(id, facts)
  }
  const asked = await tables.sessions.perhapsThere(
    "id",
    ids.filter((id) => !stored.has(id)),
  )
  if (asked.length === 0) return stored
  const columns = ["id", "source_agent", "project", "options"] as const
  for (const { id, source_agent, project, options } of await tables.sessions.read({
    columns,
    where: isIn("id", asked),
  }))
    stored.set(id, { source_agent, project, isCopy: options.includes(COPY_OF_JSON) })
  return stored
}

/** The owner of each id: of two clients that bring the same id, the first has it. */
type Owners = ReadonlyMap<string, { readonly source_agent: string; readonly project?: string }>

function ownersOf(batches: readonly Pick<SessionBatch, "session">[], stored: StoredSessions): Owners {
  const owners = new Map<string, { source_agent: string; project?: string }>(stored)
  for (const { session } of batches)
    if (!owners.has(session.id)) owners.set(session.id, { source_agent: session.source_agent })
  return owners
}

/** Both fields are copied onto every message, so a second value would contradict the first. */
function ownershipConflict(session: Session, owners: Owners): PondError | undefined {
  const before = owners.get(session.id)
  if (before === undefined) return undefined
  for (const field of ["source_agent", "project"] as const) {
    if (before[field] === undefined || before[field] === session[field]) continue
    return new PondError(
      "validation_failed",
      `The store already has the session ${session.id} with the ${field} "${before[field]}". The one with "${session[field]}" is left out, because an id belongs to one session.`,
      { details: { session_id: session.id, field, stored: before[field], given: session[field] } },
    )
  }
  return undefined
}

function distinctById(sessions: readonly Session[]): Session[] {
  return [...new Map(sessions.map((session) => [session.id, session] as const).reverse()).values()].reverse()
}

type Counts = ReadonlyMap<string, number>

function report(
  batches: readonly Pick<SessionBatch, "session">[],
  { stored, owners }: { readonly stored: StoredSessions; readonly owners: Owners },
  { messages, parts }: { readonly messages: Counts; readonly parts: Counts },
): BatchResult[] {
  const claims = new Map(batches.toReversed().map(({ session }) => [`${session.source_agent} ${session.id}`, session]))
  return [...claims.values()].toReversed().map(({ id, source_agent: sourceAgent, ...session }) => {
    const error = ownershipConflict({ id, source_agent: sourceAgent, ...session }, owners)
    const isNewSession = !stored.has(id)
    const fields = { sessionId: id, sourceAgent, isNewSession }
    if (error !== undefined) return { ...fields, inserted: { messages: 0, parts: 0 }, status: "rejected", error }
    const inserted = { messages: messages.get(id) ?? 0, parts: parts.get(id) ?? 0 }
    const isChanged = isNewSession || inserted.messages > 0 || inserted.parts > 0
    return { ...fields, inserted, status: isChanged ? "stored" : "unchanged" }
  })
}

/** `rows` says of each batch how many of its rows were not there. */
function countBySession(batches: readonly PreparedBatch[], rows: readonly number[]): Counts {
  const counts = new Map<string, number>()
  for (const [index, { session }] of batches.entries()) {
    counts.set(session.id, (counts.get(session.id) ?? 0) + (rows[index] ?? 0))
  }
  return counts
}

// --- Where a fork begins ---------------------------------------------------------------------------------------------

// The message at which a fork left its parent (`parent_message_id`), where only the store can tell. A client that copies the
// history says it by the last message that both have; one that continues its parent's log says how far, by the number of a
// record there (`options.pond.forked_at`).

/** Such a parent must be stored, or be among the batches. */
async function withForkPoint(
  messages: Table<(typeof MESSAGES)["columns"]>,
  session: Session,
  batches: readonly PreparedBatch[],
): Promise<Session> {
  const { parent_session_id: parent, parent_message_id: known, options } = session
  if (parent === undefined || known !== undefined) return session
  const copied = batches.find((batch) => batch.session.id === session.id)?.copiedTo
  const pond = options["pond"] as { readonly forked_at?: unknown } | undefined
  const at = pond?.forked_at
  const found = copied ?? (typeof at === "number" ? await messageAt(messages, parent, at - 1, batches) : undefined)
  return found === undefined ? session : { ...session, parent_message_id: found }
}

/** The message of the record with that number, of a client that numbers its records. */
async function messageAt(
  messages: Table<(typeof MESSAGES)["columns"]>,
  sessionId: string,
  ordinal: number,
  batches: readonly PreparedBatch[],
): Promise<string | undefined> {
  const said = `"ordinal":${ordinal}`
  for (const batch of batches.filter(({ session }) => session.id === sessionId)) {
    const [ids, options] = [textsIn(batch.messages, "id"), textsIn(batch.messages, "options")]
    const place = options.findIndex((text) => text?.includes(said) === true && isOrdinal(text, ordinal))
    if (place >= 0) return ids[place] ?? undefined
  }
  const where = and(eq("session_id", sessionId), contains("options", said))
  const rows = await messages.read({ columns: ["id", "options"], where })
  return rows.find(({ options }) => isOrdinal(options, ordinal))?.id
}

function isOrdinal(options: string, ordinal: number): boolean {
  const parsed = parseOwnJson(options)
  const source = parsed.ok && isJsonObject(parsed.value) ? parsed.value["source"] : undefined
  const record = isJsonObject(source) ? source["record"] : undefined
  return isJsonObject(record) && record["ordinal"] === ordinal
}

// --- Projects that are not known yet ---------------------------------------------------------------------------------

/**
 * A log that does not say where its session is gives the session the name of the place that it lies in, and that is what it
 * is called for good: the project stands in every row. Once the log says it, the same session comes under another project.
 * It is the same one where it comes from the same place, and what is stored is a name of that place: then its new rows join
 * those that are there, under the name that they have.
 */
async function keepStoredProjects(
  sessions: Table<(typeof SESSIONS)["columns"]>,
  batches: readonly PreparedBatch[],
  stored: ReadonlyMap<string, Pick<Session, "source_agent" | "project">>,
): Promise<readonly PreparedBatch[]> {
  const doubtful = batches.filter(({ session }) => {
    const before = stored.get(session.id)
    return before?.source_agent === session.source_agent && before.project !== session.project
  })
  if (doubtful.length === 0) return batches
  const ids = [...new Set(doubtful.map(({ session }) => session.id))]
  const rows = await sessions.read({ columns: ["id", "project", "options"], where: isIn("id", ids) })
  const provisional = new Map(rows.map(({ id, project, options }) => [id, { project, place: placeIn(options) }]))
  const isOfOneLog = new Set(
    doubtful.filter(({ session }) => {
      const { project, place } = provisional.get(session.id) ?? {}
      return place !== undefined && place === sourcePathOf(session.options) && `/${place}/`.includes(`/${project}/`)
    }),
  )
  return batches.map((batch) => {
    const project = isOfOneLog.has(batch) ? provisional.get(batch.session.id)?.project : undefined
    return project === undefined ? batch : withProject(batch, project)
  })
}

function withProject(batch: PreparedBatch, project: string): PreparedBatch {
  return {
    ...batch,
    session: { ...batch.session, project },
    messages: fillColumns(MESSAGES, batch.messages, { project }),
    parts: fillColumns(PARTS, batch.parts, { project }),
  }
}

/** Where the log of a session lies, below the root of its client. One whose options are too large for their column has none here. */
function placeIn(options: string): string | undefined {
  const parsed = parseOwnJson(options)
  return parsed.ok ? sourcePathOf(parsed.value) : undefined
}

function sourcePathOf(options: unknown): string | undefined {
  const source = isJsonObject(options as JsonValue) ? (options as { source?: JsonValue }).source : undefined
  const file = isJsonObject(source) ? source["file"] : undefined
  return typeof file === "string" ? file : undefined
}
