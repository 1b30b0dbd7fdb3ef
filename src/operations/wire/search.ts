/** Find messages, and with them the sessions that they stand in: what can be asked. `search-output.ts` has the answer. */
import { type Static, Type } from "typebox"
import { PondError } from "../../model/errors.ts"
import { Semaphore } from "../../platform/semaphore.ts"
import { cursorMs } from "../../search/answer/cursor.ts"
import { search as searchStore } from "../../search/engine.ts"
import type { SearchRequest } from "../../search/request.ts"
import type { Sessions } from "../../sessions/store.ts"
import { given } from "../fields.ts"
import { closedObject, defineOperation } from "../operation.ts"
import { labelledSessions } from "../store/labels.ts"
import { fullMessageId, fullSessionId } from "../store/session-ids.ts"
import { boundsOf } from "./date-bounds.ts"
import { exactlyOne, ProjectFilter } from "./project-filter.ts"
import { type ReadQuery, readOperators } from "./query-operators.ts"
import { ANSWER_BUDGET, forReading, outputOf, SearchOutput } from "./search-output.ts"

/**
 * A search holds the lists and the texts that it weighs. Many at once would hold them all and none would end sooner (64
 * clients at a million messages: 1.8 GB, and 0.8 GB so), while reads of sessions waited.
 */
const searches = new Semaphore(8)
const QUERY_UNITS_MAX = 100_000
/** Each is a separate search. */
const QUERIES_MAX = 8

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
