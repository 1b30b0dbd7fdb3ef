/**
 * A session as one HTML file that needs nothing else: no script to read it, nothing from the network, and nothing of what a
 * session says is markup. The policy in its head allows the one style and the one script of this page, by their hashes.
 */
import { originOf } from "../../../adapters/registry.ts"
import { PondError } from "../../../model/errors.ts"
import { isJsonObject, type JsonValue } from "../../../model/json.ts"
import type { Entry, FilePart, Part, Session } from "../../../model/session.ts"
import { visibleLine } from "../../../model/visible.ts"
import { madeValues } from "../../../platform/memory.ts"
import type { Sessions } from "../../../sessions/store.ts"
import { createPairing, type Said } from "../pair-results.ts"
import { timeText } from "../transcript-items.ts"
import { escapeHtml, isSafeLink } from "./escape.ts"
import { codeBlock, markdownHtml } from "./markdown-html.ts"
import { openPage, SESSION_PAGE } from "./page-frame.ts"
import type { PageUsage } from "./page-usage.ts"
import { durationText, type MapPoint, sessionMap } from "./session-map.ts"
import { pictureHtml, type ToolLook, toolHtml } from "./tool-html.ts"

export interface HtmlOptions {
  /** Also what was not said: reasoning, tools, and what the client put there. Folded. */
  readonly isWhole: boolean
  readonly withSubagents: boolean
  readonly clean: (text: string) => string
  readonly count: (messages: number) => void
  readonly signal: AbortSignal
  /** Counts tokens, on a page that has the session from its beginning. */
  readonly usage?: PageUsage
  /** The page that lists this one among others. */
  readonly indexHref?: string | undefined
}

const DEPTH_MAX = 12
/** Calls that take less are not worth a number. */
const TOOK_MIN_MS = 1000

export async function* sessionHtml(
  sessions: Sessions,
  session: Session,
  name: string,
  options: HtmlOptions,
): AsyncGenerator<string> {
  yield headHtml(session, name, options)
  const points: MapPoint[] = []
  const { usage } = options
  yield "<main>\n"
  yield* branchHtml({ sessions, session, options, prefix: "m", depth: 0, met: new Set([session.id]), points })
  yield "</main>\n"
  // The map is known at the end, and shown at the beginning: by the style, not by a script.
  yield sessionMap(points, usage?.byOrdinal(session) ?? new Map(), usage?.totalText() ?? "")
}

// --- A page of it ------------------------------------------------------------------------------------------------------

/** Which agents belong on this page. */
export interface Pages {
  /** The time of the last message before this page: agents that began earlier stand on an earlier one. */
  readonly agentsFrom?: string | undefined
  /** No message comes behind these, so an agent that no call is known to have started stands here at the latest. */
  readonly isLast: boolean
}

export interface HtmlPage {
  readonly html: string
  readonly points: readonly MapPoint[]
}

/** The messages that are given, as articles for a page that has its own head; agents stand behind the calls that started them. */
export async function articlesHtml(
  sessions: Sessions,
  session: Session,
  entries: readonly Entry[],
  options: HtmlOptions & Pages,
): Promise<HtmlPage> {
  const points: MapPoint[] = []
  const branch = { sessions, session, options, prefix: "m", depth: 0, met: new Set([session.id]), points }
  let html = ""
  for await (const chunk of entriesHtml(branch, oneStretch(entries), options)) html += chunk
  return { html, points }
}

async function* oneStretch(entries: readonly Entry[]): AsyncGenerator<readonly Entry[]> {
  yield entries
}

function headHtml(
  { source_agent: agent, project, created_at: begun, id }: Session,
  name: string,
  { clean, indexHref }: HtmlOptions,
): string {
  const facts = [
    ["Client", agent],
    ["Directory", clean(project)],
    ["Begun", `${timeText(begun)} UTC`],
    ["Session", clean(id)],
  ]
  const rows = facts.map(([term = "", text = ""]) => `<dt>${term}</dt><dd>${escapeHtml(visibleLine(text))}</dd>`)
  const back = indexHref === undefined ? "" : `<p><a href="${escapeHtml(indexHref)}">All sessions</a></p>`
  return `${openPage(visibleLine(name), SESSION_PAGE)}<header>${back}<h1>${escapeHtml(visibleLine(name))}</h1><dl>${rows.join("")}</dl></header>
`
}

// --- A session, and its agents inside it ---------------------------------------------------------------------------------

interface Branch {
  readonly sessions: Sessions
  readonly session: Session
  readonly options: HtmlOptions
  /** Of the anchors: those of an agent are told apart from those of its session. */
  readonly prefix: string
  readonly depth: number
  readonly met: Set<string>
  /** Filled for the map; an agent's messages are not on it. */
  readonly points?: MapPoint[]
}

async function* branchHtml(branch: Branch): AsyncGenerator<string> {
  const { stretches } = await branch.sessions.stored(branch.session.id)
  yield* entriesHtml(branch, stretches())
}

/** `pages`: of a session that is rendered page by page. */
async function* entriesHtml(
  branch: Branch,
  stretches: AsyncIterable<readonly Entry[]>,
  pages?: Pages,
): AsyncGenerator<string> {
  const { sessions, session, options } = branch
  const look = { clean: options.clean, vocabulary: originOf(session.source_agent)?.vocabulary }
  const [agents, gone] = await Promise.all([
    options.withSubagents ? agentsOf(branch) : Promise.resolve([]),
    sessions.superseded([session.id]),
  ])
  const isHere = (child: Session) =>
    pages?.agentsFrom === undefined || spawnedBy(child) !== undefined || child.created_at >= pages.agentsFrom
  const waiting: Session[] = agents.filter(isHere)
  const pairing = createPairing()
  const write = createArticles(branch, look)
  for await (const entries of stretches) {
    write.meet(entries)
    for (const entry of entries) {
      if (gone.has(session.id, entry.message.id)) continue
      if (options.signal.aborted) throw new PondError("interrupted", "Interrupted: the page is incomplete.")
      options.count(1)
      for (const said of pairing.add(entry)) yield* withAgents(said)
    }
    madeValues(0, entries.length)
  }
  for (const said of pairing.end()) yield* withAgents(said)
  yield write.end()
  // The call of an agent that is left may stand on another page.
  const left = pages === undefined ? waiting : waiting.filter((child) => pages.isLast && spawnedBy(child) === undefined)
  for (const child of left) yield* agentHtml(child, branch)

  /** An agent stands behind the call that started it; where no call is known to have, before what came after it. */
  async function* withAgents(said: Said): AsyncGenerator<string> {
    const before = waiting.filter((child) => spawnedBy(child) === undefined && child.created_at < said.timestamp)
    const started = said.kind === "call" ? waiting.filter((child) => spawnedBy(child) === said.call.call_id) : []
    for (const child of before) yield* insert(child)
    yield write.add(said)
    for (const child of started) yield* insert(child)
  }
  async function* insert(child: Session): AsyncGenerator<string> {
    waiting.splice(waiting.indexOf(child), 1)
    yield write.end()
    yield* agentHtml(child, branch)
  }
}

/** Sub-agents alone: a fork is a separate session, and has its own page. */
async function agentsOf({ sessions, session, met, depth }: Branch): Promise<Session[]> {
  if (depth >= DEPTH_MAX) return []
  const children = await sessions.children(session.id)
  const agents = children.filter(({ id, source_agent: agent }) => agent.includes("/") && !met.has(id))
  for (const { id } of agents) met.add(id)
  return agents.toSorted((left, right) => (left.created_at < right.created_at ? -1 : 1))
}

function spawnedBy({ options }: Session): string | undefined {
  const pond = options["pond"] as JsonValue
  const call = isJsonObject(pond) ? pond["spawned_by"] : undefined
  return typeof call === "string" ? call : undefined
}

async function* agentHtml(child: Session, parent: Branch): AsyncGenerator<string> {
  const { points: _, ...branch } = parent
  const name = child.title ?? child.source_agent
  yield `<details class="branch"><summary><b>Sub-agent</b> ${escapeHtml(visibleLine(parent.options.clean(name)))}</summary>\n`
  const prefix = `${parent.prefix}-${[...parent.met].indexOf(child.id)}-`
  yield* branchHtml({ ...branch, session: child, prefix, depth: parent.depth + 1 })
  yield "</details>\n"
}

// --- Messages ----------------------------------------------------------------------------------------------------------

const ROLE_NAMES = { user: "User", assistant: "Assistant", system: "System", tool: "Tool" } as const

/** One article for each message that shows something. */
function createArticles({ session, options, prefix, points }: Branch, look: ToolLook) {
  /** What responses took, by the ordinal of the message that shows it. */
  const tokens = new Map<number, string>()
  let open: { readonly said: Said; html: string } | undefined
  const end = (): string => {
    const { said, html } = open ?? {}
    open = undefined
    if (said === undefined || html === undefined || html === "") return ""
    const line = tokens.get(said.ordinal)
    tokens.delete(said.ordinal)
    const took = line === undefined ? "" : `<p class="took">${escapeHtml(line)}</p>`
    const anchor = `${prefix}${said.ordinal}`
    const head = `<header><a href="#${anchor}">${ROLE_NAMES[said.role]}</a><time datetime="${escapeHtml(said.timestamp)}">${timeText(said.timestamp)}</time></header>`
    return `<article class="${said.role}" id="${anchor}" data-message="${escapeHtml(said.messageId)}">${head}\n${html}${took}</article>\n`
  }
  return {
    end,
    /** Before these are added. */
    meet(entries: readonly Entry[]): void {
      for (const [ordinal, line] of options.usage?.read(session, entries) ?? []) tokens.set(ordinal, line)
    },
    add(said: Said): string {
      const html = saidHtml(said, options, look)
      if (html !== "") points?.push(pointOf(said, `${prefix}${said.ordinal}`))
      const isSame = open !== undefined && open.said.messageId === said.messageId
      const before = isSame ? "" : end()
      if (open === undefined) open = { said, html }
      else open.html += html
      return before
    },
  }
}

function pointOf(said: Said, anchor: string): MapPoint {
  const { ordinal } = said
  const atMs = Date.parse(said.timestamp)
  if (said.kind === "call") {
    const units = JSON.stringify([said.call.params, said.answer?.result.result ?? ""]).length
    const endMs = said.answer === undefined ? atMs : Math.max(atMs, Date.parse(said.answer.timestamp))
    return { anchor, ordinal, atMs, endMs, units, kind: said.answer?.result.is_failure === true ? "failed" : "tool" }
  }
  const text = said.kind === "part" && "text" in said.part ? said.part.text : ""
  const units = said.kind === "instructions" ? said.text.length : text.length
  const { role } = said
  return { anchor, ordinal, atMs, endMs: atMs, units, kind: role === "user" || role === "assistant" ? role : "tool" }
}

function saidHtml(said: Said, options: HtmlOptions, look: ToolLook): string {
  if (said.kind === "part") return partHtml(said.part, options, look)
  if (!options.isWhole) return ""
  if (said.kind === "instructions") return foldedText("Instructions", said.text, options)
  const tookMs = said.answer === undefined ? 0 : Date.parse(said.answer.timestamp) - Date.parse(said.timestamp)
  return toolHtml(said.call, said.answer, tookMs < TOOK_MIN_MS ? "" : durationText(tookMs), look)
}

function partHtml(part: Exclude<Part, { type: "tool_call" }>, options: HtmlOptions, look: ToolLook): string {
  const { clean, isWhole } = options
  if (part.type === "text" && part.provenance === "conversational") return markdownHtml(clean(part.text))
  if (part.type === "file") return fileHtml(part, options)
  if (!isWhole) return ""
  if (part.type === "text") return foldedText("Added by the client", part.text, options)
  if (part.type === "reasoning") return folded("Reasoning", markdownHtml(clean(part.text)), part.text)
  if (part.type === "tool_result") {
    const call = {
      ...part,
      type: "tool_call",
      name: part.name ?? "Result",
      params: {},
      provider_executed: false,
    } as const
    const { result: _, is_failure: __, ...bare } = call
    return toolHtml(bare, { result: part, timestamp: "" }, "", look)
  }
  if (part.type !== "tool_approval_response") return ""
  const answer = [part.approved ? "Approved" : "Refused", clean(part.reason ?? "")].filter(Boolean).join(": ")
  return `<p><em>${escapeHtml(visibleLine(answer))}</em></p>\n`
}

function folded(summary: string, html: string, text: string): string {
  return text.trim() === "" ? "" : `<details><summary>${summary}</summary>${html}</details>\n`
}

function foldedText(summary: string, text: string, { clean }: HtmlOptions): string {
  return folded(summary, codeBlock(clean(text)), text)
}

function fileHtml({ data, media_type: mediaType, file_name: name }: FilePart, { clean, isWhole }: HtmlOptions): string {
  const called = name === undefined ? mediaType : `${clean(name)} (${mediaType})`
  if ("base64" in data) return pictureHtml(mediaType, data.base64)
  const line = `<p>File: ${escapeHtml(visibleLine(called))}</p>\n`
  if ("text" in data)
    return isWhole ? folded(escapeHtml(visibleLine(called)), codeBlock(clean(data.text), name), data.text) : line
  if (data.url.startsWith("data:")) return dataUrlHtml(data.url) ?? line
  const url = clean(data.url)
  return isSafeLink(url)
    ? `<p>File: <a href="${escapeHtml(url)}" rel="noopener noreferrer nofollow">${escapeHtml(visibleLine(called))}</a></p>\n`
    : line
}

function dataUrlHtml(url: string): string | undefined {
  const [, mediaType = "", base64] = /^data:([\w/+.-]+);base64,([\s\S]*)$/.exec(url) ?? []
  return base64 === undefined ? undefined : pictureHtml(mediaType, base64)
}
