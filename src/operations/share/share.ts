/**
 * A session as Markdown or HTML, for people who have no pond: whole, in one document, streamed as it is read. Not on the wire: what
 * may leave a machine is a choice of its owner, and what is taken out of it comes from that machine's own variables.
 */
import { PondError } from "../../model/errors.ts"
import { countText } from "../../model/numbers.ts"
import type { Session } from "../../model/session.ts"
import { visibleLine } from "../../model/visible.ts"
import { madeValues } from "../../platform/memory.ts"
import { pondCommand } from "../../platform/process/shell-word.ts"
import { sessionNotFound } from "../../sessions/read/read-sessions.ts"
import type { Sessions } from "../../sessions/store.ts"
import type { Pond } from "../pond.ts"
import { escapeInline, inlineCode } from "./markdown-blocks.ts"
import { createRedactor, type Redactor } from "./redact.ts"
import { createTranscriptWriter, timeText } from "./transcript-items.ts"

export interface ShareOptions {
  readonly sessionId: string
  /** Also what was not said: reasoning, tools, and what the client put there. Folded. */
  readonly isWhole: boolean
  readonly withSubagents: boolean
  readonly isRedacted: boolean
  readonly format?: "md" | "html"
  /** Of a page among others: the one that lists them. */
  readonly indexHref?: string
}

export interface Share {
  readonly chunks: AsyncIterable<string>
  /** Complete once the last chunk was read; nothing where nothing was asked to be replaced. */
  readonly replaced: () => ReturnType<Redactor["replaced"]> | undefined
  /** So far. */
  readonly messages: () => number
  /** Of a page, once it was written. */
  readonly summary: () => PageSummary | undefined
}

/** What a list says of a page. */
export interface PageSummary {
  readonly name: string
  readonly client: string
  readonly project: string
  readonly begun: string
  readonly tokens: string
}

const CHUNK_UNITS = 1 << 18
const LINEAGE_MAX = 2000

export function shareSession(pond: Pond, options: ShareOptions, signal: AbortSignal): Share {
  const redactor = options.isRedacted ? createRedactor(pond.host.environment) : undefined
  let messages = 0
  let summary: PageSummary | undefined
  const reading: Reading = {
    pond,
    options,
    signal,
    clean: redactor?.clean ?? ((text) => text),
    count: (more) => {
      messages += more
    },
    sum: (read) => {
      summary = read
    },
  }
  const write = options.format === "html" ? htmlPage : documents
  const chunks = write(reading, redactor)
  return { chunks, replaced: () => redactor?.replaced(), messages: () => messages, summary: () => summary }
}

interface Reading {
  readonly pond: Pond
  readonly options: ShareOptions
  readonly signal: AbortSignal
  readonly clean: (text: string) => string
  readonly count: (messages: number) => void
  readonly sum: (summary: PageSummary) => void
}

async function* htmlPage(reading: Reading, redactor: Redactor | undefined): AsyncGenerator<string> {
  const { pond, options, clean, count, signal } = reading
  const { isWhole, withSubagents, indexHref } = options
  const [{ sessionHtml }, { pageUsageOf }, { closePage, SESSION_PAGE }] = await Promise.all([
    import("./html/session-html.ts"),
    import("./html/page-usage.ts"),
    import("./html/page-frame.ts"),
  ])
  const sessions = await pond.sessions()
  const stored = await sessions.session(options.sessionId)
  if (stored === undefined) throw sessionNotFound(options.sessionId)
  const session = await titled(stored, reading)
  const name = shownName(session, clean)
  const usage = pageUsageOf(pond.host)
  yield* sessionHtml(sessions, session, name, { isWhole, withSubagents, clean, count, signal, usage, indexHref })
  yield closePage(redactor === undefined ? "" : redactionNote(redactor), SESSION_PAGE)
  const { source_agent: client, project, created_at: begun } = session
  reading.sum({ name, client, project: clean(project), begun, tokens: usage.shortText() })
}

/** The session, and below it its sub-agents, however deep: each once, and each where its parent has been read. */
async function* documents(reading: Reading, redactor: Redactor | undefined): AsyncGenerator<string> {
  const { options, pond } = reading
  const sessions = await pond.sessions()
  const first = await sessions.session(options.sessionId)
  if (first === undefined) throw sessionNotFound(options.sessionId)
  const named = await titled(first, reading)
  const { source_agent: client, project, created_at: begun } = first
  reading.sum({ name: shownName(named, reading.clean), client, project: reading.clean(project), begun, tokens: "" })
  const met = new Set([first.id])
  const waiting = [first]
  for (let session = waiting.shift(); session !== undefined; session = waiting.shift()) {
    yield head(await titled(session, reading), session.id === first.id, reading)
    yield* body(sessions, session, reading)
    const children = (await sessions.children(session.id)).toSorted((left, right) =>
      left.created_at < right.created_at ? -1 : 1,
    )
    if (children.length > 0) yield childrenText(children, reading)
    if (!options.withSubagents) break
    const unmet = children.filter(({ id }) => !met.has(id))
    for (const { id } of unmet) met.add(id)
    if (met.size > LINEAGE_MAX) throw tooMany(first.id)
    waiting.unshift(...unmet)
  }
  if (redactor !== undefined) yield redactionText(redactor)
}

async function* body(sessions: Sessions, session: Session, reading: Reading): AsyncGenerator<string> {
  const { options, clean, count, signal } = reading
  const { isWhole } = options
  const voices = createTranscriptWriter({ clean, isWhole })
  const { stretches } = await sessions.stored(session.id)
  const gone = await sessions.superseded([session.id])
  let isSilent = true
  for await (const entries of stretches()) {
    let text = ""
    for (const entry of entries) {
      if (gone.has(session.id, entry.message.id)) continue
      if (signal.aborted) throw new PondError("interrupted", "Interrupted: the Markdown is incomplete.")
      text += voices.add(entry)
      count(1)
      if (text.length < CHUNK_UNITS) continue
      madeValues(2 * text.length, 1)
      isSilent = false
      yield text
      text = ""
    }
    isSilent &&= text === ""
    yield text
  }
  const rest = voices.end()
  yield isSilent && rest === "" ? "\n*This session is empty.*\n" : rest
}

const NAME_SIGNS = 80

/** Where its client gave it no title, it goes by what its user said first. */
async function titled(session: Session, { pond, clean }: Reading): Promise<Session> {
  if (session.title !== undefined && session.title.trim() !== "") return session
  const words = visibleLine(clean((await (await pond.sessions()).firstWords([session.id])).get(session.id) ?? ""))
  const signs = [...words]
  const title = signs.length > NAME_SIGNS ? `${signs.slice(0, NAME_SIGNS).join("")}…` : words
  return { ...session, title }
}

function shownName({ title = "", source_agent: agent, created_at: begun }: Session, clean: Reading["clean"]): string {
  return title.trim() === "" ? `${agent}, ${timeText(begun)}` : clean(title)
}

function head(session: Session, isFirst: boolean, { clean }: Reading): string {
  const { source_agent: agent, created_at: begun } = session
  const name = shownName(session, clean)
  const facts = [
    `Client: ${escapeInline(agent)}`,
    `Directory: ${inlineCode(clean(session.project))}`,
    `Begun: ${timeText(begun)} UTC`,
    `Session: ${inlineCode(clean(session.id))}`,
  ]
  const opening = isFirst ? `# ${escapeInline(name)}` : `\n---\n\n## ${escapeInline(name)}`
  return `${opening}\n\n${facts.map((fact) => `*   ${fact}\n`).join("")}\n---\n`
}

function childrenText(children: readonly Session[], { clean, options }: Reading): string {
  const lines = children.map(({ id, title, source_agent: agent }) => {
    const named = title === undefined ? "" : `, ${escapeInline(clean(title))}`
    const code = inlineCode(options.withSubagents ? id : pondCommand("get", id, { format: "md" }))
    return `*   ${code} ${escapeInline(agent)}${named}\n`
  })
  return `\n---\n\nSub-agent sessions${options.withSubagents ? " (below)" : ""}:\n\n${lines.join("")}`
}

function redactionText(redactor: Redactor): string {
  return `\n---\n\n*${redactionNote(redactor, escapeInline)}*\n`
}

function redactionNote(redactor: Redactor, asText: (kind: string) => string = (kind) => kind): string {
  const replaced = redactor.replaced()
  const what =
    replaced.length === 0
      ? "No credentials detected."
      : `Replaced: ${replaced.map(({ kind, count }) => `${count} × ${asText(kind)}`).join(", ")}.`
  return `${what} Credentials are recognized by their form; unusual ones can slip through.`
}

function tooMany(id: string): PondError {
  return new PondError(
    "validation_failed",
    `${id} has more than ${countText(LINEAGE_MAX)} sub-agent sessions. Remove --include-subagents and read the ones you need.`,
    { details: { session_id: id, sessions_max: LINEAGE_MAX } },
  )
}
