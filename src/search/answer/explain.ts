/** Explains an answer: the weight of each ranking and the engine's query plan. Runs the queries again. */
import type { WeightedArm } from "../rank/fusion.ts"

export interface Explanation {
  /** In the order of a hit's `shares`. */
  readonly rankings: readonly Ranking[]
}

export interface Ranking {
  readonly name: string
  readonly weight: number
  readonly hits: number
  /** Steps with their cost. Rankings that only re-rank other hits have none. */
  readonly plan?: string
}

export async function explainRankings(arms: readonly WeightedArm[]): Promise<Explanation> {
  const rankings: Ranking[] = []
  for (const { name, weight, hits, plan } of arms) {
    const text = await plan?.()
    rankings.push({ name, weight, hits: hits.length, ...(text === undefined ? {} : { plan: text }) })
  }
  return { rankings }
}
