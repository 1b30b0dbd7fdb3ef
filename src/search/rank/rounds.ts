/**
 * Fills a page of sessions when one session takes up a whole ranking: searches again outside the sessions already
 * found. Later rounds score below everything found before.
 */
import { type Filter, isIn, not } from "../../substrate/filter.ts"
import type { FusedHit, WeightedArm } from "./fusion.ts"

interface Ranking {
  readonly ranked: readonly FusedHit[]
  readonly asked: readonly WeightedArm[]
}

export interface RoundsRequest<R extends Ranking> {
  /** Whether there is a full page, plus one session to tell that there is a next page. */
  readonly isEnough: (ranked: readonly FusedHit[]) => Promise<boolean>
  readonly minScore: number
  readonly again: (outside: Filter) => Promise<R>
}

/** Each round adds at least one session, and mostly many. */
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
