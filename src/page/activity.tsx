/** How much was done when and with what: messages by day, clients, tools, models, and what it cost. */
import { useState } from "preact/hooks"
import type { Cost, CostRow, Stats, StatsRow } from "./api.ts"
import { Bars, DayBars } from "./bars.tsx"
import { compactText, costText, counted, countText, projectNames } from "./format.ts"
import { listHref } from "./route.ts"
import { useAnswer } from "./use-answer.ts"

const DAY_MS = 86_400_000
const PERIODS: readonly (readonly [days: number, label: string])[] = [
  [30, "30 days"],
  [90, "90 days"],
  [365, "A year"],
  [0, "Everything"],
]

export function Activity() {
  const [days, setDays] = useState(90)
  const from = days === 0 ? undefined : new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10)
  const since = from === undefined ? {} : { from }
  const filters = from === undefined ? {} : { filters: { from_date: from } }
  const byDay = useAnswer<Stats>("stats", { by: "day", ...since })
  const costByDay = useAnswer<Cost>("cost", { by: "day", limit: 1000, ...filters })
  const costByModel = useAnswer<Cost>("cost", { by: "model", ...filters })
  const total = costByModel.answer?.total
  const error = byDay.error ?? costByDay.error ?? costByModel.error
  return (
    <main class="activity">
      <h1>Activity</h1>
      <fieldset class="periods">
        <legend class="unseen">Period</legend>
        {PERIODS.map(([value, label]) => (
          <button key={value} type="button" aria-pressed={days === value} onClick={() => setDays(value)}>
            {label}
          </button>
        ))}
      </fieldset>
      {error === undefined ? null : (
        <p class="error" role="alert">
          {error.message}
        </p>
      )}
      <p role="status">
        {byDay.answer === undefined
          ? "Counting…"
          : `${counted(byDay.answer.sessions, "session")}, ${counted(byDay.answer.count, "message")}`}
        {total === undefined ? "" : `, ${compactText(total.total_tokens)} tokens, ${costText(total.cost_usd)}`}
      </p>
      <DayBars title="Messages a day" from={from} rows={messageDays(byDay.answer)} textOf={countText} />
      <DayBars title="Cost a day" from={from} rows={costDays(costByDay.answer)} textOf={costText} />
      <div class="panels">
        <Counted title="Projects" by="project" since={since} labelsOf={projectNames} paramName="project" />
        <Counted title="Clients" by="agent" since={since} paramName="client" />
        <Counted title="Tools" by="tool" since={since} />
        <Bars title="Models by cost" rows={costByModel.answer?.rows.map(costRow)} textOf={costText} />
      </div>
      <Unpriced cost={costByModel.answer} />
    </main>
  )
}

const messageDays = (stats: Stats | undefined) => (stats?.rows ?? []).map(({ key, count }) => ({ key, value: count }))
const costDays = (cost: Cost | undefined) => (cost?.rows ?? []).map(({ key, cost_usd: value }) => ({ key, value }))

function costRow({ key, cost_usd: value, total_tokens: tokens }: CostRow) {
  return { key, label: key, value, note: `${compactText(tokens)} tokens` }
}

interface CountedProps {
  readonly title: string
  readonly by: string
  readonly since: object
  readonly labelsOf?: (keys: readonly string[]) => (key: string) => string
  /** What leads to the list of these sessions. */
  readonly paramName?: string
}

function Counted({ title, by, since, labelsOf, paramName }: CountedProps) {
  const { answer } = useAnswer<Stats>("stats", { by, ...since })
  const labelOf = labelsOf?.(answer?.rows.map(({ key }) => key) ?? []) ?? ((key: string) => key)
  const agents = (key: string) => (by === "agent" && key.includes("/") ? { agents: "1" } : {})
  const row = ({ key, count, failures }: StatsRow) => ({
    key,
    label: labelOf(key),
    value: count,
    ...(failures === undefined || failures === 0 ? {} : { note: `${countText(failures)} failed` }),
    ...(paramName === undefined ? {} : { href: listHref(new URLSearchParams({ [paramName]: key, ...agents(key) })) }),
  })
  return <Bars title={title} rows={answer?.rows.map(row)} textOf={countText} />
}

function Unpriced({ cost }: { readonly cost: Cost | undefined }) {
  const models = cost?.unpriced_models ?? []
  if (models.length === 0) return null
  return <p class="status">No price is known for {models.map(({ model }) => model).join(", ")}: they are in no cost.</p>
}
