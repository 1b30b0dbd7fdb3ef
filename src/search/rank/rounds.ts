/**
 * A ranking holds so many messages, and one session that is about nothing else can fill it. Where sessions are asked for
 * and more match, the search goes on outside of those that it has, below everything that it found in them.
 */
import { type Filter, isIn, not } from "../../substrate/filter.ts"
import type { FusedHit, WeightedArm } from "./fusion.ts"

interface Ranking {
  readonly ranked: readonly FusedHit[]
  readonly asked: readonly WeightedArm[]
}

export interface RoundsRequest<R extends Ranking> {
  /** Whether that is as much as this page shows, and one more to tell that there is a next. */
  readonly isEnough: (ranked: readonly FusedHit[]) => Promise<boolean>
  readonly minScore: number
  readonly again: (outside: Filter) => Promise<R>
}

/** Each gives a session at least, and mostly as many as it finds messages. */
const ROUNDS_MAX = 24

export async function searchInRounds<R extends Ranking>(
  first: R,
  { isEnough, minScore, again }: RoundsRequest<R>,
): Promise<R> {
  let ranked = first.ranked
  let last = first
  for (let round = 1; round < ROUNDS_MAX; round++) {
    const least = ranked.at(-1)?.score ?? 0
    const hasMore = last.ranked.length > 0 && last.asked.some(({ isCut }) => isCut === true)
    if (!hasMore || least < minScore || (await isEnough(ranked))) break
    const seen = new Set(ranked.map(({ hit }) => hit.sessionId))
    last = await again(not(isIn("session_id", [...seen])))
    ranked = [...ranked, ...last.ranked.map((fused) => scaleScore(fused, least))]
  }
  return { ...first, ranked }
}

function scaleScore({ hit, score, shares }: FusedHit, factor: number): FusedHit {
  return { hit, score: score * factor, shares: shares.map((share) => share * factor) }
}
