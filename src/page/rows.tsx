/** The list of sessions by day. The first page is asked for again every few seconds, so that work in progress shows. */
import type { Filters, ListedSession, SessionPage } from "./api.ts"
import { counted, dayText, projectName, timeText } from "./format.ts"
import { sessionHref } from "./route.ts"
import { useLiveCount, usePages } from "./use-answer.ts"

const PAGE = 50

export function Rows({ filters }: { readonly filters: Filters }) {
  const live = useLiveCount()
  const { pages, isLoading, message, more } = usePages<SessionPage>("sessions", { filters, limit: PAGE }, live)
  const sessions = merge(pages.map((page) => page.sessions))
  return (
    <section aria-label="Sessions" aria-busy={isLoading && pages.length === 0}>
      {message === undefined ? null : (
        <p class="error" role="alert">
          {message}
        </p>
      )}
      {pages.length > 0 && sessions.length === 0 ? <Nothing isFiltered={Object.keys(filters).length > 0} /> : null}
      {byDay(sessions).map(([day, rows]) => (
        <section key={day}>
          <h2 class="day">{day}</h2>
          <ul class="rows">
            {rows.map((row) => (
              <Row key={row.session_id} row={row} />
            ))}
          </ul>
        </section>
      ))}
      {more === undefined ? null : (
        <button type="button" onClick={more}>
          Show more
        </button>
      )}
    </section>
  )
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <p>
      No session passes these filters. <a href="#/">Show all sessions.</a>
    </p>
  ) : (
    <p>
      Nothing is stored yet. <code>pond sync</code> stores the sessions of this machine.
    </p>
  )
}

/** A session that went on since stands on the first page now, and no longer further down. */
function merge(pages: readonly (readonly ListedSession[])[]): readonly ListedSession[] {
  const newest = new Map<string, ListedSession>()
  for (const row of pages.flat()) if (!newest.has(row.session_id)) newest.set(row.session_id, row)
  return [...newest.values()].toSorted((left, right) => (left.last_at < right.last_at ? 1 : -1))
}

function byDay(rows: readonly ListedSession[]): readonly (readonly [day: string, rows: readonly ListedSession[]])[] {
  return [...Map.groupBy(rows, ({ last_at: at }) => dayText(at))]
}

function Row({ row }: { readonly row: ListedSession }) {
  const { session_id: id, title, source_agent: client, project, branch, last_at: at, messages_count: count } = row
  return (
    <li>
      <a href={sessionHref(id)} data-row>
        <b>
          {row.starred === true ? <span class="star">★ </span> : null}
          {title ?? "(untitled)"}
        </b>
        <span class="facts">
          <span class="client">{client}</span>
          <span title={project}>{projectName(project)}</span>
          {branch === undefined ? null : <span>{branch}</span>}
          {(row.tags ?? []).map((tag) => (
            <span key={tag} class="tag">
              {tag}
            </span>
          ))}
          <span>{counted(count, "message")}</span>
          <time dateTime={at}>{timeText(at)}</time>
        </span>
      </a>
    </li>
  )
}
