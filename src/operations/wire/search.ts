/** Find messages, and with them the sessions that they stand in. The answer fits a budget whatever was found. */

import { type Static, Type } from "typebox"
import { enginePattern, firstMatch, wordsOfPattern } from "../../model/engine-pattern.ts"
import { PondError } from "../../model/errors.ts"
import { textOfMicros } from "../../model/timestamp.ts"
import type { Clock } from "../../platform/host/clock.ts"
import { Semaphore } from "../../platform/semaphore.ts"
import { cursorMs } from "../../search/answer/cursor.ts"
import type { Group } from "../../search/answer/groups.ts"
import type { SearchAnswer } from "../../search/answer/search-answer.ts"
import { cutHit, type SnippetQuery } from "../../search/answer/snippet.ts"
import { search as searchStore } from "../../search/engine.ts"
import { type FusedHit, keyOfHit } from "../../search/rank/fusion.ts"
import type { SearchRequest } from "../../search/request.ts"
import type { Sessions } from "../../sessions/store.ts"
import { given } from "../fields.ts"
import { closedObject, defineOperation } from "../operation.ts"
import { labelledSessions } from "../store/labels.ts"
import { fullMessageId, fullSessionId, shortIds } from "../store/session-ids.ts"
import { boundsOf } from "./date-bounds.ts"
import { exactlyOne, ProjectFilter } from "./project-filter.ts"
import { type ReadQuery, readOperators } from "./query-operators.ts"
import { PartSummary, titleText } from "./views.ts"

/**
 * A search holds the lists and the texts that it weighs. Many at once would hold them all and none would end sooner (64
 * clients at a million messages: 1.8 GB, and 0.8 GB so), while reads of sessions waited.
 */
const searches = new Semaphore(8)
const QUERY_UNITS_MAX = 100_000
/** Each is a separate search. */
const QUERIES_MAX = 8
/** Characters of all hits together: what an agent can afford to read. */
const ANSWER_BUDGET = 60_000
const HIT_UNITS_MAX = 1_200
const HIT_UNITS_MIN = 160
const FIRST_SHARE = 3
/** So many words of a query tell where a text is about it. */
const WINDOW_TERMS_MAX = 64

const Text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }))
const Choice = <const C extends string>(choices: readonly C[], preset: C, description: string) =>
  Type.Optional(
    Type.Union(
      choices.map((choice) => Type.Literal(choice)),
      { default: preset, description },
    ),
  )

const SearchInput = closedObject({
  query: Type.Optional(
    Type.String({
      maxLength: QUERY_UNITS_MAX,
      default: "",
      description: "What to search for: words, names, a question. Double quotes search for an exact phrase.",
    }),
  ),
  queries: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: QUERY_UNITS_MAX }), {
      maxItems: QUERIES_MAX,
      default: [],
      description: "Other wordings of the query, also in other languages: all are searched and ranked together.",
    }),
  ),
  filters: Type.Optional(
    closedObject({
      project: ProjectFilter,
      session_id: Text("One session."),
      source_agent: Text("One client: claude-code. One kind of sub-agent: claude-code/explorer."),
      role: Type.Optional(
        Type.Union(
          ["user", "assistant", "system", "tool"].map((role) => Type.Literal(role)),
          { description: "Whose messages." },
        ),
      ),
      from_date: Text("On or after: 2026-01-31, a timestamp in RFC 3339, or words: yesterday, last week, June, 24h."),
      to_date: Text("On or before: 2026-01-31, a timestamp in RFC 3339, or words: yesterday, last week, June, 24h."),
      tag: Text("Only sessions with this tag."),
      starred: Type.Optional(Type.Boolean({ description: "Only sessions with a star." })),
      min_score: Type.Optional(
        Type.Number({ minimum: 0, maximum: 1, description: "Scores compare only within one answer." }),
      ),
      include_subagents: Type.Optional(Type.Boolean({ description: "Include sub-agent sessions." })),
    }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 200, default: 10, description: "Maximum number of sessions." }),
  ),
  cursor: Text("Continue from a previous page of results."),
  mode: Choice(["auto", "words", "meaning", "exact", "pattern"], "auto", "How to search."),
  scope: Choice(["conversation", "tools", "all"], "conversation", "What to search."),
  sort: Choice(["relevance", "recency"], "relevance", "Best or newest first (default: relevance)."),
  group: Choice(["session", "none"], "session", "Group matches by session, or list each message (default: session)."),
  similar_to: Text("Find messages similar to this one."),
  near: Text("The directory that the asker works in: hits of its project come first where they match as well."),
  explain: Type.Optional(Type.Boolean({ description: "Show how each result was ranked." })),
  for_reading: Type.Optional(
    Type.Boolean({ description: "Add what readers are shown: a title of every session, and short ids." }),
  ),
  text_budget: Type.Optional(
    Type.Integer({
      minimum: 1_000,
      maximum: ANSWER_BUDGET,
      default: ANSWER_BUDGET,
      description: "Characters of text of all hits together.",
    }),
  ),
})
type SearchInput = Static<typeof SearchInput>

const Match = closedObject({
  message_id: Type.String(),
  /** With `for_reading`: the beginning of the id that no other message has. */
  short_id: Type.Optional(Type.String()),
  session_id: Type.String(),
  ordinal: Type.Integer(),
  role: Type.String(),
  timestamp: Type.String(),
  score: Type.Number(),
  /** How a long message begins, where `text` is from further on. */
  prefix: Type.Optional(Type.String()),
  text: Type.String(),
  truncated: Type.Boolean(),
  parts_summary: Type.Optional(Type.Array(PartSummary)),
  /** With `explain`: what each ranking gave, in their order. */
  shares: Type.Optional(Type.Array(Type.Number())),
})
export type Match = Static<typeof Match>

const FoundSession = closedObject({
  session_id: Type.String(),
  /** With `for_reading`: the beginning of the id that no other session has. */
  short_id: Type.Optional(Type.String()),
  project: Type.String(),
  source_agent: Type.String(),
  title: Type.Optional(Type.String()),
  session_messages_count: Type.Integer(),
  matched_message_count: Type.Integer(),
  newer_messages_count: Type.Integer(),
  matches: Type.Array(Match),
})
export type FoundSession = Static<typeof FoundSession>

const SearchOutput = closedObject({
  sessions: Type.Optional(Type.Array(FoundSession)),
  /** With `group: "none"`. */
  matches: Type.Optional(Type.Array(Match)),
  matched_total: Type.Integer(),
  /** More match: these are the best of them, or in the modes exact and pattern those that this page and the next show of them. */
  matched_more: Type.Optional(Type.Boolean()),
  has_more: Type.Boolean(),
  next_cursor: Type.Optional(Type.String()),
  searched: closedObject({
    arms: Type.Array(Type.String()),
    scope: Type.String(),
    excluded: Type.Array(Type.String()),
    understood: Type.Optional(
      Type.Array(Type.String(), {
        description: "Operators, projects and dates that the query was understood to have.",
      }),
    ),
  }),
  explanation: Type.Optional(
    closedObject({
      rankings: Type.Array(
        closedObject({
          name: Type.String(),
          weight: Type.Number(),
          hits: Type.Integer(),
          plan: Type.Optional(Type.String()),
        }),
      ),
    }),
  ),
})
export type SearchOutput = Static<typeof SearchOutput>

type Searched = SearchOutput["searched"]

/** Newest first and to the end, instead of the best ones. */
export function isWalk({ arms }: Searched): boolean {
  return arms.every((arm) => arm === "exact" || arm === "pattern")
}

/** A walk through what tools did finds their calls and results one by one. */
export function unitOf(searched: Searched): "message" | "place" {
  return searched.scope !== "conversation" && isWalk(searched) ? "place" : "message"
}

/** Of what tools did, and of what agents of a session said, its own messages are no measure. */
export function isOfItsMessages({ session_id, matches }: FoundSession, { scope }: Searched): boolean {
  return scope === "conversation" && matches.every((own) => own.session_id === session_id)
}

export const search = defineOperation({
  name: "search",
  summary: "Find messages by words, meaning or exact text, grouped by session.",
  input: SearchInput,
  output: SearchOutput,
  errors: ["not_found"],
  surfaces: { http: true, mcp: "pond_search", cli: "search" },
  read: true,
  run: async ({ pond, signal }, input) => {
    const sessions = await pond.sessions()
    const { request: asked, understood } = requestOf(input, pond.host.clock.nowMs())
    const request = await withFullIds(sessions, asked, input.filters)
    const answer = await searches.run(
      () => searchStore(request, { sessions, clock: pond.host.clock, embedder: () => pond.embedder(), signal }),
      signal,
    )
    const plain = outputOf(request, answer, { clock: pond.host.clock, textBudget: input.text_budget ?? ANSWER_BUDGET })
    const output = input.for_reading === true ? await forReading(sessions, plain) : plain
    const { searched } = output
    const all = [...understood, ...(searched.understood ?? [])]
    return { ...output, searched: { ...searched, ...(all.length === 0 ? {} : { understood: all }) } }
  },
})

/** Sessions and messages may be named by the beginning of their ids. */
async function withFullIds(
  sessions: Sessions,
  request: SearchRequest,
  { tag, starred }: NonNullable<SearchInput["filters"]> = {},
): Promise<SearchRequest> {
  const { filters, similarTo } = request
  const { sessionId } = filters
  const sessionIds = await labelledSessions(sessions, { ...given("tag", tag), ...given("starred", starred) })
  return {
    ...request,
    ...(similarTo === undefined ? {} : { similarTo: await fullMessageId(sessions, similarTo, sessionId) }),
    filters: {
      ...filters,
      ...given("sessionIds", sessionIds),
      ...(sessionId === undefined ? {} : { sessionId: await fullSessionId(sessions, sessionId) }),
    },
  }
}

// --- The request ------------------------------------------------------------------------------------------------------

/** Dates in words are as of a whole minute: the next page of an answer asks for the same time again. */
const NOW_STEP_MS = 60_000

interface Asked {
  readonly request: SearchRequest
  /** The operators, projects and days that were understood, in words. */
  readonly understood: readonly string[]
}

function requestOf(input: SearchInput, atMs: number): Asked {
  const nowMs = Math.floor((cursorMs(input.cursor) ?? atMs) / NOW_STEP_MS) * NOW_STEP_MS
  const read = readQuery(input, nowMs)
  // What is asked for by a field counts more than what the query says.
  const filters = { ...read.filters, ...input.filters }
  const { project, session_id, source_agent, role, from_date, to_date, min_score, include_subagents } = filters
  const names = { from: "/filters/from_date", to: "/filters/to_date", nowMs }
  const { from, to } = boundsOf(names, from_date, to_date)
  const [first = read.query, ...wordings] = wordingsOf(read.query, input)
  const request: SearchRequest = {
    query: first,
    mode: (input.mode ?? "auto") as SearchRequest["mode"],
    scope: (input.scope ?? "conversation") as SearchRequest["scope"],
    sort: (input.sort ?? "relevance") as SearchRequest["sort"],
    group: (input.group ?? "session") as SearchRequest["group"],
    limit: input.limit ?? 10,
    ...given("cursor", input.cursor),
    ...given("similarTo", input.similar_to),
    ...given("near", input.near),
    ...given("around", from === undefined && to === undefined ? read.around : undefined),
    ...(wordings.length === 0 ? {} : { wordings }),
    ...(read.without.length === 0 ? {} : { without: read.without }),
    ...(input.explain === true ? { explain: true } : {}),
    filters: {
      ...(project === undefined ? {} : { project: exactlyOne(project) }),
      ...given("sessionId", session_id),
      ...given("sourceAgent", source_agent),
      ...given("role", role as "user" | undefined),
      ...given("fromMicros", from),
      ...given("toMicros", to),
      ...given("minScore", min_score),
      ...given("includeSubagents", include_subagents),
    },
  }
  return { request, understood: read.understood }
}

/** A literal text is one, and a message that others are like has its own words. */
function wordingsOf(query: string, { queries = [], mode, similar_to }: SearchInput): readonly string[] {
  const all = [...new Set([query, ...queries].map((each) => each.trim()).filter(Boolean))]
  const isRanked = mode !== "exact" && mode !== "pattern" && similar_to === undefined
  if (isRanked || queries.length === 0) return queries.length === 0 ? [query] : all
  throw new PondError(
    "validation_failed",
    "queries only work with the modes auto, words and meaning. Ask one at a time.",
    {
      details: { field: "queries" },
    },
  )
}

/** Literal texts and patterns have no operators. */
function readQuery({ query = "", mode, similar_to }: SearchInput, nowMs: number): ReadQuery {
  if (mode !== "exact" && mode !== "pattern" && similar_to === undefined) return readOperators(query, nowMs)
  return { query, filters: {}, without: [], around: undefined, understood: [] }
}

// --- For readers ------------------------------------------------------------------------------------------------------

/** Titles are the last that clients recorded, or the first words of the user: a session is never told by its id alone. */
async function forReading(store: Sessions, output: SearchOutput): Promise<SearchOutput> {
  const found = output.sessions ?? []
  const hits = output.matches ?? found.flatMap(({ matches }) => matches)
  const messageIds = [...new Set(hits.map((hit) => hit.message_id))]
  const [words, sessionIds, shortMessages, labels] = await Promise.all([
    store.firstWords(found.filter(({ title }) => title === undefined).map((session) => session.session_id)),
    shortIds(
      store,
      "sessions",
      found.map((session) => session.session_id),
    ),
    shortIds(store, "messages", messageIds),
    store.labels.of(found.map((session) => session.session_id)),
  ])
  const shorten = (hit: Match) => ({ ...hit, ...given("short_id", shortMessages.get(hit.message_id)) })
  return {
    ...output,
    ...(output.matches === undefined ? {} : { matches: output.matches.map(shorten) }),
    ...(output.sessions === undefined
      ? {}
      : {
          sessions: found.map((session) => ({
            ...session,
            ...given("short_id", sessionIds.get(session.session_id)),
            ...given(
              "title",
              titleText(labels.get(session.session_id)?.name ?? session.title ?? words.get(session.session_id)),
            ),
            matches: session.matches.map(shorten),
          })),
        }),
  }
}

// --- The answer -------------------------------------------------------------------------------------------------------

/** Looking for where a pattern matches takes no longer than that for all hits; the others are shown by its words. */
const PLACES_BUDGET_MS = 200

/** What the texts of hits are shown around. */
function soughtOf({ mode, query, wordings = [] }: SearchRequest, { shape }: SearchAnswer, clock: Clock): SnippetQuery {
  const texts = [shape.text, ...wordings].flatMap((each) => each.split(" "))
  const terms = [...shape.quoted, ...texts].slice(0, WINDOW_TERMS_MAX)
  if (mode !== "pattern") return { terms }
  const pattern = enginePattern(query)
  const words = wordsOfPattern(query).slice(0, WINDOW_TERMS_MAX)
  if (pattern === undefined) return { terms: words }
  const untilMs = clock.monotonicMs() + PLACES_BUDGET_MS
  return { terms: words, placeIn: (text) => firstMatch(text, pattern, () => clock.monotonicMs() > untilMs) }
}

interface Room {
  readonly clock: Clock
  readonly textBudget: number
}

function outputOf(request: SearchRequest, answer: SearchAnswer, { clock, textBudget }: Room): SearchOutput {
  const shown = answer.groups.flatMap(({ hits }) => hits)
  // The first hit is the one that is read: it has three times the room of another.
  const share = textBudget / (shown.length + FIRST_SHARE - 1)
  const unitsOf = (isFirst: boolean) =>
    Math.max(HIT_UNITS_MIN, Math.min(HIT_UNITS_MAX, Math.floor(isFirst ? FIRST_SHARE * share : share)))
  const summaries = answer.files
  const sought = soughtOf(request, answer, clock)
  const { explanation } = answer
  const matchOf = (fused: FusedHit): Match => ({
    ...match(fused, { sought, unitsMax: unitsOf(fused === shown[0]), summaries }),
    ...(explanation === undefined ? {} : { shares: fused.shares.map(rounded) }),
  })
  return {
    ...(request.group === "none"
      ? { matches: shown.map(matchOf) }
      : { sessions: answer.groups.map((group) => foundSession(group, answer, matchOf)) }),
    matched_total: answer.ranked.length,
    ...(answer.isCut ? { matched_more: true } : {}),
    has_more: answer.nextCursor !== undefined,
    ...(answer.nextCursor === undefined ? {} : { next_cursor: answer.nextCursor }),
    searched: {
      arms: [...answer.searched.arms],
      scope: answer.searched.scope,
      excluded: [...answer.searched.excluded],
      understood: [...answer.searched.understood],
    },
    ...(explanation === undefined ? {} : { explanation: { rankings: [...explanation.rankings] } }),
  }
}

function foundSession(
  { rootId, hits, matched }: Group,
  { facts }: SearchAnswer,
  matchOf: (fused: FusedHit) => Match,
): FoundSession {
  const own = facts.get(rootId)
  const newest = Math.max(-1, ...hits.filter(({ hit }) => hit.sessionId === rootId).map(({ hit }) => hit.ordinal))
  const spoken = own?.spoken ?? []
  return {
    session_id: rootId,
    project: own?.project ?? "",
    source_agent: own?.sourceAgent ?? "",
    ...(own?.title === undefined ? {} : { title: own.title }),
    session_messages_count: spoken.length,
    matched_message_count: matched,
    newer_messages_count: newest < 0 ? 0 : spoken.filter((ordinal) => ordinal > newest).length,
    matches: hits.map(matchOf),
  }
}

function rounded(score: number): number {
  return Math.round(score * 10_000) / 10_000
}

interface Showing {
  readonly sought: SnippetQuery
  readonly unitsMax: number
  readonly summaries: ReadonlyMap<string, readonly string[]>
}

function match({ hit, score }: FusedHit, { sought, unitsMax, summaries }: Showing): Match {
  const shown = cutHit(hit.text, sought, unitsMax)
  const files = summaries.get(keyOfHit(hit))
  return {
    message_id: hit.messageId,
    session_id: hit.sessionId,
    ordinal: hit.ordinal,
    role: hit.role,
    timestamp: textOfMicros(hit.timestampMicros),
    score: rounded(score),
    ...given("prefix", shown.prefix),
    text: shown.text,
    truncated: shown.isCut,
    ...(files === undefined ? {} : { parts_summary: files.map((label) => ({ kind: "file", label })) }),
  }
}
