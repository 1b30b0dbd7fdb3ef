/** List sessions, those first that people went on with last: what `list`, the empty search and the picker show. */
import { type Static, Type } from "typebox"
import { PondError } from "../../model/errors.ts"
import { textOfMicros } from "../../model/timestamp.ts"
import type { Clock } from "../../platform/host/clock.ts"
import { newestSessions } from "../../search/newest-sessions.ts"
import type { SessionActivity } from "../../sessions/read/session-lists.ts"
import type { Sessions } from "../../sessions/store.ts"
import type { SessionLabels } from "../../sessions/write/labels.ts"
import { and, type Filter, range } from "../../substrate/filter.ts"
import { given, onOff, text } from "../fields.ts"
import { closedObject, defineOperation } from "../operation.ts"
import { shortIds } from "../store/session-ids.ts"
import { asksSessions, branchesOf, messageFilter, passing, SessionFilters } from "./session-filters.ts"
import { PROMPTS_ONLY, promptsOnly, titleText } from "./views.ts"

const LIMIT = 20
const LIMIT_MAX = 200
/** So many sessions are asked at once whether they pass. */
const ASKED_AT_ONCE = 200

const SessionsInput = closedObject({
  filters: Type.Optional(SessionFilters),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: LIMIT, description: "Maximum number of sessions." }),
  ),
  cursor: text("Continue from a previous page."),
  facets: onOff("Also count the sessions of the whole store by project and client, sub-agents apart."),
})
type SessionsInput = Static<typeof SessionsInput>

const ListedSession = closedObject({
  session_id: Type.String(),
  short_id: Type.String({ description: "The beginning of the id. Every operation takes it instead of the id." }),
  title: Type.Optional(
    Type.String({ description: "As a person named it, its client recorded it, or the first words of the user." }),
  ),
  source_agent: Type.String(),
  prompts_only: PROMPTS_ONLY,
  project: Type.String(),
  starred: Type.Optional(Type.Boolean({ description: "Whether a person marked it with a star." })),
  tags: Type.Optional(Type.Array(Type.String())),
  note: Type.Optional(Type.String()),
  branch: Type.Optional(Type.String({ description: "The git branch that the session began on." })),
  host: Type.String({ description: "The machine that stored it." }),
  created_at: Type.String(),
  last_at: Type.String({ description: "The time of its last message, or of the last one in the range of dates." }),
  messages_count: Type.Integer({ description: "Messages in which somebody said something." }),
  parent_session_id: Type.Optional(Type.String()),
  conversation: Type.Optional(
    Type.Array(Type.String(), {
      description: "The other sessions of its conversation, the original first: what pond wrote into other clients.",
    }),
  ),
})
export type ListedSession = Static<typeof ListedSession>

const Facet = closedObject({ key: Type.String(), sessions: Type.Integer() })

const SessionsOutput = closedObject({
  sessions: Type.Array(ListedSession),
  has_more: Type.Boolean(),
  next_cursor: Type.Optional(Type.String()),
  facets: Type.Optional(
    closedObject({
      projects: Type.Array(Facet, { description: "Most sessions first." }),
      clients: Type.Array(Facet, { description: "Most sessions first. Sub-agents are not counted." }),
    }),
  ),
})
export type SessionsOutput = Static<typeof SessionsOutput>

export const sessions = defineOperation({
  name: "sessions",
  summary: "List sessions, newest first.",
  input: SessionsInput,
  output: SessionsOutput,
  errors: [],
  surfaces: { http: true, mcp: "pond_list", cli: "list" },
  read: true,
  run: async ({ pond, signal }, input) => {
    const store = await pond.sessions()
    const { filters = {}, limit = LIMIT } = input
    const after = readCursor(input)
    const asOfMs = after?.asOfMs ?? pond.host.clock.nowMs()
    const where = await messageFilter(store, filters, asOfMs)
    const found = await newest(store, { clock: pond.host.clock, where, filters, after, count: limit + 1, signal })
    const shown = found.slice(0, limit)
    const last = shown.at(-1)
    const hasMore = found.length > limit && last !== undefined
    return {
      sessions: await describe(store, shown),
      has_more: hasMore,
      ...(hasMore ? { next_cursor: writeCursor(input, last, asOfMs) } : {}),
      ...(input.facets === true ? { facets: await countFacets(store, signal) } : {}),
    }
  },
})

/** From the table of sessions alone, which is a hundredth of that of messages. */
async function countFacets(store: Sessions, signal: AbortSignal): Promise<NonNullable<SessionsOutput["facets"]>> {
  const [projects, clients] = [new Map<string, number>(), new Map<string, number>()]
  const countIn = (among: Map<string, number>, key: string) => among.set(key, (among.get(key) ?? 0) + 1)
  for await (const rows of store.scan("sessions", { columns: ["source_agent", "project"] })) {
    signal.throwIfAborted()
    for (const { source_agent: agent, project } of rows) {
      if (agent.includes("/")) continue
      countIn(projects, project)
      countIn(clients, agent)
    }
  }
  return { projects: facetRows(projects), clients: facetRows(clients) }
}

function facetRows(counts: ReadonlyMap<string, number>) {
  return [...counts]
    .toSorted(([key, count], [other, otherCount]) => otherCount - count || (key < other ? -1 : 1))
    .map(([key, count]) => ({ key, sessions: count }))
}

interface Wanted {
  readonly clock: Clock
  readonly where: Filter
  readonly filters: SessionFilters
  readonly after: Position | undefined
  readonly count: number
  readonly signal: AbortSignal
}

/** The first sessions behind the position that pass every filter. */
async function newest(
  store: Sessions,
  { clock, where, filters, after, count, signal }: Wanted,
): Promise<readonly SessionActivity[]> {
  const found: SessionActivity[] = []
  const conversations = await store.conversations()
  const step = asksSessions(filters) ? ASKED_AT_ONCE : count
  for await (const batch of newestSessions(store, clock, { where, untilMicros: after?.lastAtMicros })) {
    const rest = after === undefined ? batch : batch.filter((each) => isBehind(each, after))
    for (let at = 0; at < rest.length; at += step) {
      signal.throwIfAborted()
      const some = rest.slice(at, at + step)
      const ids = await unseen(store, some, where, after)
      const kept = new Set(await passing(store, ids, filters))
      for (const each of some) {
        if (kept.has(each.id) && !(await wentOn(store, each, conversations.membersOf(each.id), { where, filters })))
          found.push(each)
      }
      if (found.length >= count) return found.slice(0, count)
    }
  }
  return found
}

function isBehind({ id, lastAtMicros }: SessionActivity, after: SessionActivity): boolean {
  return lastAtMicros < after.lastAtMicros || (lastAtMicros === after.lastAtMicros && id > after.id)
}

/** A session that also has a message after the position stood on an earlier page. */
async function unseen(
  store: Sessions,
  some: readonly SessionActivity[],
  where: Filter,
  after: Position | undefined,
): Promise<readonly string[]> {
  const ids = some.map(({ id }) => id)
  if (after === undefined || ids.length === 0) return ids
  const newer = range("timestamp", { from: after.lastAtMicros, fromExclusive: true })
  const seen = await store.withMessages(ids, and(where, newer))
  return ids.filter((id) => !seen.has(id))
}

/** Whether the conversation went on in another session that is listed too: that one stands for it. */
async function wentOn(
  store: Sessions,
  listed: SessionActivity,
  members: readonly string[],
  { where, filters }: Pick<Wanted, "where" | "filters">,
): Promise<boolean> {
  const others = members.filter((id) => id !== listed.id)
  if (others.length === 0) return false
  const passed = await passing(store, others, filters)
  const sinceThen = and(where, range("timestamp", { from: listed.lastAtMicros }))
  const lastAt = new Map<string, bigint>()
  for (const { session_id: id, timestamp } of await store.momentsOf(passed, sinceThen)) {
    const last = lastAt.get(id)
    if (last === undefined || last < timestamp) lastAt.set(id, timestamp)
  }
  return [...lastAt].some(([id, lastAtMicros]) => isBehind(listed, { id, lastAtMicros }))
}

async function describe(store: Sessions, activity: readonly SessionActivity[]): Promise<ListedSession[]> {
  const ids = activity.map(({ id }) => id)
  if (ids.length === 0) return []
  const [{ known, words }, rows, branches, spoken, gone, short, conversations, labels] = await Promise.all([
    titled(store, ids),
    // The hosts: read with the sessions, in one read.
    store.points.sessions(ids),
    branchesOf(store, ids),
    store.points.places.spoken(ids),
    store.superseded(ids),
    shortIds(store, "sessions", ids),
    store.conversations(),
    store.labels.of(ids),
  ])
  const hosts = new Map(rows.map(({ id, host }) => [id, host]))
  const counts = new Map<string, number>()
  for (const { session_id: id, id: message } of spoken)
    if (!gone.has(id, message)) counts.set(id, (counts.get(id) ?? 0) + 1)
  return activity.flatMap(({ id, lastAtMicros }): ListedSession[] => {
    const session = known.get(id)
    if (session === undefined) return []
    const others = conversations.membersOf(id).filter((other) => other !== id)
    return [
      {
        session_id: id,
        short_id: short.get(id) ?? id,
        ...given("title", titleText(labels.get(id)?.name ?? session.title ?? words.get(id))),
        ...labelFields(labels.get(id)),
        source_agent: session.source_agent,
        ...promptsOnly(session),
        project: session.project,
        ...given("branch", branches.get(id)),
        host: hosts.get(id) ?? "",
        created_at: session.created_at,
        last_at: textOfMicros(lastAtMicros),
        messages_count: counts.get(id) ?? 0,
        ...given("parent_session_id", session.parent_session_id),
        ...given("conversation", others.length === 0 ? undefined : others),
      },
    ]
  })
}

/** The sessions, and of those that have no title the first words. Beside the other reads: one behind the other took 15 ms. */
async function titled(store: Sessions, ids: readonly string[]) {
  const known = new Map((await store.sessions(ids)).map((session) => [session.id, session]))
  return { known, words: await store.firstWords(ids.filter((id) => known.get(id)?.title === undefined)) }
}

function labelFields(labels: SessionLabels | undefined): Pick<ListedSession, "starred" | "tags" | "note"> {
  if (labels === undefined) return {}
  const { isStarred, tags, note } = labels
  return {
    ...(isStarred ? { starred: true } : {}),
    ...(tags.length === 0 ? {} : { tags: [...tags] }),
    ...given("note", note),
  }
}

// --- Pages ------------------------------------------------------------------------------------------------------------

interface Position {
  readonly lastAtMicros: bigint
  readonly id: string
  /** When the first page was asked for: what dates in words mean on every page. */
  readonly asOfMs: number
}

const CURSOR_LENGTH_MAX = 2_048

function writeCursor(input: SessionsInput, { id, lastAtMicros }: SessionActivity, asOfMs: number): string {
  const written = { v: 1, q: fingerprint(input), t: String(lastAtMicros), i: id, a: asOfMs }
  return Buffer.from(JSON.stringify(written)).toString("base64url")
}

function readCursor(input: SessionsInput): Position | undefined {
  if (input.cursor === undefined) return undefined
  const { q, t, i, a } = decode(input.cursor)
  const isWhole = typeof t === "string" && /^-?\d{1,18}$/.test(t) && typeof i === "string" && Number.isSafeInteger(a)
  if (!isWhole) throw badCursor("It was not made by pond.")
  if (q !== fingerprint(input)) throw badCursor("It belongs to another list: repeat the same filters.")
  return { lastAtMicros: BigInt(t), id: i, asOfMs: a as number }
}

function decode(cursor: string): Readonly<Record<string, unknown>> {
  try {
    if (cursor.length > CURSOR_LENGTH_MAX) return {}
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"))
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
  } catch {
    return {}
  }
}

/** Of everything that decides what is listed. The size of a page may change. */
function fingerprint({ filters = {} }: SessionsInput): string {
  return Bun.hash.xxHash64(JSON.stringify(Object.entries(filters).sort())).toString(36)
}

function badCursor(why: string): PondError {
  return new PondError("validation_failed", `Invalid cursor. ${why}`, { details: { field: "cursor" } })
}
