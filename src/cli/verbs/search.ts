/** `pond search`: the sessions that hold what was looked for, and where in them. */

import { perform } from "../../operations/operation.ts"
import { parseDateRange } from "../../operations/wire/date-words.ts"
import { search as operation } from "../../operations/wire/search.ts"
import { flag } from "../flags.ts"
import { renderResults } from "../render/search-results.ts"
import { defineVerb } from "../verb.ts"

export const search = defineVerb({
  flags: {
    limit: flag.wholeNumber("Maximum number of sessions (default: 10).", { min: 1, max: 200 }),
    mode: flag.choice("How to search (default: auto).", ["auto", "words", "meaning", "exact", "pattern"]),
    scope: flag.choice("What to search: what was said, tool calls and output, or both (default: conversation).", [
      "conversation",
      "tools",
      "all",
    ]),
    project: flag.text("Only projects whose path contains TEXT.", "TEXT"),
    session: flag.text("Only this session.", "ID", { words: "sessions" }),
    agent: flag.text("Only this client or kind of sub-agent.", "NAME", { words: "adapters" }),
    role: flag.choice("Only messages from this role.", ["user", "assistant"]),
    from: flag.text('On or after this day: 2026-01-31, 2026-01, "20 Jan", yesterday or 7d.', "DATE"),
    to: flag.text("On or before this day.", "DATE"),
    "include-subagents": flag.onOff("Include sub-agent sessions."),
    sort: flag.choice("Best or newest first (default: relevance).", ["relevance", "recency"]),
    group: flag.choice("Group matches by session, or list each message (default: session).", ["session", "none"]),
    cursor: flag.text("Continue from a previous page of results.", "TOKEN"),
    "similar-to": flag.text("Find messages similar to this one.", "MESSAGE"),
    explain: flag.onOff("Show how each result was ranked."),
    "min-score": flag.decimal("Minimum score.", { min: 0, max: 1 }),
  },
  positionals: [
    { name: "query", summary: 'What to search for. Use "double quotes" for an exact phrase.', count: "many" },
  ],
  examples: [
    "search database migration",
    "search '\"cannot find module\"' --project web",
    "search --mode exact ENOENT --scope tools",
    "search deploy --from 2026-01-01 --sort recency",
  ],
  run: async ({ pond, flags, words, signal }) => {
    const nowMs = pond.host.clock.nowMs()
    const { from, to } = parseDateRange(flags, nowMs)
    const filters = {
      ...(flags.project === undefined ? {} : { project: { contains: flags.project } }),
      ...given("session_id", flags.session),
      ...given("source_agent", flags.agent),
      ...given("role", flags.role),
      ...given("from_date", from),
      ...given("to_date", to),
      ...given("min_score", flags["min-score"]),
      ...(flags["include-subagents"] ? { include_subagents: true } : {}),
    }
    const input = {
      query: words.join(" "),
      filters,
      ...given("limit", flags.limit),
      ...given("mode", flags.mode),
      ...given("scope", flags.scope),
      ...given("sort", flags.sort),
      ...given("group", flags.group),
      ...given("cursor", flags.cursor),
      ...given("similar_to", flags["similar-to"]),
      ...(flags.explain ? { explain: true } : {}),
    }
    const answer = await perform(operation, { pond, signal }, input)
    const layout = {
      nowMs,
      home: pond.host.environment["HOME"],
      query: input.query,
      mode: flags.mode,
      scope: flags.scope,
      sort: flags.sort,
    }
    return { document: { ...answer }, render: (page) => renderResults(answer, { ...page, ...layout }) }
  },
})

function given<N extends string, V>(name: N, value: V | undefined): { readonly [K in N]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [K in N]: V })
}
