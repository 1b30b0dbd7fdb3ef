/** What a search found, by session, the words of the query marked. */
import type { Filters, Match, SearchPage } from "./api.ts"
import { counted, dateTimeText, projectName } from "./format.ts"
import { sessionHref } from "./route.ts"
import { usePages } from "./use-answer.ts"

const LIMIT = 20
const TEXT_BUDGET = 20_000
const WORD_MIN = 2

interface ResultsProps {
  readonly query: string
  readonly params: URLSearchParams
  readonly filters: Filters
}

export function Results({ query, params, filters }: ResultsProps) {
  const role = params.get("role")
  const question = {
    query,
    limit: LIMIT,
    for_reading: true,
    text_budget: TEXT_BUDGET,
    filters: { ...filters, ...(role === null ? {} : { role }) },
    ...Object.fromEntries(
      ["mode", "scope", "sort"].flatMap((name) => (params.has(name) ? [[name, params.get(name)]] : [])),
    ),
  }
  const { pages, isLoading, message, more } = usePages<SearchPage>("search", question)
  const [first] = pages
  const sessions = pages.flatMap((page) => page.sessions)
  const pattern = params.get("mode") === "pattern" ? undefined : wordsPattern(query)
  return (
    <section aria-label="Search results" aria-busy={isLoading}>
      <p class="status" role="status">
        {first === undefined ? "Searching…" : `${counted(first.matched_total, "message")} found`}
      </p>
      {message === undefined ? null : (
        <p class="error" role="alert">
          {message}
        </p>
      )}
      <ul class="rows results">
        {sessions.map((session) => (
          <li key={session.session_id}>
            <h2>
              <a href={sessionHref(session.session_id)}>{session.title ?? "(untitled)"}</a>
            </h2>
            <p class="facts">
              <span class="client">{session.source_agent}</span>
              <span title={session.project}>{projectName(session.project)}</span>
              <span>
                {session.matched_message_count} of {counted(session.session_messages_count, "message")}
              </span>
            </p>
            {session.matches.map((match) => (
              <Hit key={match.message_id} match={match} pattern={pattern} />
            ))}
          </li>
        ))}
      </ul>
      {more === undefined ? null : (
        <button type="button" onClick={more}>
          Show more
        </button>
      )}
    </section>
  )
}

function Hit({ match, pattern }: { readonly match: Match; readonly pattern: RegExp | undefined }) {
  const { session_id: id, ordinal, role, timestamp, prefix, text, truncated } = match
  return (
    <a class="hit" href={sessionHref(id, ordinal)} data-row>
      <span class="facts">
        <span>{role}</span>
        <time dateTime={timestamp}>{dateTimeText(timestamp)}</time>
      </span>
      <span>
        {prefix === undefined ? null : `${prefix} … `}
        {marked(text, pattern)}
        {truncated ? " …" : null}
      </span>
    </a>
  )
}

function wordsPattern(query: string): RegExp | undefined {
  const words = query.match(/[\p{L}\p{N}_]+/gu)?.filter((word) => word.length >= WORD_MIN) ?? []
  return words.length === 0 ? undefined : new RegExp(`(${words.map((word) => RegExp.escape(word)).join("|")})`, "giu")
}

function marked(text: string, pattern: RegExp | undefined) {
  if (pattern === undefined) return text
  return text.split(pattern).map((piece, at) => (at % 2 === 1 ? <mark key={at}>{piece}</mark> : piece))
}
