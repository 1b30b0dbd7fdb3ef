/** The sessions of the store, as the browser asks for them: the newest first, with what was said in each. */
import { PondError } from "../../model/errors.ts"
import { visible, visibleLine } from "../../model/visible.ts"
import { adaptersList } from "../../operations/machine/setup-operations.ts"
import { perform } from "../../operations/operation.ts"
import type { Pond } from "../../operations/pond.ts"
import { lastWords, olderSessions, recentSessions } from "../../operations/store/recent-sessions.ts"
import { type GetOutput, get } from "../../operations/wire/get.ts"
import { label } from "../../operations/wire/label.ts"
import { search } from "../../operations/wire/search.ts"
import type { FoundSession, SearchOutput } from "../../operations/wire/search-output.ts"
import { type SessionsOutput, sessions } from "../../operations/wire/sessions.ts"
import { messagePages } from "../message-pages.ts"
import { briefWhenText, whenText } from "../render/dates.ts"
import { excerpt, highlightMatches, patternOf } from "../render/highlight.ts"
import { projectText } from "../render/home-paths.ts"
import { roleText } from "../render/role-text.ts"
import type { Style } from "../render/style.ts"
import { cutFrontToWidth, cutToWidth } from "../render/table.ts"
import { headText, messagesText, type TranscriptLayout } from "../render/transcript.ts"
import type { Page } from "../verb.ts"
import type { Choice } from "./list-screen.ts"
import type { BrowseSource, ReadOptions } from "./view.ts"

/** So many are there at once; the others come while the user looks. */
const SESSIONS_MAX = 200
/** More of a first message than any line shows. */
const TITLE_UNITS = 400
const LAST_WORDS = 3
const LINES_OF_EACH = 4
/** Of the sessions in which a query was said. */
const FOUND_MAX = 50
const MATCHES_SHOWN = 6

export interface SourceContext {
  readonly pond: Pond
  readonly signal: AbortSignal
  readonly page: Page
}

/** Of the sessions that pass the filters of a list; without any, of all conversations. Nothing where there are none. */
export async function sessionSource(
  context: SourceContext,
  filters: object | undefined,
): Promise<BrowseSource | undefined> {
  const { pond, signal } = context
  const first = filters === undefined ? await newestOfAll(context) : await newestOf(context, filters)
  if (first.choices.length === 0) return undefined
  let hits: { readonly query: string; readonly of: ReadonlyMap<string, FoundSession> } | undefined
  const ask = async (query: string): Promise<readonly Choice[]> => {
    const input = { query, limit: FOUND_MAX, for_reading: true, ...(filters === undefined ? {} : searched(filters)) }
    const answer: SearchOutput = await perform(search, { pond, signal }, input)
    const found = answer.sessions ?? []
    hits = { query, of: new Map(found.map((session) => [session.session_id, session])) }
    return found.map((session) => foundChoice(context, session))
  }
  return {
    ...first,
    // A query that cannot be searched yet, such as half of a quoted one, finds nothing.
    search: (query) => ask(query).catch((error: unknown) => nothingOf(error)),
    preview: async ({ id }, query, columns) => {
      const found = hits?.query === query ? hits.of.get(id) : undefined
      return found === undefined ? await lastLines(context, id, columns) : hitLines(context, found, query, columns)
    },
    read: ({ id }, options) => transcriptLines(context, id, options),
    clients: () => clientsOf(context),
    star: async (choice) => {
      const isStarred = choice.title.startsWith(STAR)
      await perform(label, { pond, signal }, { session_id: choice.id, [isStarred ? "unstar" : "star"]: true })
      return { ...choice, title: isStarred ? choice.title.slice(STAR.length) : `${STAR}${choice.title}` }
    },
  }
}

const STAR = "★ "

function nothingOf(error: unknown): readonly Choice[] {
  if (error instanceof PondError) return []
  throw error
}

/** A search takes fewer filters than a list; what it does not take is left to the list. */
const SEARCHED = ["project", "source_agent", "tag", "starred", "from_date", "to_date"]

function searched(filters: object): object {
  return { filters: Object.fromEntries(Object.entries(filters).filter(([name]) => SEARCHED.includes(name))) }
}

// --- Lines of the list ---

interface Listed {
  readonly id: string
  readonly title: string
  readonly source_agent: string
  readonly project: string
  readonly last_at: string
  readonly starred?: boolean | undefined
  readonly tags?: readonly string[] | undefined
}

/** A narrower screen has room for the last name of the project alone. */
const WIDTH_FULL = 100
const NAME_WIDTH_MAX = 14
/** Of a wider one, the most that a project takes: a title tells more. */
const WHERE_SHARE = 0.3

function choiceOf({ pond, page }: SourceContext, session: Listed): Choice {
  const { id, title, source_agent, project, last_at, starred, tags = [] } = session
  const { clock, environment } = pond.host
  const where =
    page.columns < WIDTH_FULL
      ? cutToWidth(visibleLine(project.split("/").findLast(Boolean) ?? ""), NAME_WIDTH_MAX)
      : cutFrontToWidth(projectText(project, environment["HOME"]), Math.floor(page.columns * WHERE_SHARE))
  const words = [title.slice(0, TITLE_UNITS), ...tags.map((tag) => `#${tag}`)].map(visibleLine).join(" ")
  const about = [briefWhenText(last_at, clock.nowMs()), visibleLine(source_agent), where] as const
  return { id, title: `${starred === true ? STAR : ""}${words}`, about }
}

function foundChoice(context: SourceContext, found: FoundSession): Choice {
  const { session_id: id, title = id, source_agent, project, matches } = found
  const last_at =
    matches
      .map(({ timestamp }) => timestamp)
      .toSorted()
      .at(-1) ?? ""
  return choiceOf(context, { id, title, source_agent, project, last_at })
}

async function newestOfAll(context: SourceContext): Promise<Pick<BrowseSource, "choices" | "more">> {
  const { pond } = context
  const recent = await recentSessions(pond, SESSIONS_MAX)
  const choices = recent.sessions.map((session) => choiceOf(context, session))
  if (recent.isAll) return { choices }
  const known = new Set(recent.sessions.map(({ id }) => id))
  return {
    choices,
    async *more(left) {
      for await (const some of olderSessions(pond, known, left)) yield some.map((session) => choiceOf(context, session))
    },
  }
}

async function newestOf(context: SourceContext, filters: object): Promise<Pick<BrowseSource, "choices" | "more">> {
  const { pond, signal } = context
  const page = (cursor: string | undefined): Promise<SessionsOutput> =>
    perform(sessions, { pond, signal }, { filters, limit: SESSIONS_MAX, ...(cursor === undefined ? {} : { cursor }) })
  const choicesOf = ({ sessions: found }: SessionsOutput) =>
    found.map((session) =>
      choiceOf(context, { ...session, id: session.session_id, title: session.title ?? session.session_id }),
    )
  const first = await page(undefined)
  if (first.next_cursor === undefined) return { choices: choicesOf(first) }
  return {
    choices: choicesOf(first),
    async *more(left) {
      for (let cursor = first.next_cursor; cursor !== undefined && !left.aborted; ) {
        const next = await page(cursor)
        yield choicesOf(next)
        cursor = next.next_cursor
      }
    },
  }
}

// --- A glimpse of one ---

async function lastLines({ pond, page: { style } }: SourceContext, id: string, columns: number): Promise<string[]> {
  const nowMs = pond.host.clock.nowMs()
  const last = await lastWords(pond, id, LAST_WORDS)
  return last.flatMap(({ role, timestamp, text = "" }) => [
    `${roleText(role, style)} ${style.dim(whenText(timestamp, nowMs))}`,
    ...excerpt(visible(text), undefined, { width: columns - 4, linesMax: LINES_OF_EACH }).map((line) => `  ${line}`),
  ])
}

function hitLines({ pond, page: { style } }: SourceContext, found: FoundSession, query: string, columns: number) {
  const nowMs = pond.host.clock.nowMs()
  const pattern = patternOf(query, undefined)
  const mark = (text: string) => style.bold(style.red(text))
  return found.matches
    .slice(0, MATCHES_SHOWN)
    .flatMap(({ role, timestamp, text }) => [
      `${roleText(role, style)} ${style.dim(whenText(timestamp, nowMs))}`,
      ...excerpt(visible(text), pattern, { width: columns - 4, linesMax: 2 }).map(
        (line) => `  ${highlightMatches(line, pattern, mark)}`,
      ),
    ])
}

// --- The whole of one ---

async function* transcriptLines(
  { pond, page }: SourceContext,
  id: string,
  { columns, withTools, signal }: ReadOptions,
): AsyncGenerator<readonly string[]> {
  const { clock, environment } = pond.host
  const style = lineByLine(page.style)
  const layout: TranscriptLayout = { ...page, style, columns, nowMs: clock.nowMs(), home: environment["HOME"] }
  const mode = withTools ? "complete" : "conversational"
  const first: GetOutput = await perform(get, { pond, signal }, { session_id: id, response_mode: mode })
  // The title stands above the text already.
  yield screenLines(headText(first, layout), columns).slice(1)
  for await (const messages of messagePages({ pond, signal }, first, mode))
    yield screenLines(messagesText(messages, layout), columns)
}

function screenLines(text: string, columns: number): string[] {
  return Bun.wrapAnsi(text.replace(/\n$/, ""), columns, { hard: true, trim: false }).split("\n")
}

/** Every line is cut and drawn alone, so none has colours that begin in another. */
function lineByLine(style: Style): Style {
  const each = (paint: Style["dim"]) => (text: string) => text.split("\n").map(paint).join("\n")
  const { bold, dim, red, green, magenta, cyan } = style
  return {
    bold: each(bold),
    dim: each(dim),
    red: each(red),
    green: each(green),
    magenta: each(magenta),
    cyan: each(cyan),
  }
}

// --- Where it may continue ---

/** Those that a session can go on in, the installed ones first. */
async function clientsOf({ pond, signal }: SourceContext): Promise<readonly Choice[]> {
  const { adapters } = await perform(adaptersList, { pond, signal }, {})
  const able = adapters.filter(({ converts }) => converts)
  const choices = able.map(({ adapter, title, program }): Choice => {
    return { id: adapter, title, about: ["", program === null ? "not installed" : "", ""] }
  })
  return choices.toSorted((one, other) => one.about[1].length - other.about[1].length)
}
