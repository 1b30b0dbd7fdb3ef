/** What a trial of `bun run clients` comes to: how it is printed, summed up and written into the matrix. */
import type { Judged as Judgement } from "../../test/clients/matrix.ts"
import type { RestoreReport } from "./play.ts"

export interface Verdict {
  readonly pair: string
  readonly scenario: string
  readonly isGood: boolean
  /** It is not good, and is known to be the client's doing. */
  readonly cannot?: string
  readonly losses?: RestoreReport["losses"]
}

export function report(verdict: Verdict, what: string, said: string): Verdict {
  const able = verdict.isGood ? "ok  " : "----"
  console.log(`${isFailed(verdict) ? "FAIL" : able} ${verdict.pair} ${verdict.scenario} ${what}: ${said}`)
  return verdict
}

export function isFailed({ isGood, cannot }: Verdict): boolean {
  return !isGood && cannot === undefined
}

export function summarize(verdicts: readonly Verdict[]): void {
  for (const [pair, all] of Map.groupBy(verdicts, (each) => each.pair)) {
    const failed = all.filter(isFailed)
    const where = failed.length === 0 ? "" : `  (${[...new Set(failed.map(({ scenario }) => scenario))].join(", ")})`
    const able = all.filter(({ cannot }) => cannot === undefined)
    console.log(`${pair.padEnd(24)} ${able.length - failed.length} of ${able.length}${where}`)
  }
  if (verdicts.length === 0) console.log("Nothing was judged: no client has such a scenario, or goes there.")
  const others = verdicts.filter(({ cannot }) => cannot !== undefined)
  for (const [why, all] of Map.groupBy(others, ({ cannot = "" }) => cannot)) {
    const which = new Set(all.map(({ pair, scenario }) => `${pair.split(" -> ").at(-1)}: ${scenario}`))
    console.log(`cannot: ${why} (${[...which].join(", ")})`)
  }
  const failed = verdicts.filter(isFailed).length
  console.log(`${verdicts.length - others.length - failed} ok, ${others.length} cannot, ${failed} FAIL`)
}

/** Nothing of a verdict that is about one client alone. */
export function judgedPair(verdict: Verdict): Judgement[] {
  const [from = "", to] = verdict.pair.split(" -> ")
  if (to === undefined || to === "pond") return []
  const otherwise = isFailed(verdict) ? "failed" : "cannot"
  const outcome = verdict.isGood ? "ok" : otherwise
  return [{ from, to, scenario: verdict.scenario, outcome, losses: verdict.losses ?? [] }]
}
