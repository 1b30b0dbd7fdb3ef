/**
 * A session as the events that `ingest` takes, page by page: what leaves one pond over a wire and enters another, whole.
 * Archives of stores are another thing, and lie in files: `pond export`.
 */
import { type Static, Type } from "typebox"
import type { Entry } from "../../model/session.ts"
import { sessionNotFound } from "../../sessions/read/read-sessions.ts"
import { closedObject, defineOperation } from "../operation.ts"
import { fullSessionId } from "../store/session-ids.ts"
import { itemsAfter } from "./paging.ts"

const LIMIT_MAX = 2000
/** Characters of a page, well below what `ingest` takes. The first message comes whole, however long it is. */
const PAGE_BUDGET = 2_000_000
const READ_AT_ONCE = 50

const ExportInput = closedObject({
  session_id: Type.String({ minLength: 1, description: "The session." }),
  after_id: Type.Optional(Type.String({ minLength: 1, description: "Continue after this message." })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMIT_MAX,
      default: 500,
      description: "Maximum number of messages per page.",
    }),
  ),
})

const ExportOutput = closedObject({
  /** The session, then messages each followed by its parts: a body for `ingest`. Every page begins with the session. */
  events: Type.Array(Type.Unknown()),
  messages_remaining: Type.Integer(),
  next_after_id: Type.Optional(Type.String()),
})
export type ExportOutput = Static<typeof ExportOutput>

export const exportSession = defineOperation({
  name: "export",
  summary: "Read a complete session, as the events that ingest accepts.",
  input: ExportInput,
  output: ExportOutput,
  errors: ["not_found"],
  surfaces: { http: true },
  read: true,
  run: async ({ pond, signal }, { session_id: given, after_id: after, limit = 500 }) => {
    const sessions = await pond.sessions()
    const session = await sessions.session(await fullSessionId(sessions, given))
    if (session === undefined) throw sessionNotFound(given)
    const { id } = session
    const places = await sessions.places(id, "all")
    const rest = after === undefined ? places : itemsAfter(places, after, id)
    const page: Entry[] = []
    let size = 0
    for (let at = 0; at < rest.length && page.length < limit && size < PAGE_BUDGET; at += READ_AT_ONCE) {
      signal.throwIfAborted()
      const wanted = rest.slice(at, Math.min(at + READ_AT_ONCE, limit))
      for (const entry of await sessions.entries(id, { only: wanted.map(({ ordinal }) => ordinal) })) {
        size += JSON.stringify(entry).length
        if (page.length > 0 && size > PAGE_BUDGET) break
        page.push(entry)
      }
    }
    const remaining = rest.length - page.length
    const last = page.at(-1)?.message.id
    return {
      events: [{ kind: "session", ...session }, ...page.flatMap(eventsOf)],
      messages_remaining: remaining,
      ...(remaining === 0 || last === undefined ? {} : { next_after_id: last }),
    }
  },
})

function eventsOf({ message, parts }: Entry): object[] {
  return [{ kind: "message", ...message }, ...parts.map((part) => ({ kind: "part", ...part }))]
}
