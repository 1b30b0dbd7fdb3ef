/** How an answer came about: what each ranking weighed, and the engine's plan of those that asked it. Asks once more. */
import type { WeightedArm } from "../rank/fusion.ts"

export interface Explanation {
  /** In the order of the shares of a hit. */
  readonly rankings: readonly Ranking[]
}

export interface Ranking {
  readonly name: string
  readonly weight: number
  readonly hits: number
  /** Step by step, with what each cost. A ranking that only weighs what another found has none. */
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
