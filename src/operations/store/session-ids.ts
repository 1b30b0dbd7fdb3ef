/**
 * Short ids, as git has them: the beginning of an id stands for it where no other id begins so. Every operation takes
 * them, and lists and searches print them.
 */
import { PondError } from "../../model/errors.ts"
import type { Session } from "../../model/session.ts"
import type { IdOfPrefix } from "../../sessions/read/listing-reads.ts"
import type { Sessions } from "../../sessions/store.ts"
import type { Pond } from "../pond.ts"

type Kind = "sessions" | "messages"

/** Git accepts a commit by as few characters; with fewer it is a guess. */
const LENGTH_MIN = 4
const SHOWN_LENGTH = 8
/** Ids that begin with the time they were made at: the first eight characters would stand for a minute. */
const TIME_ORDERED = /^(?:[0-9a-f]{8}-[0-9a-f]{4}-7|[a-z]{3}_[0-9a-f]{12})/
const SHOWN_LENGTH_TIME_ORDERED = 13
const LENGTHEN_BY = 4
const NAMED_MAX = 5
/** A prefix of more ids than this names none of them. */
const FOUND_MAX = 1000

/** The shortest beginning of each id, of eight characters or more, that no other id has. */
export async function shortIds(
  sessions: Sessions,
  of: Kind,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const short = new Map<string, string>()
  const cut = new Map(ids.map((id) => [id, idPrefix(id, lengthShown(id))]))
  const found = await sessions.idsWithPrefixes(of, [...new Set(cut.values())])
  for (const [id, start] of cut) {
    const others = found.filter((row) => row.id !== id && row.id.startsWith(start) && !isInside(row, id))
    let text = start
    while (text.length < id.length && others.some((row) => row.id.startsWith(text)))
      text = idPrefix(id, text.length + LENGTHEN_BY)
    short.set(id, text)
  }
  return short
}

function lengthShown(id: string): number {
  return TIME_ORDERED.test(id) ? SHOWN_LENGTH_TIME_ORDERED : SHOWN_LENGTH
}

/** Ends neither with the hyphen between two groups nor in the middle of a character. */
function idPrefix(id: string, length: number): string {
  const start = id.slice(0, length).replace(/-$/, "")
  return start.isWellFormed() ? start : id.slice(0, length + 1)
}

/** The agents of a session of Claude Code begin with its id: the beginning of such an id names the session. */
function isInside({ id, owner }: IdOfPrefix, session: string): boolean {
  return owner === session && id.startsWith(session)
}

/** Tries the id as it was given, and where no session has it, the whole id that it begins. */
export async function withFullSessionId<Result>(
  pond: Pond,
  id: string,
  run: (id: string) => Promise<Result>,
): Promise<Result> {
  try {
    return await run(id)
  } catch (error) {
    if (!(error instanceof PondError) || error.code !== "not_found" || error.details["session_id"] !== id) throw error
    const whole = await fullSessionId(await pond.sessions(), id)
    if (whole === id) throw error
    return await run(whole)
  }
}

/** The session of that id, or the one that begins so. */
export async function sessionNamed(sessions: Sessions, id: string): Promise<Session | undefined> {
  const exact = await sessions.session(id)
  if (exact !== undefined || id.length < LENGTH_MIN) return exact
  const whole = await startedBy(sessions, id)
  return whole === undefined ? undefined : await sessions.session(whole)
}

/** The whole id of a session; what was given where no session begins so. */
export async function fullSessionId(sessions: Sessions, id: string): Promise<string> {
  if (id.length < LENGTH_MIN || (await sessions.session(id)) !== undefined) return id
  return (await startedBy(sessions, id)) ?? id
}

async function startedBy(sessions: Sessions, id: string): Promise<string | undefined> {
  const rows = await sessions.idsWithPrefixes("sessions", [id], FOUND_MAX)
  const found = new Set(rows.map((row) => row.id))
  const outer = rows.filter(({ owner, id: own }) => owner === null || !found.has(owner) || !own.startsWith(owner))
  return only(id, outer)
}

/** The same for a message, of one session or of all. A message that several sessions have is one message here. */
export async function fullMessageId(sessions: Sessions, id: string, sessionId?: string): Promise<string> {
  if (id.length < LENGTH_MIN) return id
  const rows = await sessions.idsWithPrefixes("messages", [id], FOUND_MAX)
  if (rows.some((row) => row.id === id)) return id
  return only(id, sessionId === undefined ? rows : rows.filter(({ owner }) => owner === sessionId)) ?? id
}

function only(id: string, rows: readonly IdOfPrefix[]): string | undefined {
  const [first, ...others] = [...new Set(rows.map((row) => row.id))].toSorted((one, other) => (one < other ? -1 : 1))
  if (others.length === 0) return first
  const named = [first, ...others].slice(0, NAMED_MAX)
  const more = others.length + 1 > NAMED_MAX ? " and others" : ""
  throw new PondError("not_found", `The id ${id} is ambiguous. It matches: ${named.join(", ")}${more}.`, {
    details: { id, matches: named },
  })
}
