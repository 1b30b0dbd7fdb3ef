/** What a search answers with, inside pond. */
import type { QueryShape } from "../query-shape.ts"
import type { FusedHit } from "../rank/fusion.ts"
import type { ArmName, SearchRequest } from "../request.ts"
import type { Explanation } from "./explain.ts"
import type { Group, SessionFacts } from "./groups.ts"

export interface SearchAnswer {
  /** As many as were asked for, best or newest first. */
  readonly groups: readonly Group[]
  /** All hits, before grouping. */
  readonly ranked: readonly FusedHit[]
  /** More messages match than were ranked. */
  readonly isCut: boolean
  readonly facts: ReadonlyMap<string, SessionFacts>
  /** Names of attached files, by the key of the hit. */
  readonly files: ReadonlyMap<string, readonly string[]>
  readonly shape: QueryShape
  readonly nextCursor: string | undefined
  readonly searched: Searched
  readonly explanation: Explanation | undefined
}

export interface Searched {
  readonly arms: readonly ArmName[]
  readonly scope: SearchRequest["scope"]
  /** What was not searched, in words. */
  readonly excluded: readonly string[]
  readonly understood: readonly string[]
}
