/** Which session to go on with, chosen on a terminal among the newest, with what was said last beside each. */
import { visible, visibleLine } from "../model/visible.ts"
import type { Pond } from "../operations/pond.ts"
import { lastWords, recentSessions } from "../operations/recent.ts"
import { whenText } from "./dates.ts"
import { excerpt } from "./highlight.ts"
import { roleText } from "./hits.ts"
import { projectText } from "./home-paths.ts"
import { type Choice, type Desk, pick } from "./picker.ts"
import type { Style } from "./style.ts"

const SESSIONS_MAX = 200
/** More of a first message than any line shows. */
const TITLE_UNITS = 400
const LAST_WORDS = 3
const LINES_OF_EACH = 4

/** The id; nothing where there is none to choose, or the user left. */
export async function pickSession(pond: Pond, open: () => Desk): Promise<string | "none" | undefined> {
  const recent = await recentSessions(pond, SESSIONS_MAX)
  if (recent.length === 0) return "none"
  const { clock, environment } = pond.host
  const nowMs = clock.nowMs()
  const choices = recent.map(({ id, title, source_agent, project, last_at }): Choice => {
    const where = projectText(project, environment["HOME"])
    const about = [whenText(last_at, nowMs), visibleLine(source_agent), where] as const
    return { id, title: visibleLine(title.slice(0, TITLE_UNITS)), about }
  })
  const { keyboard, out, style } = open()
  const seen = new Map<string, readonly string[]>()
  const preview = async ({ id }: Choice) => {
    const lines = seen.get(id) ?? (await previewLines(pond, id, style, out.columns ?? 80))
    seen.set(id, lines)
    return lines
  }
  return (await pick(choices, { keyboard, out, style, prompt: "Go on with", preview }))?.id
}

async function previewLines(pond: Pond, id: string, style: Style, columns: number): Promise<string[]> {
  const nowMs = pond.host.clock.nowMs()
  const last = await lastWords(pond, id, LAST_WORDS)
  return last.flatMap(({ role, timestamp, text = "" }) => [
    `${roleText(role, style)} ${style.dim(whenText(timestamp, nowMs))}`,
    ...excerpt(visible(text), undefined, { width: columns - 4, linesMax: LINES_OF_EACH }).map((line) => `  ${line}`),
  ])
}
