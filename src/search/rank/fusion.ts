/** Several rankings become one. Scores of one arm compare only with each other, so each arm is normalised before it counts. */
import type { Hit } from "../request.ts"

export interface WeightedArm {
  /** What it ranks by, as `explain` shows it. */
  readonly name: string
  readonly hits: readonly Hit[]
  readonly weight: number
  /** It gives as many as it gives at most: more match than these. */
  readonly isCut?: boolean
  /** It gives the newest instead: what is older than that is not among them. */
  readonly sinceMicros?: bigint
  /** How the engine finds these, as it tells itself. Runs the search again. */
  readonly plan?: () => Promise<string>
}

export interface FusedHit {
  readonly hit: Hit
  /** 0 to 1 within one answer. */
  readonly score: number
  /** What each arm added. */
  readonly shares: readonly number[]
}

export function keyOfHit({ sessionId, messageId }: Pick<Hit, "sessionId" | "messageId">): string {
  return `${sessionId.length} ${sessionId}${messageId}`
}

interface Sum {
  readonly hit: Hit
  readonly shares: number[]
}

/** Each arm's scores are stretched over 0 to 1, weighted and summed. Ties go to the newer message. */
export function fuse(arms: readonly WeightedArm[]): FusedHit[] {
  // By session and then by message: to make one key of both for each hit of each arm took as long as all of the rest.
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

/** In a conversation an answer stands beside its question: what is found around a message speaks for it too. */
const NEIGHBOUR_SHARE = 0.2
const NEIGHBOURS_REACH = 3

export function boostNeighbours(fused: readonly FusedHit[]): FusedHit[] {
  const bySession = new Map<string, Map<number, number>>()
  for (const { hit, score } of fused) {
    const scores = bySession.get(hit.sessionId) ?? new Map<number, number>()
    bySession.set(hit.sessionId, scores.set(hit.ordinal, score))
  }
  const raised = fused.map((each) => {
    const { sessionId, ordinal } = each.hit
    const scores = bySession.get(sessionId)
    let score = each.score
    for (let distance = 1; distance <= NEIGHBOURS_REACH; distance++) {
      const before = scores?.get(ordinal - distance) ?? 0
      const after = scores?.get(ordinal + distance) ?? 0
      score += (NEIGHBOUR_SHARE * (before + after)) / distance
    }
    return { ...each, score }
  })
  // Scores stay between 0 and 1, so that a least score means the same for every query.
  const best = Math.max(1, ...raised.map(({ score }) => score))
  return raised.map((each) => ({ ...each, score: each.score / best })).toSorted(bestFirst)
}

export function bestFirst(left: FusedHit, right: FusedHit): number {
  if (left.score !== right.score) return right.score - left.score
  if (left.hit.timestampMicros !== right.hit.timestampMicros)
    return left.hit.timestampMicros > right.hit.timestampMicros ? -1 : 1
  return keyOfHit(left.hit) < keyOfHit(right.hit) ? -1 : 1
}

/** The last of a full list still counts a little: it was found, and what is not in the list was not. */
const LEAST = 0.02

function normalizeScores(hits: readonly Hit[]): { readonly hit: Hit; readonly share: number }[] {
  const scores = hits.map(({ score }) => score)
  const [high, low] = [Math.max(...scores), Math.min(...scores)]
  const span = high - low
  return hits.map((hit) => ({ hit, share: span === 0 ? 1 : LEAST + (1 - LEAST) * ((hit.score - low) / span) }))
}
