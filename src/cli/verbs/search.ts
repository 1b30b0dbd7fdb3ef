/** `pond search`: the sessions that hold what was looked for, and where in them. */
import { perform } from "../../operations/operation.ts"
import { type FoundSession, search as operation, type SearchOutput } from "../../operations/search.ts"
import { whenText } from "../dates.ts"
import { flag } from "../flags.ts"
import { countText } from "../numbers.ts"
import type { Style } from "../style.ts"
import { defineVerb, type Page } from "../verb.ts"
import { visible, visibleLine } from "../visible.ts"

export const search = defineVerb({
  flags: {
    limit: flag.wholeNumber("How many sessions: 10, where nothing is said.", { min: 1, max: 200 }),
    mode: flag.choice("How to look: auto, where nothing is said.", ["auto", "words", "meaning", "exact", "pattern"]),
    scope: flag.choice("Where to look: what was said, what tools did, or both.", ["conversation", "tools", "all"]),
    project: flag.text("Only projects whose path contains this.", "TEXT"),
    session: flag.text("Only this session.", "ID"),
    agent: flag.text("Only this client, or this kind of sub-agent.", "NAME"),
    role: flag.choice("Only messages of these.", ["user", "assistant"]),
    from: flag.text("On or after this day.", "DATE"),
    to: flag.text("On or before this day.", "DATE"),
    "include-subagents": flag.onOff("Also what the agents of an agent said."),
    sort: flag.choice("Best first, or newest first.", ["relevance", "recency"]),
    group: flag.choice("One entry per session, or one per message.", ["session", "none"]),
    cursor: flag.text("Go on where an answer ended.", "TOKEN"),
    "similar-to": flag.text("Find messages like this one.", "MESSAGE"),
    "min-score": flag.decimal("Leave out what scores less.", { min: 0, max: 1 }),
  },
  positionals: [{ name: "query", summary: "What to look for. Quotes inside it mean to the letter.", count: "many" }],
  examples: [
    "search database migration",
    "search '\"cannot find module\"' --project web",
    "search --mode exact ENOENT --scope tools",
    "search deploy --from 2026-01-01 --sort recency",
  ],
  run: async ({ pond, flags, words, signal }) => {
    const filters = {
      ...(flags.project === undefined ? {} : { project: { contains: flags.project } }),
      ...given("session_id", flags.session),
      ...given("source_agent", flags.agent),
      ...given("role", flags.role),
      ...given("from_date", flags.from),
      ...given("to_date", flags.to),
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
    }
    const answer = await perform(operation, { pond, signal }, input)
    const nowMs = pond.host.clock.nowMs()
    return { document: { ...answer }, render: (page) => render(answer, input.query, page, nowMs) }
  },
})

function given<N extends string, V>(name: N, value: V | undefined): { readonly [K in N]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [K in N]: V })
}

function render(answer: SearchOutput, query: string, page: Page, nowMs: number): string {
  const { style } = page
  const sessions = answer.sessions ?? []
  const matches = answer.matches ?? []
  if (sessions.length + matches.length === 0) return nothingFound(answer, query)
  const terms = query
    .replaceAll('"', " ")
    .split(/\s+/)
    .filter((term) => term.length > 1)
  const body = [
    ...sessions.map((session) => sessionText(session, terms, style, nowMs)),
    ...matches.map((match) => matchText(match, terms, style, nowMs)),
  ].join("\n")
  const more = answer.next_cursor === undefined ? "" : style.dim(`\nThere is more: --cursor ${answer.next_cursor}\n`)
  return `${body}${more}${style.dim(`\n${countText(answer.matched_total)} messages found by ${answer.searched.arms.join(" and ")}. Read one with its neighbours: pond get MESSAGE --context 3\n`)}`
}

function sessionText(session: FoundSession, terms: readonly string[], style: Style, nowMs: number): string {
  const title = session.title === undefined ? "" : `  ${visibleLine(session.title)}`
  const head = `${style.bold(visibleLine(session.session_id))}${title}\n${style.dim(`${visibleLine(session.source_agent)} in ${visibleLine(session.project)}, ${countText(session.matched_message_count)} of ${countText(session.session_messages_count)} messages found`)}`
  const newer =
    session.newer_messages_count === 0
      ? ""
      : style.dim(
          `  ${countText(session.newer_messages_count)} newer messages: pond get ${visibleLine(session.session_id)} --from end\n`,
        )
  return `${head}\n${session.matches.map((match) => matchText(match, terms, style, nowMs)).join("")}${newer}`
}

function matchText(
  match: FoundSession["matches"][number],
  terms: readonly string[],
  style: Style,
  nowMs: number,
): string {
  const head = `  ${style.cyan(match.role)} ${style.dim(`${whenText(match.timestamp, nowMs)}  ${match.score.toFixed(2)}  ${visibleLine(match.message_id)}`)}`
  const lines = visible(match.text)
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(0, 6)
  return `${head}\n${lines.map((line) => `    ${highlighted(line, terms, style)}\n`).join("")}`
}

function highlighted(line: string, terms: readonly string[], style: Style): string {
  if (terms.length === 0) return line
  const pattern = new RegExp(terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "giu")
  return line.replace(pattern, (found) => style.bold(style.yellow(found)))
}

function nothingFound({ searched }: SearchOutput, query: string): string {
  const left = searched.excluded.map((each) => `  left out: ${each}\n`).join("")
  const next = searched.arms.includes("exact")
    ? ""
    : `Try it to the letter, tools included: pond search --mode exact --scope all ${JSON.stringify(visibleLine(query))}\n`
  return `Nothing was found by ${searched.arms.join(" and ")}.\n${left}${next}`
}
