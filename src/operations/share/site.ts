/**
 * Several sessions as pages with a list of them, `index.html`: each file with its content, the list last, when every page is
 * known. A sub-agent stands on the page of its session; forks are separate sessions.
 */
import { PondError } from "../../model/errors.ts"
import { counted } from "../../model/numbers.ts"
import { newestSessions } from "../../search/newest-sessions.ts"
import type { Pond } from "../pond.ts"
import { fullSessionId } from "../store/session-ids.ts"
import { messageFilter, passing, type SessionFilters } from "../wire/session-filters.ts"
import type { IndexRow } from "./html/index-html.ts"
import type { Replaced } from "./redact.ts"
import { type PageSummary, shareSession } from "./share.ts"

export interface SiteOptions {
  readonly sessionIds: readonly string[]
  readonly isWhole: boolean
  readonly isRedacted: boolean
  readonly title?: string | undefined
  /** Where a file is found from the page that links to it: its name, where nothing else is given. */
  readonly hrefOf?: (name: string) => string
}

export interface Site {
  /** One after the other: each has to be read to its end before the next. */
  files(): AsyncGenerator<SiteFile>
  readonly messages: () => number
  readonly replaced: () => readonly Replaced[] | undefined
}

export interface SiteFile {
  readonly name: string
  readonly chunks: AsyncIterable<string>
}

export const INDEX_NAME = "index.html"

export function shareSite(pond: Pond, options: SiteOptions, signal: AbortSignal): Site {
  const { sessionIds, isWhole, isRedacted, hrefOf = (name) => name } = options
  const names = pageNames(sessionIds)
  const replaced = new Map<string, number>()
  const rows: IndexRow[] = []
  let messages = 0

  async function* files(): AsyncGenerator<SiteFile> {
    for (const sessionId of sessionIds) {
      const name = names.get(sessionId) ?? ""
      const page = {
        sessionId,
        isWhole,
        isRedacted,
        withSubagents: true,
        format: "html",
        indexHref: hrefOf(INDEX_NAME),
      } as const
      const share = shareSession(pond, page, signal)
      let bytes = 0
      yield { name, chunks: counting(share.chunks, (more) => (bytes += more)) }
      messages += share.messages()
      for (const { kind, count } of share.replaced() ?? []) replaced.set(kind, (replaced.get(kind) ?? 0) + count)
      const summary = share.summary()
      if (summary !== undefined) rows.push({ ...summary, href: hrefOf(name), messages: share.messages(), bytes })
    }
    const { indexHtml } = await import("./html/index-html.ts")
    const title = options.title ?? commonTitle(rows)
    yield { name: INDEX_NAME, chunks: one(indexHtml(title, rows, isRedacted ? noteOf(found()) : "")) }
  }
  const found = () => [...replaced].map(([kind, count]) => ({ kind, count }))
  return { files, messages: () => messages, replaced: () => (isRedacted ? found() : undefined) }
}

async function* counting(chunks: AsyncIterable<string>, count: (bytes: number) => void): AsyncGenerator<string> {
  for await (const chunk of chunks) {
    count(Buffer.byteLength(chunk))
    yield chunk
  }
}

async function* one(text: string): AsyncGenerator<string> {
  yield text
}

/** The project where there is one alone. */
function commonTitle(rows: readonly Pick<PageSummary, "project">[]): string {
  const projects = new Set(rows.map(({ project }) => project))
  return projects.size === 1 ? ([...projects][0] ?? "") : "Sessions"
}

function noteOf(replaced: readonly Replaced[]): string {
  const places = replaced.reduce((all, { count }) => all + count, 0)
  const what = places === 0 ? "No credentials detected." : `Redacted in ${counted(places, "place")}.`
  return `${what} Credentials are recognized by their form; unusual ones can slip through.`
}

// --- Which sessions, and what their pages are called ----------------------------------------------------------------------

/** A file system that does not tell letters of either case apart must not lose a page. */
export function pageNames(sessionIds: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set([INDEX_NAME])
  return new Map(
    sessionIds.map((id) => {
      const plain = `${id}.html`
      const isPlain = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/.test(id) && !taken.has(plain.toLowerCase())
      const name = isPlain ? plain : `${Bun.hash.xxHash64(id).toString(16).padStart(16, "0")}.html`
      taken.add(name.toLowerCase())
      return [id, name]
    }),
  )
}

export interface Chosen {
  readonly ids: readonly string[]
  readonly filters?: SessionFilters | undefined
}

/** The sessions that were named, and those that a list with these filters has. */
export async function chosenSessions(pond: Pond, { ids, filters }: Chosen, signal: AbortSignal): Promise<string[]> {
  const sessions = await pond.sessions()
  const chosen = new Set<string>()
  for (const given of ids) {
    const id = await fullSessionId(sessions, given)
    if ((await sessions.session(id)) === undefined)
      throw new PondError("not_found", `No session ${given}. \`pond list\` shows what is stored.`, {
        details: { session_id: given },
      })
    chosen.add(id)
  }
  if (filters === undefined || Object.keys(filters).length === 0) return [...chosen]
  const { clock } = pond.host
  const where = await messageFilter(sessions, filters, clock.nowMs())
  for await (const batch of newestSessions(sessions, clock, { where })) {
    signal.throwIfAborted()
    const found = batch.map(({ id }) => id)
    for (const id of await passing(sessions, found, filters)) chosen.add(id)
  }
  return [...chosen]
}
