/**
 * Read a session page by page, or one message in context. Pages end between messages and never inside one, and
 * say how to go on. Not for bulk: that is what export and restore are for.
 */
import { type Static, Type } from "typebox"
import { PondError } from "../../model/errors.ts"
import type { Entry, Part } from "../../model/session.ts"
import { sessionNotFound } from "../../sessions/read/read-sessions.ts"
import type { Sessions } from "../../sessions/store.ts"
import { given } from "../fields.ts"
import { closedObject, defineOperation } from "../operation.ts"
import { fullMessageId, fullSessionId, sessionNamed } from "../store/session-ids.ts"
import { itemsAfter } from "./paging.ts"
import { RecordView, rawRecord } from "./raw-record.ts"
import { sessionTree, TreeNode } from "./session-tree.ts"
import {
  type Depth,
  MessageView,
  messageView,
  PartView,
  partView,
  SessionView,
  sessionView,
  titleText,
  viewSize,
} from "./views.ts"

const LIMIT_MAX = 1000
const CONTEXT_MAX = 50
/** Characters of a page. The first message comes whole, however long it is. */
const PAGE_BUDGET = 100_000

const GetInput = closedObject({
  session_id: Type.Optional(
    Type.String({ minLength: 1, description: "Read this session. The beginning of its id is enough." }),
  ),
  message_id: Type.Optional(
    Type.String({ minLength: 1, description: "Read this complete message. The beginning of its id is enough." }),
  ),
  session_id_of_message: Type.Optional(
    Type.String({ minLength: 1, description: "Session of the message, if the id is ambiguous." }),
  ),
  response_mode: Type.Optional(
    Type.Union([Type.Literal("conversational"), Type.Literal("complete"), Type.Literal("verbatim")], {
      default: "conversational",
      description:
        "Session detail: conversational (what was said), complete (every message, parts in one line each) or verbatim (everything).",
    }),
  ),
  session_from: Type.Optional(
    Type.Union([Type.Literal("start"), Type.Literal("end")], {
      default: "start",
      description: "Which end of the session to start at (default: start).",
    }),
  ),
  context_depth: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: CONTEXT_MAX,
      default: 0,
      description: "Number of messages before and after.",
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LIMIT_MAX,
      default: 20,
      description: "Maximum number of messages, or of parts of a message.",
    }),
  ),
  tree: Type.Optional(
    Type.Boolean({
      default: false,
      description: "List the sub-agent sessions at any depth instead of messages.",
    }),
  ),
  raw: Type.Optional(
    Type.Boolean({
      default: false,
      description: "Include the client's original record of a message.",
    }),
  ),
  after_id: Type.Optional(
    Type.String({
      minLength: 1,
      description: "Continue after this message or part.",
    }),
  ),
})
export type GetInput = Static<typeof GetInput>

const SessionPage = closedObject({
  messages: Type.Array(MessageView),
  messages_remaining: Type.Integer(),
})
const MessagePage = closedObject({
  target: MessageView,
  target_parts: Type.Array(PartView),
  target_parts_remaining: Type.Integer(),
  siblings: Type.Array(MessageView),
})

const GetOutput = closedObject({
  session: SessionView,
  /** As its client recorded it, or the first words of the user. */
  title: Type.Optional(Type.String()),
  result: Type.Union([SessionPage, MessagePage]),
  /** The sessions that name this one as their parent: its agents' agents, and its forks. */
  children: Type.Array(SessionView),
  /** Where the tree was asked for: the session itself first. Then no messages are on the page. */
  tree: Type.Optional(Type.Array(TreeNode)),
  /** Where the raw record of a message was asked for. */
  record: Type.Optional(RecordView),
})
export type GetOutput = Static<typeof GetOutput>

export const get = defineOperation({
  name: "get",
  summary: "Read a session page by page, or one message in context.",
  input: GetInput,
  output: GetOutput,
  errors: ["not_found"],
  surfaces: { http: true, mcp: "pond_get", cli: "get" },
  read: true,
  run: async ({ pond }, input) => {
    const sessions = await pond.sessions()
    if ((input.session_id === undefined) === (input.message_id === undefined)) {
      throw new PondError("validation_failed", "Give either session_id or message_id.")
    }
    checkTogether(input)
    const page =
      input.message_id === undefined
        ? await sessionPage(sessions, input.session_id ?? "", input)
        : await messagePage(sessions, input.message_id, input)
    const { id, title } = page.session
    const shown = title ?? (await sessions.firstWords([id])).get(id)
    return { ...page, ...given("title", titleText(shown)) }
  },
})

function checkTogether({ session_id: sessionId, tree, raw }: GetInput): void {
  if (tree === true && sessionId === undefined) throw new PondError("validation_failed", "tree needs a session_id.")
  if (raw === true && sessionId !== undefined) throw new PondError("validation_failed", "raw needs a message_id.")
}

// --- A session --------------------------------------------------------------------------------------------------------

async function sessionPage(sessions: Sessions, asked: string, input: GetInput): Promise<GetOutput> {
  const session = await sessionNamed(sessions, asked)
  if (session === undefined) throw sessionNotFound(asked)
  const { id } = session
  if (input.tree === true) {
    const tree = await sessionTree(sessions, session)
    const result = { messages: [], messages_remaining: tree[0]?.messages ?? 0 }
    return { session: sessionView(session), result, children: await childrenOf(sessions, session.id), tree }
  }
  const depth = input.response_mode ?? "conversational"
  const gone = await sessions.superseded([id])
  const all = await sessions.places(id, depth === "conversational" ? "spoken" : "all")
  const places = all.filter((place) => !gone.has(id, place.id))
  const isFromEnd = input.session_from === "end"
  const limit = input.limit ?? 20
  const rest = input.after_id === undefined ? places : itemsAfter(places, input.after_id, id)
  const wanted = isFromEnd ? rest.slice(-limit) : rest.slice(0, limit)
  const entries = await sessions.entries(id, { only: wanted.map(({ ordinal }) => ordinal) })
  const messages = withinBudget(entries, depth, isFromEnd)
  return {
    session: sessionView(session),
    result: { messages, messages_remaining: rest.length - messages.length },
    children: await childrenOf(sessions, session.id),
  }
}

/** The end that was asked for stays; what does not fit is left for the next page. */
function withinBudget(entries: readonly Entry[], depth: Depth, isFromEnd: boolean): MessageView[] {
  const page: MessageView[] = []
  let size = 0
  for (const entry of isFromEnd ? entries.toReversed() : entries) {
    const view = messageView(entry, depth)
    size += viewSize(view)
    if (page.length > 0 && size > PAGE_BUDGET) break
    page.push(view)
  }
  return isFromEnd ? page.reverse() : page
}

async function childrenOf(sessions: Sessions, sessionId: string): Promise<SessionView[]> {
  const children = await sessions.children(sessionId)
  return children.toSorted((left, right) => (left.created_at < right.created_at ? -1 : 1)).map(sessionView)
}

// --- A message --------------------------------------------------------------------------------------------------------

async function messagePage(sessions: Sessions, id: string, input: GetInput): Promise<GetOutput> {
  const target = await messageOf(sessions, id, input.session_id_of_message)
  const { session_id: sessionId } = target.message
  const depth = input.context_depth ?? 0
  const [session, children, siblings] = await Promise.all([
    sessions.session(sessionId),
    childrenOf(sessions, sessionId),
    depth === 0 ? [] : siblingsOf(sessions, target, depth),
  ])
  if (session === undefined) throw sessionNotFound(sessionId)
  const limit = input.limit ?? 20
  const all: readonly Part[] = target.parts
  const parts = input.after_id === undefined ? all : itemsAfter(all, input.after_id, sessionId)
  const shown = parts.slice(0, limit)
  return {
    session: sessionView(session),
    result: {
      target: messageView(target, "complete"),
      target_parts: shown.map(partView),
      target_parts_remaining: parts.length - shown.length,
      siblings,
    },
    children,
    ...(input.raw === true ? { record: await rawRecord(sessions, session, target) } : {}),
  }
}

async function messageOf(sessions: Sessions, id: string, givenSession: string | undefined): Promise<Entry> {
  const sessionId = givenSession === undefined ? undefined : await fullSessionId(sessions, givenSession)
  const exact = await sessions.messages(id, sessionId)
  const whole = exact.length > 0 ? id : await fullMessageId(sessions, id, sessionId)
  const found = whole === id ? exact : await sessions.messages(whole, sessionId)
  const [first] = found
  if (first === undefined) {
    throw new PondError("not_found", `No message ${id} in this store. \`pond search\` prints the ids of messages.`, {
      details: { message_id: id },
    })
  }
  if (found.length === 1) return first
  const own = found.filter(({ message }) => !isReplay(message.options))
  if (own.length === 1 && own[0] !== undefined) return own[0]
  const candidates = found.map(({ message }) => message.session_id)
  throw new PondError(
    "validation_failed",
    `${found.length} sessions have a message ${id}. Choose one with session_id_of_message: ${candidates.join(", ")}.`,
    { details: { message_id: id, sessions: candidates } },
  )
}

/** A copy that a forked session holds: what it copies is meant where no session was named. */
function isReplay(options: Entry["message"]["options"]): boolean {
  return (options["pond"] as { readonly replay_of?: unknown } | undefined)?.replay_of !== undefined
}

async function siblingsOf(sessions: Sessions, target: Entry, depth: number): Promise<MessageView[]> {
  const { session_id: sessionId, ordinal } = target.message
  const places = await sessions.places(sessionId, "turns")
  const before = places.filter((place) => place.ordinal < ordinal).slice(-depth)
  const after = places.filter((place) => place.ordinal > ordinal).slice(0, depth)
  const entries = await sessions.entries(sessionId, { only: [...before, ...after].map((place) => place.ordinal) })
  return entries.map((entry) => messageView(entry, "complete"))
}
