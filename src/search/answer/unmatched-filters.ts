/**
 * Explains an empty answer: which filter matches nothing in the store, and which values exist. Someone who typed a
 * client or project name from memory gets the right one.
 */
import type { Sessions } from "../../sessions/store.ts"
import type { ProjectFilter, SearchFilters } from "../request.ts"
import { projectsOf } from "../scope-filter.ts"

const NAMED_MAX = 12

export async function describeUnmatched(sessions: Sessions, filters: SearchFilters): Promise<string[]> {
  const { sessionId, sourceAgent, project } = filters
  const agents = await sessions.countsByAgent()
  if (agents.length === 0) return ["everything: the store is empty (run pond sync)"]
  const missing: string[] = []
  if (sessionId !== undefined && (await sessions.session(sessionId)) === undefined)
    missing.push(`everything: no session has the id ${sessionId} (session_id)`)
  const names = agents.map((agent) => agent.source_agent)
  if (sourceAgent !== undefined && !names.some((name) => name === sourceAgent || name.startsWith(`${sourceAgent}/`))) {
    const shown = names.slice(0, NAMED_MAX).join(", ")
    missing.push(`everything: no session is from the client ${sourceAgent} (source_agent: ${shown})`)
  }
  if (project !== undefined && (await projectsOf(sessions, project)).length === 0)
    missing.push(`everything: no project ${projectText(project)} (project)`)
  return missing
}

function projectText({ contains, equals, regex }: ProjectFilter): string {
  if (equals !== undefined) return `is ${equals}`
  return contains === undefined ? `matches ${regex}` : `contains ${contains}`
}
