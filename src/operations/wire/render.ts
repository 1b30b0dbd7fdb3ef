/**
 * A session as HTML, page by page: what the page at `/` shows, and what an editor or a bot can put into its own page.
 * Text of a session is never markup in it. It needs the styles that the page serves, and no script.
 */
import { Type } from "typebox"
import type { Entry } from "../../model/session.ts"
import { sessionNotFound } from "../../sessions/read/read-sessions.ts"
import type { Sessions } from "../../sessions/store.ts"
import { given, oneOf, onOff } from "../fields.ts"
import { closedObject, defineOperation } from "../operation.ts"
import { createRedactor } from "../share/redact.ts"
import { fullSessionId } from "../store/session-ids.ts"
import { itemsAfter } from "./paging.ts"

const LIMIT_MAX = 1000
/** Characters of the messages of a page. The first one comes whole, however long it is. */
const PAGE_BUDGET = 4_000_000
const READ_AT_ONCE = 100
/** A result may be recorded some messages after its call: so many more are read to put them together. */
const RESULTS_WITHIN = 20

const RenderInput = closedObject({
  session_id: Type.String({ minLength: 1, description: "The session." }),
  after_id: Type.Optional(Type.String({ minLength: 1, description: "Continue after this message." })),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: 200, description: "Maximum number of messages per page." }),
  ),
  conversation_only: onOff("Leave out reasoning, tool calls and what the client inserted."),
  include_subagents: onOff("Show sub-agent sessions folded behind the calls that started them."),
  redact: onOff("Replace what looks like a credential."),
})

const RenderOutput = closedObject({
  session_id: Type.String(),
  html: Type.String({ description: "An `article` for each message that shows something. Its id is the anchor." }),
  map: Type.Array(
    closedObject({
      anchor: Type.String(),
      at: Type.String(),
      size: Type.Integer({ description: "Characters." }),
      kind: oneOf(["user", "assistant", "tool", "failed"]),
    }),
    { description: "Each message and tool call of the page, for a map of the session." },
  ),
  messages_remaining: Type.Integer(),
  next_after_id: Type.Optional(Type.String({ description: "The last message of this page: continue after it." })),
})

export const render = defineOperation({
  name: "render",
  summary: "Render a session as HTML, page by page.",
  input: RenderInput,
  output: RenderOutput,
  errors: ["not_found"],
  surfaces: { http: true },
  read: true,
  run: async ({ pond, signal }, input) => {
    const { limit = 200, after_id: after, conversation_only: isShort = false } = input
    const { articlesHtml } = await import("../share/html/session-html.ts")
    const sessions = await pond.sessions()
    const session = await sessions.session(await fullSessionId(sessions, input.session_id))
    if (session === undefined) throw sessionNotFound(input.session_id)
    const places = await sessions.places(session.id, "all")
    const rest = after === undefined ? places : itemsAfter(places, after, session.id)
    const before = places[places.length - rest.length - 1]
    const ordinals = rest.map(({ ordinal }) => ordinal)
    const page = await readPage(sessions, session.id, ordinals, limit, signal)
    const remaining = rest.length - page.length
    const previous = before === undefined ? [] : await sessions.entries(session.id, { only: [before.ordinal] })
    const { html, points } = await articlesHtml(sessions, session, page, {
      isWhole: !isShort,
      withSubagents: input.include_subagents === true,
      clean: input.redact === true ? createRedactor(pond.host.environment).clean : (text) => text,
      count: () => undefined,
      signal,
      isLast: remaining === 0,
      agentsFrom: previous[0]?.message.timestamp,
    })
    return {
      session_id: session.id,
      html,
      map: points.map(({ anchor, atMs, units, kind }) => ({
        anchor,
        at: new Date(atMs).toISOString(),
        size: units,
        kind,
      })),
      messages_remaining: remaining,
      ...given("next_after_id", page.at(-1)?.message.id),
    }
  },
})

/** The next messages, and a few more where a call among them has no result yet. */
async function readPage(
  sessions: Sessions,
  id: string,
  ordinals: readonly number[],
  limit: number,
  signal: AbortSignal,
): Promise<readonly Entry[]> {
  const page: Entry[] = []
  const open = new Set<string>()
  let size = 0
  for (let at = 0; at < ordinals.length; at += READ_AT_ONCE) {
    signal.throwIfAborted()
    for (const entry of await sessions.entries(id, { only: ordinals.slice(at, at + READ_AT_ONCE) })) {
      const isFull = page.length >= limit || size > PAGE_BUDGET
      if (isFull && (open.size === 0 || page.length >= limit + RESULTS_WITHIN)) return page
      noteCalls(open, entry)
      size += JSON.stringify(entry.parts).length
      page.push(entry)
    }
  }
  return page
}

function noteCalls(open: Set<string>, { parts }: Entry): void {
  for (const part of parts) {
    if (part.type === "tool_call") open.add(part.call_id)
    if (part.type === "tool_result") open.delete(part.call_id)
  }
}
