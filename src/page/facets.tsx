/** What narrows a list down: dates, projects and clients with how much there is of each, stars. */
import type { FacetCount, SessionPage } from "./api.ts"
import { countText, projectNames } from "./format.ts"
import { listHref, withChoice } from "./route.ts"
import { useAnswer } from "./use-answer.ts"

const SHOWN_MAX = 8
const DAYS: readonly (readonly [value: string, label: string])[] = [
  ["1", "Since yesterday"],
  ["7", "Last 7 days"],
  ["30", "Last 30 days"],
]

interface FacetsProps {
  readonly params: URLSearchParams
  readonly isSearch: boolean
}

export function Facets({ params, isSearch }: FacetsProps) {
  const { answer } = useAnswer<SessionPage>("sessions", { limit: 1, facets: true })
  const { projects = [], clients = [] } = answer?.facets ?? {}
  return (
    <aside aria-label="Filters">
      <details open={matchMedia("(min-width: 60rem)").matches}>
        <summary>Filters{chosenCount(params) === 0 ? "" : ` (${chosenCount(params)})`}</summary>
        <h2>When</h2>
        <ul>
          {DAYS.map(([value, label]) => (
            <Facet key={value} params={params} name="days" value={value} label={label} />
          ))}
        </ul>
        <h2>Project</h2>
        <FacetRows
          params={params}
          name="project"
          rows={projects}
          labelOf={projectNames(projects.map(({ key }) => key))}
        />
        <h2>Client</h2>
        <FacetRows params={params} name="client" rows={clients} labelOf={(key) => key} />
        <h2>Only</h2>
        <ul>
          <Facet params={params} name="starred" value="1" label="★ Starred" />
          {isSearch ? null : <Facet params={params} name="errors" value="1" label="With failed tool calls" />}
        </ul>
        <h2>Also</h2>
        <ul>
          <Facet params={params} name="agents" value="1" label="Sub-agents" />
        </ul>
      </details>
    </aside>
  )
}

const NAMES = ["days", "project", "client", "starred", "errors", "agents", "tag"]

function chosenCount(params: URLSearchParams): number {
  return NAMES.filter((name) => params.has(name)).length
}

interface FacetRowsProps {
  readonly params: URLSearchParams
  readonly name: string
  readonly rows: readonly FacetCount[]
  readonly labelOf: (key: string) => string
}

/** The largest ones, and the chosen one wherever it stands; the others unfold. */
function FacetRows({ params, name, rows, labelOf }: FacetRowsProps) {
  const chosen = params.get(name)
  const isShown = ({ key }: FacetCount, at: number) => at < SHOWN_MAX || key === chosen
  const facet = ({ key, sessions }: FacetCount) => (
    <Facet key={key} params={params} name={name} value={key} label={labelOf(key)} title={key} count={sessions} />
  )
  const hidden = rows.filter((row, at) => !isShown(row, at))
  return (
    <>
      <ul>{rows.filter(isShown).map(facet)}</ul>
      {hidden.length === 0 ? null : (
        <details>
          <summary>{countText(hidden.length)} more</summary>
          <ul>{hidden.map(facet)}</ul>
        </details>
      )}
    </>
  )
}

interface FacetProps {
  readonly params: URLSearchParams
  readonly name: string
  readonly value: string
  readonly label: string
  readonly title?: string
  readonly count?: number
}

function Facet({ params, name, value, label, title, count }: FacetProps) {
  const isChosen = params.get(name) === value
  return (
    <li>
      <a
        href={listHref(withChoice(params, name, isChosen ? undefined : value))}
        aria-current={isChosen ? "true" : undefined}
        title={title}
      >
        <span>{label}</span>
        {count === undefined ? null : <small>{countText(count)}</small>}
      </a>
    </li>
  )
}
