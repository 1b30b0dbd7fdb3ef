/** Which session to go on with, chosen on a terminal, the newest first, with what was said last beside each. */
import { visible, visibleLine } from "../../model/visible.ts"
import type { Pond } from "../../operations/pond.ts"
import { lastWords, olderSessions, type RecentSession, recentSessions } from "../../operations/store/recent-sessions.ts"
import { whenText } from "../render/dates.ts"
import { excerpt } from "../render/highlight.ts"
import { projectText } from "../render/home-paths.ts"
import { roleText } from "../render/search-results.ts"
import type { Style } from "../render/style.ts"
import { type Choice, type InteractiveScreen, pick } from "./picker.ts"

/** So many are there at once; the others come while the user looks. */
const SESSIONS_MAX = 200
/** More of a first message than any line shows. */
const TITLE_UNITS = 400
const LAST_WORDS = 3
const LINES_OF_EACH = 4

/** The id; nothing where there is none to choose, or the user left. */
export async function pickSession(pond: Pond, open: () => InteractiveScreen): Promise<string | "none" | undefined> {
  const recent = await recentSessions(pond, SESSIONS_MAX)
  if (recent.sessions.length === 0) return "none"
  const { clock, environment } = pond.host
  const nowMs = clock.nowMs()
  const choiceOf = ({ id, title, source_agent, project, last_at }: RecentSession): Choice => {
    const where = projectText(project, environment["HOME"])
    const about = [whenText(last_at, nowMs), visibleLine(source_agent), where] as const
    return { id, title: visibleLine(title.slice(0, TITLE_UNITS)), about }
  }
  const known = new Set(recent.sessions.map(({ id }) => id))
  async function* older(signal: AbortSignal): AsyncGenerator<readonly Choice[]> {
    for await (const sessions of olderSessions(pond, known, signal)) yield sessions.map(choiceOf)
  }
  const { keyboard, out, style } = open()
  const seen = new Map<string, readonly string[]>()
  const preview = async ({ id }: Choice) => {
    const lines = seen.get(id) ?? (await previewLines(pond, id, style, out.columns ?? 80))
    seen.set(id, lines)
    return lines
  }
  const more = recent.isAll ? {} : { more: older }
  const choices = recent.sessions.map(choiceOf)
  return (await pick(choices, { keyboard, out, style, prompt: "Resume", preview, ...more }))?.id
}

async function previewLines(pond: Pond, id: string, style: Style, columns: number): Promise<string[]> {
  const nowMs = pond.host.clock.nowMs()
  const last = await lastWords(pond, id, LAST_WORDS)
  return last.flatMap(({ role, timestamp, text = "" }) => [
    `${roleText(role, style)} ${style.dim(whenText(timestamp, nowMs))}`,
    ...excerpt(visible(text), undefined, { width: columns - 4, linesMax: LINES_OF_EACH }).map((line) => `  ${line}`),
  ])
}
