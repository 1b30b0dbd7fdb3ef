/** The tools of MCP: the operations that read, under the names and with the arguments that agents know. */
import type { Static } from "typebox"
import { perform } from "../operations/operation.ts"
import { isRecord } from "../operations/validation.ts"
import { cost } from "../operations/wire/cost.ts"
import { type GetInput, get } from "../operations/wire/get.ts"
import { search } from "../operations/wire/search.ts"
import type { SearchOutput } from "../operations/wire/search-output.ts"
import { sessions as list } from "../operations/wire/sessions.ts"
import { type Arguments, argumentsOf, inputOf, readArguments } from "./arguments.ts"
import { shorten } from "./shorten.ts"
import { sqlTool } from "./sql-tool.ts"
import type { Tool } from "./tool.ts"
import { costTranscript, getTranscript, listTranscript, searchTranscript } from "./transcript.ts"

/** Characters of the texts of all hits: 500 of the first and 160 of any other, with the rules around them 1,500 tokens. */
const TEXT_BUDGET = 2_800
const SESSIONS_DEFAULT = 5

const SEARCH: Arguments = {
  query:
    'What to search for: concepts, keywords, names. Put a literal text in "double quotes". Project names belong in the project filter. Without it or similar_to the newest sessions are listed.',
  queries:
    "Other wordings of the same question, searched and ranked together with it in one call. The history may be in other languages: add the question in them.",
  limit: {
    description: "Maximum number of sessions, at most 200. Long answers are cut; continue with cursor.",
    default: SESSIONS_DEFAULT,
  },
  project: {
    field: ["filters", "project", "contains"],
    description: "Only projects whose path contains this text.",
  },
  session_id: { field: ["filters", "session_id"], description: "Only this session." },
  source_agent: {
    field: ["filters", "source_agent"],
    description: 'Only this client ("claude-code"), or this kind of its sub-agents ("claude-code/general-purpose").',
  },
  include_subagents: {
    field: ["filters", "include_subagents"],
    description: "Include sub-agent sessions (default: false).",
    default: false,
  },
  role: {
    field: ["filters", "role"],
    description: "Only messages of this role; system and tool speak only in the scopes all and tools.",
  },
  from_date: { field: ["filters", "from_date"], description: "Only messages on or after this day (YYYY-MM-DD)." },
  to_date: { field: ["filters", "to_date"], description: "Only messages on or before this day (YYYY-MM-DD)." },
  text_budget: {
    description: "Characters of text of all hits together. Set more to see more of each hit.",
    default: TEXT_BUDGET,
  },
  similar_to: "Find messages like the one with this message_id; the query is ignored.",
  mode: "auto ranks by words (and meaning); exact finds literal text and pattern a regular expression, both newest first.",
  scope:
    "conversation: what was said; tools: tool calls and their output; all: also text that clients inserted, and reasoning.",
  sort: "Best or newest first (default: relevance).",
  cursor: "The cursor at the end of a previous answer, for the next page.",
}

const LIST_CHARS_MAX = 150_000
const SEARCH_CHARS_MAX = 80_000
/** What the texts of the hits may have: less the fewer they are, so that the rules around them decide how many fit. */
const SEARCH_TEXT_CHARS = 64_000

/** How many sessions fit. They are asked for anew, so that the cursor goes on behind the last of them. */
function lowerLimit({ sessions = [] }: SearchOutput, text: string): number {
  const said = sessions.flatMap(({ matches }) => matches).reduce((sum, match) => sum + match.text.length, 0)
  const around = Math.max(1, (text.length - said) / Math.max(1, sessions.length))
  const room = Math.floor((SEARCH_CHARS_MAX - SEARCH_TEXT_CHARS) / around)
  return Math.max(1, Math.min(room, Math.floor(sessions.length / 2)))
}

const SearchInput = argumentsOf(search.input, SEARCH)
type AskedSearch = Static<typeof search.input>

function limitOf({ limit }: AskedSearch): number {
  return limit ?? SESSIONS_DEFAULT
}

/** Tokens of the texts that a default answer has: with the rules around them 1,500. */
const TEXT_TOKENS_MAX = 640
const SHORT_UNITS = 80

/** Other scripts than Latin take more tokens for a character, and then the hits behind the first are shown shorter. */
function shortenHits(answer: SearchOutput): SearchOutput {
  let room = TEXT_TOKENS_MAX
  const sessions = (answer.sessions ?? []).map((session) => ({
    ...session,
    matches: session.matches.map((match) => {
      const needed = estimateTokens(match.text)
      const isShort = needed <= room || match.text.length <= SHORT_UNITS
      const text = isShort ? match.text : `${match.text.slice(0, SHORT_UNITS).toWellFormed()}…`
      room -= Math.min(needed, estimateTokens(text))
      return isShort ? match : { ...match, text, truncated: true }
    }),
  }))
  return { ...answer, sessions }
}

/** About a token for three letters of Latin script and code, and one for each character of others. */
function estimateTokens(text: string): number {
  const others = text.match(/[^\0-\x7f]/g)?.length ?? 0
  return Math.ceil((text.length - others) / 3) + others
}

/** Whether a call without a query asks for nothing that a list does not have. */
function isList(given: unknown): boolean {
  return Object.keys(listArguments(given)).every((name) => Object.hasOwn(LIST, name))
}

function listArguments(given: unknown): object {
  const { query: _, ...others } = isRecord(given) ? given : {}
  return others
}

const searchTool: Tool = {
  operation: search,
  description:
    "Search the stored history of all coding-agent sessions on this machine or in this store. The history may be in other languages than the question: give the question in them as queries. Answers with a readable transcript: totals first, then hits " +
    "grouped by session, best session first, with its title; each hit is a `--- [n] score | role | time | message_id ---` rule and the text around the match. " +
    "Pass a returned id to pond_get to read more. Without a query it lists the newest sessions. Scope with project, from_date, to_date rather than with the query. Scores compare " +
    "only within one answer. Sub-agents and tool output are searched only on request (include_subagents, scope).",
  input: SearchInput,
  resultCharsMax: SEARCH_CHARS_MAX,
  run: async (context, given) => {
    const input = inputOf(SEARCH, readArguments(SearchInput, given, context)) as AskedSearch
    const { query = "", similar_to: similarTo, sort } = input
    if (query.trim() === "" && isList(given)) return await listTool.run(context, listArguments(given))
    const near = await context.near?.()
    const isDefault = limitOf(input) === SESSIONS_DEFAULT && (input.text_budget ?? TEXT_BUDGET) === TEXT_BUDGET
    let limit = limitOf(input)
    while (true) {
      const answer = await perform(search, context, {
        ...input,
        ...(near === undefined ? {} : { near }),
        limit,
        for_reading: true,
      })
      const shown = isDefault ? shortenHits(answer) : answer
      const text = searchTranscript(shown, { query, similarTo, sort })
      if (text.length <= SEARCH_CHARS_MAX || limit === 1) return { text }
      limit = lowerLimit(answer, text)
    }
  },
}

const LIST: Arguments = {
  project: { field: ["filters", "project", "contains"], description: "Only projects whose path contains this text." },
  source_agent: { field: ["filters", "source_agent"], description: 'Only this client, such as "claude-code".' },
  branch: { field: ["filters", "branch"], description: "Only sessions on this git branch." },
  host: { field: ["filters", "host"], description: "Only sessions stored by the machine of this name." },
  file: {
    field: ["filters", "file"],
    description: "Only sessions with a tool call that names this file; part of its path is enough.",
  },
  has_errors: { field: ["filters", "has_errors"], description: "Only sessions in which a tool call failed." },
  tool: { field: ["filters", "tool"], description: "Only sessions that called this tool." },
  model: { field: ["filters", "model"], description: "Only sessions in which this model answered." },
  tag: { field: ["filters", "tag"], description: "Only sessions with this tag." },
  starred: { field: ["filters", "starred"], description: "Only sessions with a star." },
  from_date: {
    field: ["filters", "from_date"],
    description: "Only sessions active on or after this day: YYYY-MM-DD, yesterday, last week, 24h.",
  },
  to_date: { field: ["filters", "to_date"], description: "Only sessions active on or before this day." },
  include_subagents: { field: ["filters", "include_subagents"], description: "Include sub-agent sessions." },
  limit: "Maximum number of sessions, at most 200.",
  cursor: "The cursor at the end of a previous answer, for the next page.",
}

const ListInput = argumentsOf(list.input, LIST)

const listTool: Tool = {
  operation: list,
  description:
    "List sessions, newest first: what was worked on lately, in a project, on a branch, on a day, or with a file. One line each; pass its id to pond_get. Use " +
    "pond_search to find sessions by what was said in them.",
  input: ListInput,
  resultCharsMax: LIST_CHARS_MAX,
  run: async (context, given) => {
    const input = inputOf(LIST, readArguments(ListInput, given, context))
    return { text: listTranscript(await perform(list, context, input)) }
  },
}

const COST: Arguments = {
  by: "What to group by: model, day, week, month, client, project, session or subagent (default: model).",
  project: { field: ["filters", "project", "contains"], description: "Only projects whose path contains this text." },
  source_agent: { field: ["filters", "source_agent"], description: 'Only this client, such as "claude-code".' },
  session_id: { field: ["filters", "session_id"], description: "Only this session and its sub-agents." },
  from_date: {
    field: ["filters", "from_date"],
    description: "Only responses on or after this day: YYYY-MM-DD, yesterday, last week, 24h.",
  },
  to_date: { field: ["filters", "to_date"], description: "Only responses on or before this day." },
  limit: { description: "Maximum number of rows.", default: 30 },
}

const COST_CHARS_MAX = 60_000
const COST_ROWS = 30
const CostInput = argumentsOf(cost.input, COST)

const costTool: Tool = {
  operation: cost,
  description:
    "Show how many tokens sessions took and what they cost in US dollars, as the clients recorded it: by model, day, project, session or sub-agent. Each response " +
    "counts once, also where a fork copied it. Costs that no client recorded are computed from a dated price table; models without a price are named.",
  input: CostInput,
  resultCharsMax: COST_CHARS_MAX,
  run: async (context, given) => {
    const input = inputOf(COST, readArguments(CostInput, given, context)) as { limit?: number }
    return { text: costTranscript(await perform(cost, context, { limit: COST_ROWS, ...input })) }
  },
}

const GET: Arguments = {
  session_id: "Read this session. Either this or message_id.",
  message_id: "Read this complete message, marked with `>`.",
  session_id_of_message: "Session of the message, if the id is ambiguous.",
  context_depth: "With message_id: number of messages before and after.",
  limit: "Maximum number of messages, or of parts of a message.",
  response_mode:
    "Session detail: conversational (what was said), complete (every message, parts in one line each) or verbatim (everything).",
  session_from:
    "Which end of the session to read; end gives the most recent messages, to recover context after compaction.",
  after_id: "Continue after this id, shown in the footer of a previous answer.",
  tree: "With session_id: list its sub-agent sessions at any depth.",
}

const GET_CHARS_MAX = 200_000
/** So much of each text is left where the whole is too long, or less until it fits. */
const GET_TEXT_CHARS = 150_000
const GET_TEXT_CHARS_MIN = 100

const GetArguments = argumentsOf(get.input, GET)

const getTool: Tool = {
  operation: get,
  description:
    "Read stored conversation as a transcript. session_id reads a whole session page by page (response_mode conversational, complete or verbatim); message_id " +
    "reads one message with all its parts, marked `>`, and context_depth neighbours on each side. A session lists its sub-agents in a footer. Tool calls are " +
    "`-> name [call_id]`, results `<- name [call_id] (ok|failed)`. Pass the after_id from the footer to continue. Not for bulk: use `pond export` for that.",
  input: GetArguments,
  resultCharsMax: GET_CHARS_MAX,
  run: async (context, given) => {
    const input = readArguments(GetArguments, given, context) as GetInput
    const answer = await perform(get, context, input)
    let text = getTranscript(answer, input)
    for (let most = GET_TEXT_CHARS; text.length > GET_CHARS_MAX && most > GET_TEXT_CHARS_MIN; most /= 2) {
      text = getTranscript(shorten(answer, Math.floor(most)), input)
    }
    return { text }
  },
}

export const TOOLS: readonly Tool[] = [searchTool, listTool, getTool, costTool, sqlTool]
