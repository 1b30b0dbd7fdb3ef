/** A list of sessions for people: on a terminal one line each under its day, elsewhere one line each with its date. */
import { countText } from "../../model/numbers.ts"
import { visibleLine } from "../../model/visible.ts"
import type { ListedSession, SessionsOutput } from "../../operations/wire/sessions.ts"
import type { Page } from "../verb.ts"
import { dayHeading, localTimeText, timeText } from "./dates.ts"
import { projectText } from "./home-paths.ts"
import { type Column, cutFrontToWidth, cutToWidth, lineOf } from "./table.ts"

export interface ListLayout extends Page {
  readonly nowMs: number
  /** Shortened to `~` where a project lies below it. */
  readonly home: string | undefined
  /** How the next page is asked for. */
  readonly more: string
}

const COLUMNS: readonly Column[] = [
  { title: "", isFixed: true },
  { title: "" },
  { title: "", isFixed: true },
  { title: "", isFixed: true },
  { title: "", align: "right", isFixed: true },
  { title: "", isFixed: true },
]

/** Longer lines are hard to read, however wide the terminal is. */
const WIDTH_MAX = 140
/** A narrower screen has room for a title and little else: the last name of the project, no branch and no length. */
const WIDTH_FULL = 100
const NAME_WIDTH_MAX = 14
const ID_WIDTH_MAX = 17
/** Of a wider line, the most that the project and branch take. */
const WHERE_SHARE = 0.25

export function renderSessions({ sessions, next_cursor }: SessionsOutput, layout: ListLayout): string {
  if (sessions.length === 0) return "No sessions match. `pond sync` stores new ones.\n"
  const body = Number.isFinite(layout.columns) ? groupedByDay(sessions, layout) : plainLines(sessions)
  const hint = layout.style.dim("Read one: pond get ID   Resume it: pond resume ID")
  const more = next_cursor === undefined ? "" : `${layout.style.dim(`More: ${layout.more}`)}\n`
  return Number.isFinite(layout.columns) ? `${body}\n${hint}\n${more}` : body
}

function groupedByDay(sessions: readonly ListedSession[], { style, columns, nowMs, home }: ListLayout): string {
  const width = Math.min(columns, WIDTH_MAX) - 2
  const isNarrow = width < WIDTH_FULL
  const where = (session: ListedSession) =>
    isNarrow
      ? cutToWidth(visibleLine(session.project.split("/").findLast(Boolean) ?? ""), NAME_WIDTH_MAX)
      : cutFrontToWidth(whereOf(session, home), Math.floor(width * WHERE_SHARE))
  const rows = sessions.map((session) => [
    timeText(session.last_at),
    titleOf(session),
    visibleLine(session.source_agent),
    where(session),
    ...(isNarrow ? [] : [countText(session.messages_count)]),
    visibleLine(session.short_id),
  ])
  const shape = isNarrow ? COLUMNS.filter(({ align }) => align !== "right") : COLUMNS
  // An id that is longer than others, because another session begins alike, leaves the titles of others their room.
  const isLong = (row: readonly string[]) => (row.at(-1)?.length ?? 0) > ID_WIDTH_MAX
  const lineOfMost = lineOf(
    shape,
    rows.filter((row) => !isLong(row)),
    width,
  )
  const line = (row: readonly string[]) => (isLong(row) ? lineOf(shape, [row], width)(row) : lineOfMost(row))
  let day = ""
  return sessions
    .map((session, index) => {
      const own = dayHeading(session.last_at, nowMs)
      const heading = own === day ? "" : `${day === "" ? "" : "\n"}${style.bold(own)}\n`
      day = own
      return `${heading}  ${line(rows[index] ?? [])}\n`
    })
    .join("")
}

/** For programs that read lines: the id and the columns before the title have no spaces in them, or a tab behind them. */
function plainLines(sessions: readonly ListedSession[]): string {
  return sessions
    .map((session) => {
      const { short_id, last_at, source_agent, messages_count } = session
      const cells = [short_id, localTimeText(Date.parse(last_at)), source_agent, whereOf(session, undefined)]
      return `${[...cells.map(visibleLine), countText(messages_count), titleOf(session)].join("\t")}\n`
    })
    .join("")
}

/** `★ Fix the login #billing` */
function titleOf({ title = "(untitled)", starred, tags = [], prompts_only: isRecord }: ListedSession): string {
  return [
    ...(starred === true ? ["★"] : []),
    ...(isRecord === true ? ["(prompts only)"] : []),
    title,
    ...tags.map((tag) => `#${tag}`),
  ]
    .map(visibleLine)
    .join(" ")
}

/** `~/work/shop (fix-login)` */
function whereOf({ project, branch }: ListedSession, home: string | undefined): string {
  const path = projectText(project, home)
  return branch === undefined ? path : `${path} (${visibleLine(branch)})`
}
