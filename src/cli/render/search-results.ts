/** What a search found, for people: sessions with their best places, and the command that opens each. */

import { counted, countText } from "../../model/numbers.ts"
import { visible, visibleLine } from "../../model/visible.ts"
import {
  type FoundSession,
  isOfItsMessages,
  isWalk,
  type SearchOutput,
  unitOf,
} from "../../operations/wire/search-output.ts"
import { pondCommand, shownCommand } from "../../platform/process/shell-word.ts"
import type { Page } from "../verb.ts"
import { momentText } from "./dates.ts"
import { excerpt, highlightMatches, patternOf } from "./highlight.ts"
import { projectText } from "./home-paths.ts"
import { roleText } from "./role-text.ts"
import type { Style } from "./style.ts"
import { cutFrontToWidth, cutToWidth } from "./table.ts"

type Match = NonNullable<SearchOutput["matches"]>[number] | FoundSession["matches"][number]

export interface ResultsLayout extends Page {
  readonly nowMs: number
  /** Shortened to `~` where a project lies below it. */
  readonly home: string | undefined
  readonly query: string
  readonly mode: string | undefined
  readonly scope: string | undefined
  readonly sort: string | undefined
}

const PROJECT_WIDTH_MIN = 12
const LINES_MAX = 2
/** Longer lines are hard to read, however wide the terminal is. */
const WIDTH_MAX = 110

export function renderResults(answer: SearchOutput, layout: ResultsLayout): string {
  const { style } = layout
  const sessions = answer.sessions ?? []
  const matches = answer.matches ?? []
  if (sessions.length + matches.length === 0) return nothingFound(answer, layout)
  const pattern = patternOf(layout.query, layout.mode)
  const body = [
    ...sessions.map((session) => sessionText(session, pattern, { ...layout, matched: matchedText(session, answer) })),
    ...matches.map((match) => matchText(match, shownId(match).length, pattern, layout)),
  ].join(matches.length > 0 ? "" : "\n")
  return `${body}${renderExplanation(answer, style)}\n${style.dim(closing(answer, layout))}`
}

function matchedText(session: FoundSession, { searched }: SearchOutput): string {
  const { matched_message_count: matched, session_messages_count: all } = session
  if (isOfItsMessages(session, searched)) return `${countText(matched)} of ${counted(all, "message")}`
  return counted(matched, unitOf(searched))
}

interface SessionLayout extends ResultsLayout {
  readonly matched: string
}

/** The id and the title, then where and when, then the hits. */
function sessionText(session: FoundSession, pattern: RegExp | undefined, layout: SessionLayout): string {
  const { style, columns, nowMs } = layout
  const id = visibleLine(session.short_id ?? session.session_id)
  const title = visibleLine(session.title ?? "(untitled)")
  const newest = session.matches
    .map(({ timestamp }) => timestamp)
    .sort()
    .at(-1)
  const agent = `${visibleLine(session.source_agent)}${session.prompts_only === true ? " (prompts only)" : ""}`
  const rest = [
    ...(newest === undefined ? [] : [momentText(newest, nowMs)]),
    layout.matched,
    ...(session.newer_messages_count === 0 ? [] : [`${countText(session.newer_messages_count)} newer`]),
  ].join("  ")
  const room = Math.max(PROJECT_WIDTH_MIN, columns - Bun.stringWidth(agent) - Bun.stringWidth(rest) - 4)
  const where = [agent, cutFrontToWidth(projectText(session.project, layout.home), room), rest].join("  ")
  const shown = highlightMatches(cutToWidth(title, columns - id.length - 2), pattern, style.red)
  const head = `${style.cyan(id)}  ${style.bold(shown)}\n${style.dim(where)}\n`
  const width = Math.max(...session.matches.map((match) => shownId(match).length))
  return `${head}${session.matches.map((match) => matchText(match, width, pattern, layout)).join("")}`
}

function shownId({ short_id, message_id }: Match): string {
  return visibleLine(short_id ?? message_id)
}

/** Where ids are longer, the text begins on the next line. */
const ID_WIDTH_MAX = 20
const LONG_INDENT = 4
const ROLE_WIDTH = "assistant".length

/** The id, who said it, and one or two lines around the match. */
function matchText(match: Match, idWidth: number, pattern: RegExp | undefined, layout: ResultsLayout): string {
  const { style, columns } = layout
  const isLong = idWidth > ID_WIDTH_MAX
  const indent = isLong ? LONG_INDENT : 2 + idWidth + 2 + ROLE_WIDTH + 2
  // In a pipe a line stays a line: programs that read it count on that.
  const width = Number.isFinite(columns) ? Math.max(20, Math.min(columns, WIDTH_MAX) - indent - 4) : columns
  const lines = excerpt(visible(match.text), pattern, { width, linesMax: LINES_MAX })
  const said = lines.map((line) => highlightMatches(line, pattern, (found) => style.bold(style.red(found))))
  const score = renderScore(match)
  const role = `${roleText(match.role, style)}${" ".repeat(Math.max(0, ROLE_WIDTH - match.role.length))}`
  const gap = isLong ? `\n${" ".repeat(indent)}` : "  "
  const head = `  ${style.dim(shownId(match).padEnd(idWidth))}  ${isLong ? role.trimEnd() : role}${gap}`
  const body = said.join(`\n${" ".repeat(indent)}`)
  return `${head}${body}${score === "" ? "" : style.dim(score)}\n`
}

const READ = "Read a hit: pond get ID --context 3"

function closing(answer: SearchOutput, layout: ResultsLayout): string {
  const { next_cursor, sessions = [] } = answer
  const more = next_cursor === undefined ? "" : "More: pond search --more\n"
  // No client resumes a record of prompts.
  const best = sessions.find((session) => session.prompts_only !== true)
  const resume = best === undefined ? "" : `   Resume: ${pondCommand("resume", best.short_id ?? best.session_id)}`
  const { excluded, understood = [] } = answer.searched
  const unheld = excluded.filter((each) => each.startsWith("no message has "))
  const said =
    understood.length === 0 ? [] : [`Understood: ${understood.join("; ")}. "Double quotes" search for the exact text`]
  const remarks = [...unheld, ...said].map((each) => `${visibleLine(each)}.\n`).join("")
  const shown =
    next_cursor === undefined || sessions.length === 0 ? "" : `, ${counted(sessions.length, "session")} shown`
  return `${foundText(answer, layout)}${shown}.\n${remarks}${READ}${resume}\n${more}`
}

const ARM_NAMES: Readonly<Record<string, string>> = {
  words: "keyword",
  meaning: "semantic",
  exact: "exact",
  pattern: "pattern",
}

/** `keyword and semantic search`. */
function searchName(arms: readonly string[]): string {
  return `${arms.map((arm) => ARM_NAMES[arm] ?? arm).join(" and ")} search`
}

function foundText({ matched_total, matched_more, searched }: SearchOutput, { sort }: ResultsLayout): string {
  const how = searchName(searched.arms)
  const found = counted(matched_total, unitOf(searched))
  if (matched_more !== true) return `${found} found (${how})`
  return isWalk(searched) || sort === "recency" ? `The newest ${found} (${how})` : `The best ${found} (${how})`
}

function nothingFound({ searched, next_cursor }: SearchOutput, { query, mode, scope }: ResultsLayout): string {
  // A store that is empty, or a filter that nothing passes: another search would find as little.
  const whole = searched.excluded.find((each) => each.startsWith(EVERYTHING))
  if (whole !== undefined) {
    const why = visibleLine(withFlags(whole.slice(EVERYTHING.length).replace("(run pond sync)", "(run `pond sync`)")))
    return `No matches: ${why}.\n`
  }
  const left = searched.excluded.map((each) => `  not searched: ${visibleLine(withFlags(each))}\n`).join("")
  const nothing = `No matches (${searchName(searched.arms)})`
  if (next_cursor !== undefined) return `${nothing} so far.\n${left}Keep searching: pond search --more\n`
  return `${nothing}.\n${left}${nextTry(query, { mode, scope })}`
}

const EVERYTHING = "everything: "

/** The engine names the fields of a request; on the command line these are flags. */
function withFlags(excluded: string): string {
  return excluded
    .replace("(include_subagents)", "(--include-subagents)")
    .replace("(scope: tools or all)", "(--scope tools or all)")
    .replace("(scope: all)", "(--scope all)")
    .replace("(from_date, to_date)", "(--from, --to)")
    .replace("(session_id)", "(--session)")
    .replace(/\bmode: (exact|meaning)\)/, "--mode $1)")
    .replace("(source_agent: ", "(--agent: ")
    .replace("(project)", "(--project)")
    .replace("(cursor)", "(--more)")
}

/** What was looked for everywhere and to the letter is nowhere. */
function nextTry(query: string, { mode, scope }: Pick<ResultsLayout, "mode" | "scope">): string {
  if (scope === "all" && (mode === "exact" || mode === "pattern")) return ""
  const [how, next] =
    mode === "pattern"
      ? ["Try a pattern search that includes", "pattern"]
      : ["Try an exact search that includes", "exact"]
  const words = visibleLine(query)
  const command = ["pond", "search", "--mode", next, "--scope", "all", ...(words.startsWith("-") ? ["--"] : []), words]
  return `${how} tool output: ${shownCommand(command)}\n`
}

// --- How the ranking came about (--explain) ---

/** Nothing unless it was asked for. */
function renderExplanation({ explanation }: SearchOutput, style: Style): string {
  if (explanation === undefined) return ""
  return explanation.rankings
    .map(({ name, weight, hits, plan }, index) => {
      const head = `${style.bold(`ranking ${index + 1}: ${name}`)}, weight ${weight}, ${counted(hits, "message")}`
      return `\n${head}\n${plan === undefined ? "" : `${visible(plan.trimEnd())}\n`}`
    })
    .join("")
}

/** What each ranking gave, in their order: ` 0.87 (0.35 + 0.40 + 0.12)`. */
function renderScore({ score, shares }: { readonly score: number; readonly shares?: readonly number[] }): string {
  return shares === undefined ? "" : ` ${score.toFixed(2)} (${shares.map((share) => share.toFixed(2)).join(" + ")})`
}
