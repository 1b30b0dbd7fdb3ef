/** What narrows a list down: dates, projects and clients with how much there is of each, stars. */
import { useState } from "preact/hooks"
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
        {isSearch ? null : (
          <>
            <CountedFacet params={params} name="model" title="Model" operation="cost" />
            <CountedFacet params={params} name="tool" title="Tool" operation="stats" />
          </>
        )}
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

const NAMES = ["days", "project", "client", "model", "tool", "starred", "errors", "agents", "tag"]

function chosenCount(params: URLSearchParams): number {
  return NAMES.filter((name) => params.has(name)).length
}

interface CountedFacetProps {
  readonly params: URLSearchParams
  readonly name: "tool" | "model"
  readonly title: string
  readonly operation: "stats" | "cost"
}

/** To count all calls of a large store takes a second, so they are counted when somebody unfolds them. */
function CountedFacet({ params, name, title, operation }: CountedFacetProps) {
  const [isOpen, setOpen] = useState(params.has(name))
  const { answer, error } = useAnswer<{ readonly rows: readonly FacetCount[] }>(
    operation,
    isOpen ? { by: name } : undefined,
  )
  const rows = (answer?.rows ?? []).filter(({ key }) => key !== "")
  return (
    <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <h2>{title}</h2>
      </summary>
      {isOpen && answer === undefined ? <p class="status">{error?.message ?? "Counting…"}</p> : null}
      <FacetRows params={params} name={name} rows={rows} labelOf={(key) => key} />
    </details>
  )
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
