/**
 * Translates the filters of a request into a store filter. It is pushed into every arm before ranking
 * (`search-prefilter-pushdown`), so all searched tables have the same filter columns.
 */
import { PondError } from "../model/errors.ts"
import type { Sessions } from "../sessions/store.ts"
import type { Lane } from "../sessions/tables.ts"
import { and, eq, type Filter, isIn, matches, or, range, startsWith } from "../substrate/filter.ts"
import type { ProjectFilter, SearchFilters } from "./request.ts"

const REGEX_UNITS_MAX = 500

export async function scopeFilter(sessions: Sessions, filters: SearchFilters): Promise<Filter> {
  const { sessionId, sourceAgent, role, fromMicros, toMicros } = filters
  const parts: Filter[] = [isIn("lane", lanesOf(filters))]
  if (filters.project !== undefined) parts.push(await projectFilter(sessions, filters.project))
  if (sessionId !== undefined) parts.push(eq("session_id", sessionId))
  if (filters.sessionIds !== undefined) parts.push(isIn("session_id", filters.sessionIds))
  if (sourceAgent !== undefined) parts.push(agentFilter(sourceAgent, filters.includeSubagents === true))
  if (role !== undefined) parts.push(eq("role", role))
  if (fromMicros !== undefined || toMicros !== undefined) {
    const bounds = {
      ...(fromMicros === undefined ? {} : { from: fromMicros }),
      ...(toMicros === undefined ? {} : { to: toMicros }),
    }
    parts.push(range("timestamp", bounds))
  }
  return and(...parts)
}

/** Lanes to search. Naming a session or a sub-agent includes its lane. */
export function lanesOf({
  sessionId,
  sourceAgent,
  includeSubagents,
}: Pick<SearchFilters, "sessionId" | "sourceAgent" | "includeSubagents">): Lane[] {
  if (sessionId !== undefined) return ["main", "subagent", "replay"]
  const isAsked = includeSubagents === true || sourceAgent?.includes("/") === true
  return isAsked ? ["main", "subagent"] : ["main"]
}

export function agentFilter(agent: string, includeSubagents: boolean): Filter {
  return includeSubagents && !agent.includes("/")
    ? or(eq("source_agent", agent), startsWith("source_agent", `${agent}/`))
    : eq("source_agent", agent)
}

/** Matches project names first, because a store has few of them, and then asks the index for the exact names. */
export async function projectFilter(sessions: Sessions, filter: ProjectFilter): Promise<Filter> {
  if (filter.equals !== undefined) return eq("project", filter.equals)
  return isIn("project", await projectsOf(sessions, filter))
}

/** The stored projects that match. */
export async function projectsOf(sessions: Sessions, filter: ProjectFilter): Promise<readonly string[]> {
  const { contains, equals, regex, within } = filter
  if (regex !== undefined) return await projectsMatching(sessions, regex)
  const wanted = contains?.toLowerCase() ?? ""
  const projects = await sessions.answers.projects()
  if (within !== undefined) {
    const below = within.endsWith("/") ? within : `${within}/`
    return projects.filter((project) => project === within || project.startsWith(below))
  }
  return projects.filter((project) =>
    equals === undefined ? project.toLowerCase().includes(wanted) : project === equals,
  )
}

/** Uses the engine's regular expressions, which run in linear time. JavaScript's can backtrack without end. */
async function projectsMatching({ tables }: Sessions, regex: string): Promise<readonly string[]> {
  if (regex.length > REGEX_UNITS_MAX) throw badExpression("it is too long")
  try {
    const rows = await tables.sessions.read({ columns: ["project"], where: matches("project", regex, true) })
    return [...new Set(rows.map(({ project }) => project))]
  } catch (error) {
    if (error instanceof PondError && error.code === "validation_failed")
      throw badExpression("the engine does not understand it, or it is too large")
    throw error
  }
}

function badExpression(reason: string): PondError {
  return new PondError("validation_failed", `Invalid regular expression for the project: ${reason}.`)
}
