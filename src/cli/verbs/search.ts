/** `pond search`: the sessions that hold what was looked for, and where in them. Without a query, the list of sessions. */

import { PondError } from "../../model/errors.ts"
import { perform } from "../../operations/operation.ts"
import { search as operation } from "../../operations/wire/search.ts"
import type { SearchOutput } from "../../operations/wire/search-output.ts"
import { DATE_WORDS, flag } from "../flags.ts"
import { nextPage, rememberNextPage } from "../next-page.ts"
import { argumentsFor } from "../operation-arguments.ts"
import { here, projectFilterOf } from "../project-flag.ts"
import { renderResults } from "../render/search-results.ts"
import { defineVerb, type Outcome, type Page, type Streamed, type VerbContext } from "../verb.ts"

/** What fits on a screen or two. Programs get as many as the operation gives. */
const SESSIONS_SHOWN = 5

const args = argumentsFor(operation.input, {
  limit: { short: "n", summary: `Maximum number of sessions (default: ${SESSIONS_SHOWN}; 10 with --json).` },
  mode: { summary: "How to search (default: auto)." },
  scope: { summary: "What to search: what was said, tool calls and output, or all (default: conversation)." },
  project: {
    field: ["filters", "project"],
    summary: "Only projects whose path contains TEXT, or within a directory: . means this one.",
    convert: projectFilterOf,
  },
  session: { field: ["filters", "session_id"], summary: "Only this session.", hint: "ID", words: "sessions" },
  agent: {
    field: ["filters", "source_agent"],
    summary: "Only this client or kind of sub-agent.",
    hint: "NAME",
    words: "adapters",
  },
  role: { field: ["filters", "role"], summary: "Only messages from this role." },
  from: {
    field: ["filters", "from_date"],
    summary: `On or after this day: ${DATE_WORDS}.`,
    hint: "DATE",
    day: "start",
  },
  to: { field: ["filters", "to_date"], summary: "On or before this day.", hint: "DATE", day: "end" },
  "include-subagents": { field: ["filters", "include_subagents"] },
  tag: { field: ["filters", "tag"], hint: "TAG" },
  starred: { field: ["filters", "starred"] },
  sort: {},
  group: {},
  cursor: { hint: "TOKEN" },
  "similar-to": { hint: "MESSAGE" },
  explain: {},
  "min-score": { field: ["filters", "min_score"], summary: "Minimum score." },
  here: flag.onOff("Only sessions of the repository or directory you are in."),
  more: flag.onOff("Show the next page of the last search."),
})

export const search = defineVerb({
  flags: args.flags,
  positionals: [
    { name: "query", summary: 'What to search for. Use "double quotes" for an exact phrase.', count: "many" },
  ],
  examples: [
    "search database migration",
    "search '\"cannot find module\"' --project web",
    "search --mode exact ENOENT --scope tools",
    "search deploy --from 2026-01-01 --sort recency",
    "search --more",
  ],
  run: async (context) => {
    const { pond, flags, words, isJson } = context
    if (flags.more) return await searchSessions(context, nextPage(pond.host, "search"))
    const { filters, ...rest } = args.inputOf(context)
    const input = {
      ...rest,
      query: words.join(" "),
      filters: { ...(filters as object | undefined), ...(flags.here ? { project: here() } : {}) },
    }
    // A program gets the document of a search, or is told what is missing.
    const isList = !isJson && input.query.trim() === "" && flags["similar-to"] === undefined
    if (isList) {
      const { listSessions } = await import("./list.ts")
      return await listSessions(context, asList(input))
    }
    const shown = isJson ? {} : { limit: SESSIONS_SHOWN, for_reading: true }
    return await searchSessions(context, { ...shown, near: here().within, ...input })
  },
})

/** Fields that a list has too. */
const LISTED = ["limit", "cursor"]
const LISTED_FILTERS = ["project", "source_agent", "tag", "starred", "from_date", "to_date", "include_subagents"]

function asList({ filters, query: _, ...rest }: { readonly filters: object; readonly query: string }): object {
  const others = [
    ...Object.keys(rest).filter((name) => !LISTED.includes(name)),
    ...Object.keys(filters).filter((name) => !LISTED_FILTERS.includes(name)),
  ]
  if (others.length === 0) return { ...rest, filters }
  throw new PondError("validation_failed", "The query is empty. Give words to search for, or run `pond list`.", {
    details: { field: "query" },
  })
}

type Input = Readonly<Record<string, unknown>>

async function searchSessions(context: VerbContext<typeof args.flags>, input: Input): Promise<Outcome | Streamed> {
  const { pond, signal, isJson, show } = context
  const answer: SearchOutput = await perform(operation, { pond, signal }, input)
  if (!isJson) rememberNextPage(pond.host, "search", input, answer.next_cursor)
  const text = (name: string) => (typeof input[name] === "string" ? input[name] : undefined)
  const layout = {
    nowMs: pond.host.clock.nowMs(),
    home: pond.host.environment["HOME"],
    query: text("query") ?? "",
    mode: text("mode"),
    scope: text("scope"),
    sort: text("sort"),
  }
  const render = (page: Page) => renderResults(answer, { ...page, ...layout })
  if (show === undefined) return { document: { ...answer }, render }
  await show(async function* (page) {
    yield render(page)
  })
  return { exitCode: 0 }
}
