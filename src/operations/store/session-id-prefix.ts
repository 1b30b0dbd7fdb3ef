/** The id of a session by its beginning, as people copy it off a screen. An id that is there is always meant itself. */
import { PondError } from "../../model/errors.ts"
import type { Pond } from "../pond.ts"

/** Fewer signs than this are a guess: git takes a commit by as many. */
const SIGNS_MIN = 4
const NAMED_MAX = 5
/** Beyond so many it is no beginning that anyone means. */
const FOUND_MAX = 1000

/** Does it again with the whole id, where nothing has the one that was given and one session's begins so. */
export async function withFullSessionId<Result>(
  pond: Pond,
  id: string,
  run: (id: string) => Promise<Result>,
): Promise<Result> {
  try {
    return await run(id)
  } catch (error) {
    if (!isAbsent(error, id)) throw error
    const [whole, ...others] = await sessionsWithPrefix(pond, id)
    if (whole === undefined) throw error
    if (others.length > 0) throw ambiguous(id, [whole, ...others])
    return await run(whole)
  }
}

/** For a filter, which finds nothing where it is wrong: the whole id, or the one that was given where none begins so. */
export async function fullSessionId(pond: Pond, id: string): Promise<string> {
  if ((await (await pond.sessions()).session(id)) !== undefined) return id
  const [whole, ...others] = await sessionsWithPrefix(pond, id)
  if (whole !== undefined && others.length > 0) throw ambiguous(id, [whole, ...others])
  return whole ?? id
}

function isAbsent(error: unknown, id: string): boolean {
  if (!(error instanceof PondError) || error.code !== "not_found") return false
  return error.details["session_id"] === id || error.details["id"] === id
}

async function sessionsWithPrefix(pond: Pond, id: string): Promise<string[]> {
  if (id.length < SIGNS_MIN) return []
  const rows = await (await pond.sessions()).idsStartingWith(id, FOUND_MAX)
  const found = new Set(rows.map((row) => row.id))
  // The agents of a session of Claude Code begin with its id: who gives the beginning of it means the session.
  const isInside = (own: string, parent: string | null) =>
    parent !== null && found.has(parent) && own.startsWith(parent)
  const outer = rows.filter((row) => !isInside(row.id, row.parent_session_id))
  return outer.map((row) => row.id).toSorted((one, other) => (one < other ? -1 : 1))
}

function ambiguous(id: string, ids: readonly string[]): PondError {
  const named = ids.slice(0, NAMED_MAX)
  const more = ids.length > NAMED_MAX ? " and others" : ""
  return new PondError("not_found", `The id ${id} is ambiguous. It matches: ${named.join(", ")}${more}.`, {
    details: { id, sessions: named },
  })
}
