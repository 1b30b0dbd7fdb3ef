/** Which session to go on with, chosen on a terminal, the newest first, with what was said last beside each. */
import { visible, visibleLine } from "../../model/visible.ts"
import { perform } from "../../operations/operation.ts"
import type { Pond } from "../../operations/pond.ts"
import {
  lastWords,
  type Newest,
  olderSessions,
  type RecentSession,
  recentSessions,
} from "../../operations/store/recent-sessions.ts"
import { sessions } from "../../operations/wire/sessions.ts"
import { whenText } from "../render/dates.ts"
import { excerpt } from "../render/highlight.ts"
import { projectText } from "../render/home-paths.ts"
import { roleText } from "../render/role-text.ts"
import type { Style } from "../render/style.ts"
import { cutFrontToWidth } from "../render/table.ts"
import { type Choice, type InteractiveScreen, pick } from "./picker.ts"

/** So many are there at once; the others come while the user looks. */
const SESSIONS_MAX = 200
/** More of a first message than any line shows. */
const TITLE_UNITS = 400
const LAST_WORDS = 3
const LINES_OF_EACH = 4

export interface Offered {
  /** What the list is filtered by at first. */
  readonly query: string
  /** Only the sessions of this directory and those below it. */
  readonly within: string | undefined
}

/** The id; nothing where there is none to choose, or the user left. */
export async function pickSession(
  pond: Pond,
  open: () => InteractiveScreen,
  { query, within }: Offered,
): Promise<string | "none" | undefined> {
  const recent = within === undefined ? await recentSessions(pond, SESSIONS_MAX) : await sessionsWithin(pond, within)
  if (recent.sessions.length === 0) return "none"
  const { clock, environment } = pond.host
  const nowMs = clock.nowMs()
  const { keyboard, out, style } = open()
  const whereWidth = Math.max(WHERE_WIDTH_MIN, Math.floor((out.columns ?? 80) * WHERE_SHARE))
  const choiceOf = ({ id, title, source_agent, project, last_at }: RecentSession): Choice => {
    const where = cutFrontToWidth(projectText(project, environment["HOME"]), whereWidth)
    const about = [whenText(last_at, nowMs), visibleLine(source_agent), where] as const
    return { id, title: visibleLine(title.slice(0, TITLE_UNITS)), about }
  }
  const known = new Set(recent.sessions.map(({ id }) => id))
  async function* older(signal: AbortSignal): AsyncGenerator<readonly Choice[]> {
    for await (const some of olderSessions(pond, known, signal)) yield some.map(choiceOf)
  }
  const seen = new Map<string, readonly string[]>()
  const preview = async ({ id }: Choice) => {
    const lines = seen.get(id) ?? (await previewLines(pond, id, style, out.columns ?? 80))
    seen.set(id, lines)
    return lines
  }
  const more = recent.isAll ? {} : { more: older }
  const choices = recent.sessions.map(choiceOf)
  return (await pick(choices, { keyboard, out, style, prompt: "Resume", query, preview, ...more }))?.id
}

async function sessionsWithin(pond: Pond, within: string): Promise<Newest> {
  const input = { filters: { project: { within } }, limit: SESSIONS_MAX }
  const { sessions: found } = await perform(sessions, { pond, signal: new AbortController().signal }, input)
  const offered = found.map(({ session_id: id, title = id, source_agent, project, last_at }) => ({
    ...{ id, title, source_agent, project, last_at },
  }))
  return { sessions: offered, isAll: true }
}

/** Of the width, the most that a project takes: a title tells more. */
const WHERE_SHARE = 0.3
const WHERE_WIDTH_MIN = 14

async function previewLines(pond: Pond, id: string, style: Style, columns: number): Promise<string[]> {
  const nowMs = pond.host.clock.nowMs()
  const last = await lastWords(pond, id, LAST_WORDS)
  return last.flatMap(({ role, timestamp, text = "" }) => [
    `${roleText(role, style)} ${style.dim(whenText(timestamp, nowMs))}`,
    ...excerpt(visible(text), undefined, { width: columns - 4, linesMax: LINES_OF_EACH }).map((line) => `  ${line}`),
  ])
}
