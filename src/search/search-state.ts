/** What a search knows while it runs, and what each way of searching gives back. */
import type { Embedder } from "../embeddings/embedder.ts"
import type { Clock } from "../platform/host/clock.ts"
import type { Sessions } from "../sessions/store.ts"
import type { Filter } from "../substrate/filter.ts"
import type { CursorState } from "./answer/cursor.ts"
import type { TimelinePosition } from "./exact/timeline.ts"
import type { QueryShape } from "./query-shape.ts"
import type { FusedHit, WeightedArm } from "./rank/fusion.ts"
import type { ArmName, SearchRequest } from "./request.ts"

export interface SearchContext {
  readonly sessions: Sessions
  readonly clock: Clock
  /** Resolves to undefined where no model is configured. */
  readonly embedder: () => Promise<Embedder | undefined>
  readonly signal: AbortSignal
}

/** Candidates per ranking. More would cost time and not change what is shown first. */
export const CANDIDATES = 100

export interface SearchState {
  readonly request: SearchRequest
  readonly context: SearchContext
  readonly where: Filter
  readonly whereOfTools: Filter
  readonly whereOfVectors: Filter
  readonly shape: QueryShape
  readonly cursor: CursorState | undefined
  /** In later rounds: how far back the first round scanned, unless to the end. */
  readonly again?: { readonly sinceMicros: bigint | undefined }
}

export interface Found {
  readonly ranked: readonly FusedHit[]
  readonly arms: readonly ArmName[]
  readonly remarks: readonly string[]
  /** The names that the query has, in words. */
  readonly understood?: readonly string[]
  /** The rankings that were fused. */
  readonly asked: readonly WeightedArm[]
  readonly goesOn?: TimelinePosition
  /** How far back a scan beside a ranking went, unless to the end. Later pages go as far. */
  readonly walkedTo?: TimelinePosition
  /** How many hits a scan was asked for. */
  readonly walked?: number
}
