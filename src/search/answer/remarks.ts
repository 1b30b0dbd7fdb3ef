/** Says in words what a search did not look at: other scopes, other dates, and what a scan did not reach in time. */
import { textOfMicros } from "../../model/timestamp.ts"
import type { Sessions } from "../../sessions/store.ts"
import { foldText } from "../../sessions/words/terms/tokenizer.ts"
import type { Literal } from "../arms/literal.ts"
import type { QueryShape } from "../query-shape.ts"
import type { WeightedArm } from "../rank/fusion.ts"
import type { ArmAnswer, ProjectFilter, SearchFilters, SearchRequest } from "../request.ts"
import { lanesOf, projectsOf } from "../scope-filter.ts"

const TOOLS = "tool calls and results"
/** Summaries, notifications, messages between agents, skills: about a quarter of all text. */
const INSERTED = "text that clients inserted, and reasoning"

/** Says that tool output was searched only literally, or not at all. */
export function describeTools(mode: SearchRequest["mode"], since: bigint | undefined): string[] {
  const both = `${TOOLS}, ${INSERTED}`
  if (mode === "words") return [`${both} (not in the word index: use mode exact)`]
  const unseen = since === undefined ? [] : [`${both} older than ${textOfMicros(since)} (mode: exact)`]
  return [`${both} by words (they are searched exactly)`, ...unseen]
}

/** What a scan did not reach in time. Hits behind a full page are just not shown yet. */
export function describeUnscanned(
  { hits, goesOn }: Pick<ArmAnswer, "hits" | "goesOn">,
  limit: number,
): string | undefined {
  if (goesOn === undefined || hits.length >= limit) return undefined
  return `what is older than ${textOfMicros(goesOn.beforeMicros)}`
}

/** A quoted text that nobody holds still has messages with its words, which must not pass for it. */
export function describeUnheld(
  { quoted }: QueryShape,
  words: readonly WeightedArm[],
  literal: Literal | undefined,
): string[] {
  if (literal === undefined || literal.sinceMicros !== undefined) return []
  const held = literal.arm.hits.map(({ text }) => foldText(text))
  const isFound = words.some(({ hits }) => hits.length > 0)
  return quoted
    .filter((text) => isFound && !held.some((each) => each.includes(foldText(text))))
    .map((text) => `no message has ${JSON.stringify(text)}: these have its words`)
}

export function excludedOf({ filters, scope }: SearchRequest): string[] {
  const excluded: string[] = []
  if (!lanesOf(filters).includes("subagent")) excluded.push("sub-agents (include_subagents)")
  if (scope === "conversation") excluded.push(`${TOOLS} (scope: tools or all)`)
  if (scope !== "all") excluded.push(`${INSERTED} (scope: all)`)
  if (filters.fromMicros !== undefined || filters.toMicros !== undefined)
    excluded.push("other dates (from_date, to_date)")
  return excluded
}

// --- Filters that nothing passes -------------------------------------------------------------------------------------

// Explains an empty answer: which filter matches nothing in the store, and which values exist. Someone who typed a
// client or project name from memory gets the right one.

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
