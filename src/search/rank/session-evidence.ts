/**
 * Where sessions are asked for, several good hits of one say more than a single one: its best hit is raised by a share of
 * the others. Pure.
 */
import { bestFirst, type FusedHit } from "./fusion.ts"

/**
 * Of the next hit's score; each further one counts half of the one before. Measured on 110 questions about known
 * sessions (`bun run bench known`): the right one first among 20,000 messages rises from 50.0 to 55.5 %, and among 2,000
 * from 59.1 to 63.6 %; half of this share brings two thirds of it.
 */
const SHARE = 0.3

export function raiseBySession(ranked: readonly FusedHit[]): readonly FusedHit[] {
  const bySession = Map.groupBy(ranked, ({ hit }) => hit.sessionId)
  const raised = [...bySession.values()].flatMap(([best, ...others]) => {
    if (best === undefined) return []
    const more = others.reduce((sum, { score }, at) => sum + score / 2 ** at, 0)
    return [{ ...best, score: best.score + SHARE * more }, ...others]
  })
  const most = Math.max(1, ...raised.map(({ score }) => score))
  return raised.map((each) => ({ ...each, score: each.score / most })).toSorted(bestFirst)
}
