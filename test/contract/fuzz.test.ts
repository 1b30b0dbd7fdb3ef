/**
 * Damaged input, thousands of ways: nothing throws, nothing hangs, and every record comes back or is named. Quick and the same
 * each time here; `bun run fuzz` runs a million rounds from a seed of chance. A failure prints the seed that repeats it: `POND_SEED=… bun test test/contract/fuzz`.
 */
import { expect, test } from "bun:test"
import type { Adapter, RawRecord, SourceUnit } from "../../src/adapters/adapter.ts"
import { ADAPTERS } from "../../src/adapters/registry.ts"
import { seededRandom } from "../../src/platform/host/random.ts"
import { differences } from "../../src/restore/compare.ts"
import { foreignFiles, nativeFiles } from "../../src/restore/output-files.ts"
import { rowsWithTakenKeys } from "../../src/sessions/write/prepare.ts"
import { SEED } from "../support/seed.ts"
import { damaged } from "./damage.ts"
import { fixturesOf, fresh, parseUnit, unitsOf } from "./fixtures.ts"

const ROUNDS = Number(process.env["POND_FUZZ_ROUNDS"] ?? 150)
const ROUND_MS_MAX = 15_000
/** What is kept between rounds shows over many of them: inputs are small. In a short run other tests are what is seen. */
const ROUNDS_OF_LEAK = 20_000
const GROWTH_MAX = 1 << 29

interface Healthy {
  readonly unit: SourceUnit
  readonly records: readonly RawRecord[]
}

async function healthyUnits(adapter: Adapter): Promise<Healthy[]> {
  const found: Healthy[] = []
  for (const { root } of fixturesOf(adapter)) found.push(...(await unitsOf(adapter, root)))
  return found
}

for (const adapter of ADAPTERS.filter((each) => fixturesOf(each).length > 0)) {
  test(
    `${adapter.id}: damaged input never throws, and every record of it comes back or is named`,
    async () => {
      const units = await healthyUnits(adapter)
      expect(units.length).toBeGreaterThan(0)
      let rssBefore = Number.POSITIVE_INFINITY
      for (let round = 0; round < ROUNDS; round++) {
        if (round === ROUNDS_OF_LEAK / 2) rssBefore = process.memoryUsage.rss()
        const seed = (SEED + round) >>> 0
        const { unit, records } = units[seed % units.length] as Healthy
        const startedMs = performance.now()
        const target = ADAPTERS[seed % ADAPTERS.length] ?? adapter
        const fault = faultOf({ adapter, target }, unit, damaged(records.map(fresh), seededRandom(seed)))
        const tookMs = performance.now() - startedMs
        if (fault !== undefined || tookMs > ROUND_MS_MAX)
          throw new Error(`POND_SEED=${seed} POND_FUZZ_ROUNDS=1, unit ${unit.key}: ${fault ?? `took ${tookMs} ms`}`)
      }
      if (ROUNDS >= ROUNDS_OF_LEAK) expect(process.memoryUsage.rss() - rssBefore).toBeLessThan(GROWTH_MAX)
    },
    ROUNDS * 100 + 60_000,
  )
}

function faultOf(
  { adapter, target }: { readonly adapter: Adapter; readonly target: Adapter },
  unit: SourceUnit,
  records: readonly RawRecord[],
): string | undefined {
  try {
    const { session, entries, issues } = parseUnit(adapter, unit, records, { isSettled: true })
    if (session === undefined) {
      // What was damaged may be a whole log of a chat in which nothing was said (POND_SEED=76673475 of Gemini CLI): that is said.
      const isNamed =
        records.length === 0 || issues.some(({ kind, severity }) => severity === "fault" || kind === "nothing_said")
      return isNamed ? undefined : "no session, and nothing said of it"
    }
    const taken = rowsWithTakenKeys(entries)
    if (taken.length > 0) return `two rows have one key: ${taken.join(", ")}`
    const log = { session, entries }
    const [mismatch] = differences(session.id, records, nativeFiles(adapter, log))
    if (mismatch !== undefined) return `a record did not come back: ${JSON.stringify(mismatch)}`
    const live = { session, entries: adapter.context(log, []), children: [] }
    foreignFiles(target, live, { cwd: "/elsewhere", reasoning: "keep" })
    return undefined
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
}
