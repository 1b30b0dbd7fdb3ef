/**
 * Which sessions a list is of. What every message repeats (client, project, time, lane) is a filter of the read itself;
 * the rest is asked of the sessions found so far, some at a time, until enough of them pass.
 */
import { type Static, Type } from "typebox"
import { BRANCH_KEYS, branchPlaces } from "../../adapters/git-branch.ts"
import { isJsonObject, type JsonValue, parseOwnJson } from "../../model/json.ts"
import { agentFilter, lanesOf, projectFilter } from "../../search/scope-filter.ts"
import type { FirstRecord } from "../../sessions/read/listing-reads.ts"
import type { Sessions } from "../../sessions/store.ts"
import { and, contains, eq, type Filter, isIn, range } from "../../substrate/filter.ts"
import { given, text } from "../fields.ts"
import { closedObject } from "../operation.ts"
import { labelledSessions } from "../store/labels.ts"
import { boundsOf } from "./date-bounds.ts"
import { exactlyOne, ProjectFilter } from "./project-filter.ts"

const DATE_WORDS = "2026-01-31, a timestamp in RFC 3339, or words: yesterday, last week, June, 24h"

export const SessionFilters = closedObject({
  project: ProjectFilter,
  source_agent: text("Only this client (claude-code), or this kind of sub-agent (claude-code/explorer)."),
  host: text("Only sessions stored by the machine of this name."),
  branch: text("Only sessions on this git branch."),
  file: text("Only sessions with a tool call that names this file. Part of its path is enough."),
  has_errors: Type.Optional(Type.Boolean({ description: "Only sessions in which a tool call failed." })),
  tool: text("Only sessions that called the tool of this name, as its client names it."),
  model: text("Only sessions in which this model answered."),
  from_date: text(`Only sessions active on or after this day: ${DATE_WORDS}.`),
  to_date: text(`Only sessions active on or before this day: ${DATE_WORDS}.`),
  tag: text("Only sessions with this tag."),
  starred: Type.Optional(Type.Boolean({ description: "Only sessions with a star." })),
  include_subagents: Type.Optional(Type.Boolean({ description: "Include sub-agent sessions." })),
})
export type SessionFilters = Static<typeof SessionFilters>

/** The messages by which a session is listed. */
export async function messageFilter(sessions: Sessions, filters: SessionFilters, nowMs: number): Promise<Filter> {
  const { project, source_agent: agent, from_date, to_date, include_subagents: includeSubagents } = filters
  const at = { from: "/filters/from_date", to: "/filters/to_date", nowMs }
  const bounds = boundsOf(at, from_date, to_date)
  const labelled = await labelledSessions(sessions, filters)
  return and(
    ...(labelled === undefined ? [] : [isIn("session_id", labelled)]),
    isIn("lane", lanesOf({ ...given("sourceAgent", agent), ...given("includeSubagents", includeSubagents) })),
    ...(agent === undefined ? [] : [agentFilter(agent, includeSubagents === true)]),
    ...(project === undefined ? [] : [await projectFilter(sessions, exactlyOne(project))]),
    ...(bounds.from === undefined && bounds.to === undefined ? [] : [range("timestamp", bounds)]),
  )
}

/** Whether `passing` has something to ask of the sessions themselves. */
export function asksSessions({ host, branch, file, tool, model, has_errors: hasErrors }: SessionFilters): boolean {
  return [host, branch, file, tool, model].some((each) => each !== undefined) || hasErrors === true
}

/** Those of the sessions that pass, in their order. The cheapest question comes first. */
export async function passing(
  sessions: Sessions,
  ids: readonly string[],
  { host, branch, file, tool, model, has_errors: hasErrors }: SessionFilters,
): Promise<readonly string[]> {
  let left = ids
  const keep = (kept: { has(id: string): boolean }) => {
    left = left.filter((id) => kept.has(id))
  }
  if (host !== undefined) {
    const wanted = host.toLowerCase()
    const hosts = await sessions.hostsOf(left)
    left = left.filter((id) => hosts.get(id)?.toLowerCase() === wanted)
  }
  if (branch !== undefined) {
    const branches = await branchesOf(sessions, left)
    left = left.filter((id) => branches.get(id) === branch)
  }
  if (hasErrors === true) keep(await sessions.withParts(left, and(eq("type", "tool_result"), eq("is_failure", true))))
  if (tool !== undefined) keep(await sessions.withParts(left, and(eq("type", "tool_call"), eq("tool_name", tool))))
  // A record names its model in a separate text, which nothing that was said can look like.
  if (model !== undefined) keep(await sessions.withMessages(left, contains("options", JSON.stringify(model))))
  if (file !== undefined) {
    const named = contains("variant_data", JSON.stringify(file).slice(1, -1))
    keep(await sessions.withParts(left, and(eq("type", "tool_call"), named)))
  }
  return left
}

// --- Branches ---------------------------------------------------------------------------------------------------------

/** The git branch that each session began on, where its client recorded one. */
export async function branchesOf(sessions: Sessions, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const keys = BRANCH_KEYS.map((key) => `"${key}"`)
  const branches = new Map<string, string>()
  for (const record of await sessions.firstRecords(ids, keys)) {
    const found = branches.has(record.sessionId) ? undefined : branchIn(record)
    if (found !== undefined) branches.set(record.sessionId, found)
  }
  return branches
}

function branchIn({ sourceAgent, options }: FirstRecord): string | undefined {
  const parsed = parseOwnJson(options)
  if (!parsed.ok) return undefined
  for (const path of branchPlaces(sourceAgent)) {
    let value: JsonValue | undefined = parsed.value
    for (const key of ["source", "record", ...path]) value = isJsonObject(value) ? value[key] : undefined
    if (typeof value === "string" && value !== "") return value
  }
  return undefined
}
