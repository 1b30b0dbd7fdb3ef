/** What a search found, for people: sessions with their best places, and the command that opens each. */

import { counted, countText } from "../model/numbers.ts"
import { visible, visibleLine } from "../model/visible.ts"
import { type FoundSession, isOfItsMessages, isWalk, type SearchOutput, unitOf } from "../operations/search.ts"
import { shellWord } from "../platform/shell-word.ts"
import { whenText } from "./dates.ts"
import { explanationText, sharesText } from "./explained.ts"
import { excerpt, marked, patternOf } from "./highlight.ts"
import { projectText } from "./home-paths.ts"
import type { Style } from "./style.ts"
import { cutFrontToWidth, cutToWidth } from "./table.ts"
import type { Page } from "./verb.ts"

type Match = NonNullable<SearchOutput["matches"]>[number] | FoundSession["matches"][number]

export interface HitsLook extends Page {
  readonly nowMs: number
  /** Shortened to `~` where a project lies below it. */
  readonly home: string | undefined
  readonly query: string
  readonly mode: string | undefined
  readonly scope: string | undefined
  readonly sort: string | undefined
}

const INDENT = "    "
const PROJECT_WIDTH_MIN = 12
const LINES_MAX = 4
/** Longer lines are hard to read, however wide the terminal is. */
const WIDTH_MAX = 110

export function renderHits(answer: SearchOutput, look: HitsLook): string {
  const { style } = look
  const sessions = answer.sessions ?? []
  const matches = answer.matches ?? []
  if (sessions.length + matches.length === 0) return nothingFound(answer, look)
  const pattern = patternOf(look.query, look.mode)
  const body = [
    ...sessions.map((session) => sessionText(session, pattern, { ...look, matched: matchedText(session, answer) })),
    ...matches.map((match) => matchText(match, "session_id" in match ? match.session_id : "", pattern, look)),
  ].join("\n")
  return `${body}${explanationText(answer, style)}\n${style.dim(closing(answer, look))}`
}

function matchedText(session: FoundSession, { searched }: SearchOutput): string {
  const { matched_message_count: matched, session_messages_count: all } = session
  if (isOfItsMessages(session, searched)) return `${countText(matched)} of ${counted(all, "message")}`
  return counted(matched, unitOf(searched))
}

interface SessionLook extends HitsLook {
  readonly matched: string
}

function sessionText(session: FoundSession, pattern: RegExp | undefined, look: SessionLook): string {
  const { style, columns, nowMs } = look
  const id = visibleLine(session.session_id)
  const title = session.title === undefined ? id : visibleLine(session.title)
  const newest = session.matches
    .map(({ timestamp }) => timestamp)
    .sort()
    .at(-1)
  const agent = visibleLine(session.source_agent)
  const rest = [...(newest === undefined ? [] : [whenText(newest, nowMs)]), look.matched].join("  ")
  const room = Math.max(PROJECT_WIDTH_MIN, columns - Bun.stringWidth(agent) - Bun.stringWidth(rest) - 4)
  const where = [agent, cutFrontToWidth(projectText(session.project, look.home), room), rest].join("  ")
  const head = `${style.bold(marked(cutToWidth(title, columns), pattern, style.red))}\n${style.dim(where)}\n`
  const found = session.matches.map((match) => matchText(match, session.session_id, pattern, look)).join("")
  const newer =
    session.newer_messages_count === 0
      ? ""
      : style.dim(`  ${counted(session.newer_messages_count, "newer message")}: pond get ${id} --from end\n`)
  return `${head}${found}${newer}`
}

function matchText(match: Match, sessionId: string, pattern: RegExp | undefined, look: HitsLook): string {
  const { style, columns, nowMs } = look
  // In a pipe a line stays a line: programs that read it count on that.
  const width = Number.isFinite(columns) ? Math.min(columns, WIDTH_MAX) - INDENT.length - 4 : columns
  const lines = excerpt(visible(match.text), pattern, { width, linesMax: LINES_MAX })
  const said = lines.map((line) => `${INDENT}${marked(line, pattern, (found) => style.bold(style.red(found)))}\n`)
  return `  ${roleText(match.role, style)} ${style.dim(`${whenText(match.timestamp, nowMs)}${sharesText(match)}`)}\n${said.join("")}${INDENT}${style.dim(openingCommand(match.message_id, sessionId))}\n`
}

/** Short ids are no one's own: some clients count from the start in every session. */
const OWN_ID_UNITS = 20

export function openingCommand(messageId: string, sessionId: string): string {
  const id = visibleLine(messageId)
  const owner = id.length < OWN_ID_UNITS && sessionId !== "" ? ` --session ${visibleLine(sessionId)}` : ""
  return `pond get ${id}${owner} --context 3`
}

export function roleText(role: string, style: Style): string {
  return role === "user" ? style.green(role) : style.cyan(visibleLine(role))
}

function closing(answer: SearchOutput, look: HitsLook): string {
  const { next_cursor, sessions } = answer
  const more = next_cursor === undefined ? "" : `There is more: add --cursor ${next_cursor}\n`
  const [best] = sessions ?? []
  const goOn = best === undefined ? "" : `Go on with the first: pond resume ${visibleLine(best.session_id)}\n`
  return `${foundText(answer, look)}.\n${goOn}${more}`
}

function foundText({ matched_total, matched_more, searched }: SearchOutput, { sort }: HitsLook): string {
  const arms = searched.arms.join(" and ")
  const found = counted(matched_total, unitOf(searched))
  if (matched_more !== true) return `${found} found by ${arms}`
  return isWalk(searched) || sort === "recency"
    ? `${found} of more found by ${arms}, newest first`
    : `The best ${found} by ${arms}`
}

function nothingFound({ searched, next_cursor }: SearchOutput, { query, mode, scope }: HitsLook): string {
  const left = searched.excluded.map((each) => `  left out: ${visibleLine(each)}\n`).join("")
  const nothing = `Nothing was found by ${searched.arms.join(" and ")}`
  if (next_cursor !== undefined) return `${nothing} so far.\n${left}Go on looking: add --cursor ${next_cursor}\n`
  return `${nothing}.\n${left}${nextTry(query, { mode, scope })}`
}

/** What was looked for everywhere and to the letter is nowhere. */
function nextTry(query: string, { mode, scope }: Pick<HitsLook, "mode" | "scope">): string {
  if (scope === "all" && (mode === "exact" || mode === "pattern")) return ""
  const [how, next] = mode === "pattern" ? ["Try it", "pattern"] : ["Try it to the letter", "exact"]
  return `${how}, tools included: pond search --mode ${next} --scope all ${shellWord(visibleLine(query))}\n`
}
