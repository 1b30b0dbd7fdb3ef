/** All sessions, newest first, or those that a search finds; with what narrows them down beside them. */
import { useEffect, useRef, useState } from "preact/hooks"
import type { Filters } from "./api.ts"
import { Facets } from "./facets.tsx"
import { Results } from "./results.tsx"
import { listHref, withChoice } from "./route.ts"
import { Rows } from "./rows.tsx"
import { useKeys, useSettled } from "./use-answer.ts"

const TYPING_MS = 200

export function List({ params }: { readonly params: URLSearchParams }) {
  const asked = params.get("q") ?? ""
  const [query, setQuery] = useState(asked)
  const settled = useSettled(query, TYPING_MS)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (settled === asked) return
    // Each letter is no step to go back over.
    history.replaceState(null, "", listHref(withChoice(params, "q", settled)))
    dispatchEvent(new HashChangeEvent("hashchange"))
  }, [settled, asked, params])
  useEffect(() => setQuery(asked), [asked])
  useKeys({ "/": () => input.current?.focus(), j: () => moveFocus(1), k: () => moveFocus(-1) })
  return (
    <main class="list">
      <h1 class="unseen">Sessions</h1>
      <search>
        <input
          ref={input}
          type="search"
          aria-label="Search all sessions"
          placeholder="Search all sessions   ( / )"
          value={query}
          onInput={({ currentTarget }) => setQuery(currentTarget.value)}
          onKeyDown={({ key, currentTarget }) => {
            if (key === "Enter" || key === "ArrowDown") moveFocus(1)
            if (key === "Escape") currentTarget.blur()
          }}
        />
        {asked === "" ? null : <SearchChoices params={params} />}
      </search>
      <Facets params={params} isSearch={asked !== ""} />
      {asked === "" ? (
        <Rows filters={{ ...filtersOf(params), ...listFiltersOf(params) }} />
      ) : (
        <Results query={asked} params={params} filters={filtersOf(params)} />
      )}
    </main>
  )
}

/** Between the links of the list, whichever there are: what has the keyboard is what Enter opens. */
function moveFocus(step: number): void {
  const links = [...document.querySelectorAll<HTMLElement>("a[data-row]")]
  const at = links.indexOf(document.activeElement as HTMLElement)
  const next = at < 0 && step < 0 ? links.length - 1 : at + step
  links[Math.max(0, Math.min(links.length - 1, next))]?.focus()
}

const DAY_MS = 86_400_000

function filtersOf(params: URLSearchParams): Filters {
  const days = Number(params.get("days") ?? 0)
  const project = params.get("project")
  const client = params.get("client")
  const tag = params.get("tag")
  return {
    ...(project === null ? {} : { project: { equals: project } }),
    ...(client === null ? {} : { source_agent: client }),
    ...(tag === null ? {} : { tag }),
    ...(days > 0 ? { from_date: new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10) } : {}),
    ...(params.has("starred") ? { starred: true } : {}),
    ...(params.has("agents") ? { include_subagents: true } : {}),
  }
}

/** Of a list alone: a search does not ask for them. */
function listFiltersOf(params: URLSearchParams): Filters {
  const [tool, model] = [params.get("tool"), params.get("model")]
  return {
    ...(params.has("errors") ? { has_errors: true } : {}),
    ...(tool === null ? {} : { tool }),
    ...(model === null ? {} : { model }),
  }
}

const MODES = ["auto", "words", "meaning", "exact", "pattern"]
const SCOPES: readonly (readonly [value: string, label: string])[] = [
  ["conversation", "Conversation"],
  ["tools", "Tool calls"],
  ["all", "Everything"],
]

function SearchChoices({ params }: { readonly params: URLSearchParams }) {
  return (
    <div class="choices">
      <Choice params={params} name="mode" label="Mode" options={MODES.map((mode) => [mode, mode])} />
      <Choice params={params} name="scope" label="In" options={SCOPES} />
      <Choice
        params={params}
        name="sort"
        label="Order"
        options={[
          ["relevance", "Best first"],
          ["recency", "Newest first"],
        ]}
      />
      <Choice
        params={params}
        name="role"
        label="By"
        options={[
          ["", "Anyone"],
          ["user", "User"],
          ["assistant", "Assistant"],
        ]}
      />
    </div>
  )
}

interface ChoiceProps {
  readonly params: URLSearchParams
  readonly name: string
  readonly label: string
  /** The first one is the default, and is not in the address. */
  readonly options: readonly (readonly [value: string, label: string])[]
}

function Choice({ params, name, label, options }: ChoiceProps) {
  const preset = options[0]?.[0] ?? ""
  return (
    <label>
      {label}
      <select
        value={params.get(name) ?? preset}
        onChange={({ currentTarget: { value } }) =>
          location.assign(listHref(withChoice(params, name, value === preset ? undefined : value)))
        }
      >
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
