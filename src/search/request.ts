/** The request and hit types of search, inside pond. The wire format belongs to the operation. */
import type { Role } from "../model/session.ts"

export type Scope = "conversation" | "tools" | "all"
export type Mode = "auto" | "words" | "meaning" | "exact" | "pattern"
export type ArmName = "words" | "meaning" | "exact" | "pattern"

export interface TimeSpan {
  readonly fromMicros: bigint
  readonly toMicros: bigint
}

export interface ProjectFilter {
  readonly contains?: string
  readonly equals?: string
  readonly regex?: string
  /** A directory: projects that are it, or lie below it. */
  readonly within?: string
}

export interface SearchFilters {
  readonly project?: ProjectFilter
  readonly sessionId?: string
  /** Only these, and none where there are none. */
  readonly sessionIds?: readonly string[]
  readonly sourceAgent?: string
  readonly role?: Role
  /** Inclusive bounds. */
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
  /** Other wordings of the query, ranked together with it. */
  readonly wordings?: readonly string[]
  /** Words that no hit may have. */
  readonly without?: readonly string[]
  /** The directory that the asker works in: hits of its project come first. */
  readonly near?: string
  /** Days that the query names: hits of then come first. */
  readonly around?: TimeSpan
  /** Also return how each arm was run and what it contributed. */
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
  /** The text that matched: the message's conversation text, or one of its tool parts. */
  readonly text: string
  /** Comparable only within one arm. */
  readonly score: number
}

export interface ArmAnswer {
  readonly arm: ArmName
  readonly hits: readonly Hit[]
  /** The engine's query plan over all of time. */
  readonly plan: () => Promise<string>
  /** Where to continue, if the arm did not search everything. */
  readonly goesOn?: { readonly beforeMicros: bigint; readonly skip: number }
  /** Values in blobs, too large for a column, that were not searched. */
  readonly unsearchedLargeValues?: number
}

/** The order of a timeline scan. */
export function newestFirst(left: Hit, right: Hit): number {
  if (left.timestampMicros !== right.timestampMicros) return left.timestampMicros > right.timestampMicros ? -1 : 1
  if (left.sessionId !== right.sessionId) return left.sessionId < right.sessionId ? -1 : 1
  return right.ordinal - left.ordinal
}
