/** Show the tokens that models took and what they cost, as clients recorded it: by model, day, project, session or sub-agent. */
import { type Static, Type } from "typebox"
import { agentFilter, projectFilter } from "../../search/scope-filter.ts"
import type { Sessions } from "../../sessions/store.ts"
import { and, type Filter } from "../../substrate/filter.ts"
import { choice, given, text } from "../fields.ts"
import { closedObject, defineOperation } from "../operation.ts"
import { shortIds } from "../store/session-ids.ts"
import { type Counts, countUsage, totalTokens, UNNAMED_MODEL } from "../usage/count-usage.ts"
import { openPrices } from "../usage/prices.ts"
import { readUsage } from "../usage/read-usage.ts"
import type { UsageTable } from "../usage/usage-table.ts"
import { type Bounds, boundsOf } from "./date-bounds.ts"
import { exactlyOne, ProjectFilter } from "./project-filter.ts"
import { titleText } from "./views.ts"

export const COST_BY = ["model", "day", "week", "month", "client", "project", "session", "subagent"] as const
export type CostBy = (typeof COST_BY)[number]

const LIMIT = 100
const LIMIT_MAX = 100_000
const DATE_WORDS = "2026-01-31, a timestamp in RFC 3339, or words: yesterday, last week, June, 24h"

const CostFilters = closedObject({
  project: ProjectFilter,
  source_agent: text(
    "Only this client (claude-code) with its sub-agents, or this kind of them (claude-code/explorer).",
  ),
  session_id: text("Only this session and its sub-agents."),
  from_date: text(`Only responses on or after this day: ${DATE_WORDS}.`),
  to_date: text(`Only responses on or before this day: ${DATE_WORDS}.`),
})
type CostFilters = Static<typeof CostFilters>

const CostInput = closedObject({
  by: choice(COST_BY, "What to group by. A session includes its sub-agents.", "model"),
  filters: Type.Optional(CostFilters),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: LIMIT, description: "Maximum number of rows." }),
  ),
})

const Tokens = Type.Integer({ minimum: 0 })

const counted = {
  responses: Type.Integer({ description: "Responses of models, each counted once." }),
  sessions: Type.Integer(),
  input_tokens: Type.Integer({ description: "Of the prompts, what was neither read from a cache nor written to one." }),
  cache_read_tokens: Tokens,
  cache_write_5m_tokens: Tokens,
  cache_write_1h_tokens: Tokens,
  cache_write_tokens: Type.Integer({ description: "Written to a cache for a time that was not recorded." }),
  output_tokens: Type.Integer({ description: "All that models wrote, reasoning included." }),
  reasoning_tokens: Type.Integer({ description: "How much of the output was reasoning, as far as it was recorded." }),
  total_tokens: Tokens,
  cost_usd: Type.Number({ minimum: 0, description: "recorded_cost_usd and priced_cost_usd together." }),
  recorded_cost_usd: Type.Number({ minimum: 0, description: "What clients recorded." }),
  priced_cost_usd: Type.Number({ minimum: 0, description: "By the price table, where no cost was recorded." }),
  unpriced_responses: Type.Integer({ description: "Responses of models without a price: they are in no cost." }),
  unpriced_tokens: Tokens,
}

const CostRow = closedObject({
  key: Type.String({ description: "The model, day, project…; of a session its id." }),
  title: Type.Optional(Type.String()),
  short_id: Type.Optional(Type.String()),
  ...counted,
})
export type CostRow = Static<typeof CostRow>

const CostOutput = closedObject({
  by: Type.String(),
  rows: Type.Array(CostRow),
  /** More than there are rows where the limit cut them. */
  rows_count: Type.Integer(),
  total: closedObject(counted),
  unpriced_models: Type.Array(closedObject({ model: Type.String(), responses: Tokens, total_tokens: Tokens })),
  repeated_records: Type.Integer({
    description: "Records of responses that were recorded before: streamed, copied by a fork, or written again.",
  }),
  prices: closedObject({
    retrieved: Type.String({ description: "The day on which the prices were taken from their sources." }),
    sources: Type.Array(Type.String()),
    file: Type.Optional(Type.String({ description: "The file of the setting prices.file." })),
  }),
})
export type CostOutput = Static<typeof CostOutput>

export const cost = defineOperation({
  name: "cost",
  summary: "Show tokens and cost by model, day, project, session or sub-agent.",
  input: CostInput,
  output: CostOutput,
  errors: [],
  surfaces: { http: true, mcp: "pond_cost", cli: "cost" },
  read: true,
  run: async ({ pond, signal }, { by = "model", filters = {}, limit = LIMIT }) => {
    const at = { from: "/filters/from_date", to: "/filters/to_date", nowMs: pond.host.clock.nowMs() }
    const bounds = boundsOf(at, filters.from_date, filters.to_date)
    const prices = openPrices(pond.host)
    const store = await pond.sessions()
    const [table, lineage] = await Promise.all([readUsage(pond, signal), lineageOf(store)])
    const asked = await askedSessions(store, lineage, filters)
    const counts = countUsage(table, {
      prices,
      passes: passesOf(table, asked, bounds),
      keyOf: KEYS[by](table, lineage),
    })
    const rows = [...counts.groups].map(([key, group]) => ({ key, ...countsView(group) }))
    const ordered = order(rows, by)
    const shown = IN_TIME.has(by) ? ordered.slice(-limit) : ordered.slice(0, limit)
    return {
      by,
      rows: by === "session" ? await named(store, shown) : shown,
      rows_count: rows.length,
      total: countsView(counts.total),
      unpriced_models: counts.unpriced.map(({ model, counts: of }) => ({
        model,
        responses: of.responses,
        total_tokens: totalTokens(of),
      })),
      repeated_records: counts.repeated,
      prices: { retrieved: prices.retrieved, sources: [...prices.sources], ...given("file", prices.file) },
    }
  },
})

function countsView(counts: Counts): Static<typeof CostOutput>["total"] {
  const { tokens } = counts
  return {
    responses: counts.responses,
    sessions: counts.sessions.size,
    input_tokens: tokens.input,
    cache_read_tokens: tokens.cacheRead,
    cache_write_5m_tokens: tokens.cacheWrite5m,
    cache_write_1h_tokens: tokens.cacheWrite1h,
    cache_write_tokens: tokens.cacheWrite,
    output_tokens: tokens.output,
    reasoning_tokens: tokens.reasoning,
    total_tokens: totalTokens(counts),
    cost_usd: dollars(counts.recordedUsd + counts.pricedUsd),
    recorded_cost_usd: dollars(counts.recordedUsd),
    priced_cost_usd: dollars(counts.pricedUsd),
    unpriced_responses: counts.unpricedResponses,
    unpriced_tokens: counts.unpricedTokens,
  }
}

/** Without what a sum of binary fractions adds: a millionth of a dollar is less than any response costs. */
function dollars(sum: number): number {
  return Math.round(sum * 1e8) / 1e8
}

// --- Which responses, in which group ----------------------------------------------------------------------------------

/** Every stored session, with the one that started it. */
type Lineage = ReadonlyMap<string, { readonly sourceAgent: string; readonly parent: string | null }>

async function lineageOf(store: Sessions): Promise<Lineage> {
  const lineage = new Map<string, { sourceAgent: string; parent: string | null }>()
  const columns = ["id", "source_agent", "parent_session_id"] as const
  for await (const rows of store.scan("sessions", { columns })) {
    for (const { id, source_agent: sourceAgent, parent_session_id: parent } of rows)
      lineage.set(id, { sourceAgent, parent })
  }
  return lineage
}

/** The session that a person opened: of a sub-agent the one that started it, at any depth. */
function rootOf(id: string, lineage: Lineage): string {
  let root = id
  const met = new Set<string>()
  while (!met.has(root)) {
    met.add(root)
    const { sourceAgent = "", parent = null } = lineage.get(root) ?? {}
    if (!sourceAgent.includes("/") || parent === null) break
    root = parent
  }
  return root
}

/** The ids of the sessions that the filters leave. */
async function askedSessions(
  store: Sessions,
  lineage: Lineage,
  { project, source_agent: agent, session_id: session }: CostFilters,
): Promise<ReadonlySet<string>> {
  const filters = [
    ...(agent === undefined ? [] : [agentFilter(agent, true)]),
    ...(project === undefined ? [] : [await projectFilter(store, exactlyOne(project))]),
  ]
  const ids = filters.length === 0 ? [...lineage.keys()] : await idsWhere(store, and(...filters))
  if (session === undefined) return new Set(ids)
  const wanted = await store.idsStartingWith(session, 2)
  const whole = wanted.length === 1 ? (wanted[0]?.id ?? session) : session
  return new Set(ids.filter((id) => id === whole || rootOf(id, lineage) === whole))
}

async function idsWhere(store: Sessions, where: Filter): Promise<string[]> {
  const ids: string[] = []
  for await (const rows of store.scan("sessions", { columns: ["id"], where })) ids.push(...rows.map(({ id }) => id))
  return ids
}

function passesOf({ sessions, columns }: UsageTable, asked: ReadonlySet<string>, bounds: Bounds) {
  const isAsked = Uint8Array.from(sessions, ({ id }) => (asked.has(id) ? 1 : 0))
  const [from, to] = [Number(bounds.from ?? 0n) / 1000, Number(bounds.to ?? 0n) / 1000]
  return (row: number) => {
    if (isAsked[columns.session[row] as number] === 0) return false
    const time = columns.timeMs[row] as number
    return (bounds.from === undefined || time >= from) && (bounds.to === undefined || time <= to)
  }
}

type KeyOf = (table: UsageTable, lineage: Lineage) => (row: number) => string

const KEYS: Readonly<Record<CostBy, KeyOf>> = {
  model:
    ({ models, columns }) =>
    (row) =>
      models[columns.model[row] as number] ?? UNNAMED_MODEL,
  day: (table) => timeKey(table, (date) => dayOf(date)),
  week: (table) => timeKey(table, (date) => dayOf(new Date(date.getFullYear(), date.getMonth(), mondayOf(date)))),
  month: (table) => timeKey(table, (date) => dayOf(date).slice(0, "2026-01".length)),
  client: (table) => sessionKey(table, ({ sourceAgent }) => sourceAgent.split("/")[0] ?? sourceAgent),
  project: (table) => sessionKey(table, ({ project }) => project),
  session: (table, lineage) => sessionKey(table, ({ id }) => rootOf(id, lineage)),
  subagent: (table) => sessionKey(table, ({ sourceAgent }) => (sourceAgent.includes("/") ? sourceAgent : MAIN)),
}

/** What sessions took themselves, beside their sub-agents. */
const MAIN = "(main)"

function sessionKey({ sessions, columns }: UsageTable, keyOf: (session: UsageTable["sessions"][number]) => string) {
  const keys = sessions.map(keyOf)
  return (row: number) => keys[columns.session[row] as number] ?? ""
}

const HOUR_MS = 3_600_000

/** By the quarter of an hour, which is of one day in every time zone: to ask the calendar for each response took half of the time. */
function timeKey({ columns }: UsageTable, keyOf: (date: Date) => string) {
  const keys = new Map<number, string>()
  return (row: number) => {
    const quarter = Math.floor(((columns.timeMs[row] as number) * 4) / HOUR_MS)
    const known = keys.get(quarter)
    if (known !== undefined) return known
    const key = keyOf(new Date((quarter * HOUR_MS) / 4))
    keys.set(quarter, key)
    return key
  }
}

/** In the time zone of the user, as in `stats`. */
function dayOf(date: Date): string {
  const [year, month, day] = [date.getFullYear(), date.getMonth() + 1, date.getDate()]
  return `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`
}

function mondayOf(date: Date): number {
  return date.getDate() - ((date.getDay() + 6) % 7)
}

const IN_TIME: ReadonlySet<CostBy> = new Set(["day", "week", "month"])

function order<Row extends Pick<CostRow, "key" | "cost_usd" | "total_tokens">>(
  rows: readonly Row[],
  by: CostBy,
): Row[] {
  const byKey = (left: Row, right: Row) => (left.key < right.key ? -1 : 1)
  if (IN_TIME.has(by)) return rows.toSorted(byKey)
  return rows.toSorted(
    (left, right) => right.cost_usd - left.cost_usd || right.total_tokens - left.total_tokens || byKey(left, right),
  )
}

async function named(store: Sessions, rows: readonly CostRow[]): Promise<CostRow[]> {
  const ids = rows.map(({ key }) => key)
  if (ids.length === 0) return []
  const [found, short] = await Promise.all([store.sessions(ids), shortIds(store, "sessions", ids)])
  const titles = new Map(found.map(({ id, title }) => [id, title]))
  const words = await store.firstWords(ids.filter((id) => titles.get(id) === undefined))
  return rows.map((row) => ({
    ...row,
    ...given("title", titleText(titles.get(row.key) ?? words.get(row.key))),
    ...given("short_id", short.get(row.key)),
  }))
}
