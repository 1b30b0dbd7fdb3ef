/**
 * How much there is, by day, project, client, tool or model. Read in batches with the columns that are counted and no other,
 * so that memory does not grow with the store. A message that a forked session copied counts once, where it was said, and so
 * does a conversation that went on in several clients.
 */
import { adapterById } from "../../adapters/registry.ts"
import { isJsonObject, type JsonValue, parseOwnJson } from "../../model/json.ts"
import { and, eq, type Filter, isIn, not, type Range, range } from "../../substrate/filter.ts"
import type { Pond } from "../pond.ts"
import { boundsOf } from "../wire/date-bounds.ts"

export type StatsBy = "day" | "project" | "agent" | "tool" | "model"

export interface StatsRequest {
  readonly by: StatsBy
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export interface StatsRow {
  readonly key: string
  readonly sessions: number
  /** Messages; of a tool its calls, of a model the records that name it. */
  readonly count: number
  /** Of a tool: calls whose result was a failure. */
  readonly failures?: number
}

export interface Stats {
  readonly by: StatsBy
  /** Days in their order, all else most first. */
  readonly rows: readonly StatsRow[]
  readonly sessions: number
  readonly count: number
}

interface Count {
  readonly sessions: Set<string>
  count: number
  failures: number
}

type Tally = Map<string, Count>

export async function statsOf(pond: Pond, { by, from, to }: StatsRequest, signal: AbortSignal): Promise<Stats> {
  const tally: Tally = new Map()
  const where = and(not(eq("lane", "replay")), ...between(from, to))
  await COUNTERS[by](pond, where, tally, signal)
  const { rootOf } = await (await pond.sessions()).conversations()
  const conversations = (sessions: Iterable<string>) => new Set([...sessions].map(rootOf))
  const rows = [...tally].map(([key, { sessions, count, failures }]) => ({
    key,
    sessions: conversations(sessions).size,
    count,
    ...(by === "tool" ? { failures } : {}),
  }))
  const ordered = rows.toSorted((left, right) =>
    by === "day" || left.count === right.count ? compare(left.key, right.key) : right.count - left.count,
  )
  const all = conversations([...tally.values()].flatMap(({ sessions }) => [...sessions]))
  return { by, rows: ordered, sessions: all.size, count: rows.reduce((sum, row) => sum + row.count, 0) }
}

type Counter = (pond: Pond, where: Filter, tally: Tally, signal: AbortSignal) => Promise<void>

const COUNTERS: Readonly<Record<StatsBy, Counter>> = {
  day: async (pond, where, tally, signal) => {
    const sessions = await pond.sessions()
    const columns = ["session_id", "id", "timestamp"] as const
    const gone = await sessions.superseded()
    for await (const rows of sessions.scan("messages", { columns, where: and(where, SAID) })) {
      if (signal.aborted) return
      for (const row of rows) if (!gone.has(row.session_id, row.id)) add(tally, dayOf(row.timestamp), row.session_id)
    }
  },
  project: async (pond, where, tally, signal) => {
    const sessions = await pond.sessions()
    const columns = ["session_id", "id", "project"] as const
    const gone = await sessions.superseded()
    for await (const rows of sessions.scan("messages", { columns, where: and(where, SAID) })) {
      if (signal.aborted) return
      for (const row of rows) if (!gone.has(row.session_id, row.id)) add(tally, row.project, row.session_id)
    }
  },
  agent: async (pond, where, tally, signal) => {
    const sessions = await pond.sessions()
    const columns = ["session_id", "id", "source_agent"] as const
    const gone = await sessions.superseded()
    for await (const rows of sessions.scan("messages", { columns, where: and(where, SAID) })) {
      if (signal.aborted) return
      for (const row of rows) if (!gone.has(row.session_id, row.id)) add(tally, row.source_agent, row.session_id)
    }
  },
  tool: countTools,
  model: countModels,
}

/** Carriers of records that are no message have the role system. */
const SAID = isIn("role", ["user", "assistant", "tool"])

/** Not every client names the tool in its result: a failure belongs to the call that it answers. */
async function countTools(pond: Pond, where: Filter, tally: Tally, signal: AbortSignal): Promise<void> {
  const sessions = await pond.sessions()
  const failed = new Set<string>()
  const failures = and(where, eq("type", "tool_result"), eq("is_failure", true))
  for await (const rows of sessions.scan("parts", { columns: ["session_id", "call_id"], where: failures })) {
    if (signal.aborted) return
    for (const { session_id, call_id } of rows) failed.add(`${session_id} ${call_id}`)
  }
  const columns = ["session_id", "message_id", "call_id", "tool_name"] as const
  const gone = await sessions.superseded()
  for await (const rows of sessions.scan("parts", { columns, where: and(where, eq("type", "tool_call")) })) {
    if (signal.aborted) return
    for (const { session_id, message_id, call_id, tool_name } of rows) {
      if (gone.has(session_id, message_id)) continue
      add(tally, tool_name ?? "", session_id)
      if (failed.has(`${session_id} ${call_id}`)) countOf(tally, tool_name ?? "").failures++
    }
  }
}

/** Each adapter says which of its records name the model, and where. */
async function countModels(pond: Pond, where: Filter, tally: Tally, signal: AbortSignal): Promise<void> {
  const sessions = await pond.sessions()
  const columns = ["session_id", "id", "source_agent", "role", "options"] as const
  const gone = await sessions.superseded()
  const naming = and(where, isIn("role", ["assistant", "system"]))
  for await (const rows of sessions.scan("messages", { columns, where: naming })) {
    if (signal.aborted) return
    for (const { session_id, id, source_agent, role, options } of rows) {
      if (gone.has(session_id, id)) continue
      const places = adapterById(source_agent.split("/")[0] ?? "")?.models?.recordedAt ?? []
      const [model] = places.flatMap((place) => (place.role === role ? (optionText(options, place.path) ?? []) : []))
      if (model !== undefined) add(tally, model, session_id)
    }
  }
}

function optionText(options: string, path: readonly string[]): string | undefined {
  // Most records name none, and parsing each would be most of the work.
  if (!options.includes(`"${path.at(-1)}"`)) return undefined
  const parsed = parseOwnJson(options)
  let value: JsonValue | undefined = parsed.ok ? parsed.value : undefined
  for (const key of ["source", "record", ...path]) value = isJsonObject(value) ? value[key] : undefined
  return typeof value === "string" && value !== "" ? value : undefined
}

function between(from: string | undefined, to: string | undefined): Filter[] {
  const bounds: Range = boundsOf({ from: "/from", to: "/to" }, from, to)
  return from === undefined && to === undefined ? [] : [range("timestamp", bounds)]
}

function add(tally: Tally, key: string, session: string): void {
  const count = countOf(tally, key)
  count.count++
  count.sessions.add(session)
}

function countOf(tally: Tally, key: string): Count {
  const known = tally.get(key)
  if (known !== undefined) return known
  const count = { sessions: new Set<string>(), count: 0, failures: 0 }
  tally.set(key, count)
  return count
}

/** In the time zone of the user, like the days of messages and of filters. */
function dayOf(micros: bigint): string {
  const date = new Date(Number(micros / 1000n))
  const [year, month, day] = [date.getFullYear(), date.getMonth() + 1, date.getDate()]
  return `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${String(day).padStart(2, "0")}`
}

function compare(left: string, right: string): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}
