/**
 * Score fusion: combines the rankings of several arms into one. Scores of different arms are not comparable, so each
 * arm is normalized first (min-max), then weighted and summed (CombSUM, Fox and Shaw 1994).
 */
import type { Hit } from "../request.ts"

export interface WeightedArm {
  /** Shown by `explain`. */
  readonly name: string
  readonly hits: readonly Hit[]
  readonly weight: number
  /** The list was cut at its limit: more messages match. */
  readonly isCut?: boolean
  /** Set where the list holds the newest matches: nothing older is in it. */
  readonly sinceMicros?: bigint
  /** Words of the query that nobody wrote, and that were taken for those that are spelled like them. */
  readonly respelled?: readonly string[]
  /** The engine's query plan. Runs the query again. */
  readonly plan?: () => Promise<string>
}

export interface FusedHit {
  readonly hit: Hit
  /** 0 to 1 within one answer. */
  readonly score: number
  /** The contribution of each arm. */
  readonly shares: readonly number[]
}

export function keyOfHit({ sessionId, messageId }: Pick<Hit, "sessionId" | "messageId">): string {
  return `${sessionId.length} ${sessionId}${messageId}`
}

interface Sum {
  readonly hit: Hit
  readonly shares: number[]
}

/** Best first; ties go to the newer message. */
export function fuse(arms: readonly WeightedArm[]): FusedHit[] {
  // Nested by session and message: building one key of both for every hit took as long as everything else here.
  const bySession = new Map<string, Map<string, Sum>>()
  const sums: Sum[] = []
  for (const [index, { hits, weight }] of arms.entries()) {
    for (const { hit, share } of normalizeScores(hits)) {
      const session = bySession.get(hit.sessionId) ?? new Map<string, Sum>()
      bySession.set(hit.sessionId, session)
      let own = session.get(hit.messageId)
      if (own === undefined) {
        own = { hit, shares: arms.map(() => 0) }
        session.set(hit.messageId, own)
        sums.push(own)
      }
      own.shares[index] = Math.max(own.shares[index] ?? 0, share * weight)
    }
  }
  const total = arms.reduce((sum, { hits, weight }) => sum + (hits.length > 0 ? weight : 0), 0) || 1
  return sums
    .map(({ hit, shares }) => ({ hit, shares, score: shares.reduce((sum, share) => sum + share, 0) / total }))
    .toSorted(bestFirst)
}

/** An answer stands beside its question, so hits near a message raise its score. */
const NEIGHBOUR_SHARE = 0.2
const NEIGHBOURS_REACH = 3

/** Where a message stands among those of its session that say something; its ordinal where that is not known. */
export type PlaceOf = (hit: Pick<Hit, "sessionId" | "ordinal">) => number

/**
 * Between two messages that say something lie 3 to 13 records of tools in real logs, so that neighbours are counted among
 * the spoken ones (measured there: 1.4 % more messages first).
 */
export function boostNeighbours(fused: readonly FusedHit[], placeOf: PlaceOf = ({ ordinal }) => ordinal): FusedHit[] {
  const bySession = new Map<string, Map<number, number>>()
  for (const { hit, score } of fused) {
    const scores = bySession.get(hit.sessionId) ?? new Map<number, number>()
    bySession.set(hit.sessionId, scores.set(placeOf(hit), score))
  }
  const raised = fused.map((each) => {
    const { sessionId } = each.hit
    const place = placeOf(each.hit)
    const scores = bySession.get(sessionId)
    let score = each.score
    for (let distance = 1; distance <= NEIGHBOURS_REACH; distance++) {
      const before = scores?.get(place - distance) ?? 0
      const after = scores?.get(place + distance) ?? 0
      score += (NEIGHBOUR_SHARE * (before + after)) / distance
    }
    return { ...each, score }
  })
  // Keeps scores between 0 and 1, so that `min_score` means the same for every query.
  const best = Math.max(1, ...raised.map(({ score }) => score))
  return raised.map((each) => ({ ...each, score: each.score / best })).toSorted(bestFirst)
}

/** What a hit gains for each further ranking that has it, of its score there. */
const AGREEMENT_SHARE = 0.1

/** Rankings of several wordings of one question: the best counts, because the others may have missed the words. */
export function mergeRankings(rankings: readonly (readonly FusedHit[])[]): FusedHit[] {
  const found = new Map<string, { readonly best: FusedHit; readonly sum: number }>()
  for (const ranking of rankings) {
    for (const each of ranking) {
      const key = keyOfHit(each.hit)
      const own = found.get(key)
      const best = own === undefined || each.score > own.best.score ? each : own.best
      found.set(key, { best, sum: (own?.sum ?? 0) + each.score })
    }
  }
  const merged = [...found.values()].map(({ best, sum }) => ({
    ...best,
    score: best.score + AGREEMENT_SHARE * (sum - best.score),
  }))
  const most = Math.max(1, ...merged.map(({ score }) => score))
  return merged.map((each) => ({ ...each, score: each.score / most })).toSorted(bestFirst)
}

export function bestFirst(left: FusedHit, right: FusedHit): number {
  if (left.score !== right.score) return right.score - left.score
  if (left.hit.timestampMicros !== right.hit.timestampMicros)
    return left.hit.timestampMicros > right.hit.timestampMicros ? -1 : 1
  return keyOfHit(left.hit) < keyOfHit(right.hit) ? -1 : 1
}

/** The last hit of a list still scores more than a message that is not in it. */
const LEAST = 0.02

function normalizeScores(hits: readonly Hit[]): { readonly hit: Hit; readonly share: number }[] {
  const scores = hits.map(({ score }) => score)
  const [high, low] = [Math.max(...scores), Math.min(...scores)]
  const span = high - low
  return hits.map((hit) => ({ hit, share: span === 0 ? 1 : LEAST + (1 - LEAST) * ((hit.score - low) / span) }))
}
