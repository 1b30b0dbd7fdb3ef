/** What a search asks for and what it finds, inside pond. The wire's shapes are the operation's. */
import type { Role } from "../model/session.ts"

export type Scope = "conversation" | "tools" | "all"
export type Mode = "auto" | "words" | "meaning" | "exact" | "pattern"
export type ArmName = "words" | "meaning" | "exact" | "pattern"

export interface ProjectFilter {
  readonly contains?: string
  readonly equals?: string
  readonly regex?: string
}

export interface SearchFilters {
  readonly project?: ProjectFilter
  readonly sessionId?: string
  readonly sourceAgent?: string
  readonly role?: Role
  /** Moments, both inside. */
  readonly fromMicros?: bigint
  readonly toMicros?: bigint
  readonly includeSubagents?: boolean
  readonly minScore?: number
}

export interface SearchRequest {
  readonly query: string
  readonly filters: SearchFilters
  readonly mode: Mode
  readonly scope: Scope
  readonly sort: "relevance" | "recency"
  readonly group: "session" | "none"
  readonly limit: number
  readonly similarTo?: string
  /** Also say how each arm was asked, and what each gave to a score. */
  readonly explain?: boolean
  readonly cursor?: string
}

/** A message that an arm found. */
export interface Hit {
  readonly sessionId: string
  readonly messageId: string
  readonly ordinal: number
  readonly role: string
  readonly timestampMicros: bigint
  /** Where the match was found: the conversation of the message, or one of its tool parts. */
  readonly text: string
  /** As the arm counts: comparable within one arm only. */
  readonly score: number
}

export interface ArmAnswer {
  readonly arm: ArmName
  readonly hits: readonly Hit[]
  /** How the engine looks, over all of time. */
  readonly plan: () => Promise<string>
  /** Set where the arm did not look everywhere: from where to go on. */
  readonly goesOn?: { readonly beforeMicros: bigint; readonly skip: number }
  /** Values that lie in blobs, too large for a column, and were not looked into. */
  readonly unsearchedLargeValues?: number
}

/** As a walk through time gives them. */
export function newestFirst(left: Hit, right: Hit): number {
  if (left.timestampMicros !== right.timestampMicros) return left.timestampMicros > right.timestampMicros ? -1 : 1
  if (left.sessionId !== right.sessionId) return left.sessionId < right.sessionId ? -1 : 1
  return right.ordinal - left.ordinal
}
