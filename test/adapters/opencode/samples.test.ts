import { expect, test } from "bun:test"
import { join } from "node:path"
import { opencode } from "../../../src/adapters/opencode/adapter.ts"
import { systemClock } from "../../../src/platform/clock.ts"
import { verify } from "../../../src/restore/verify.ts"

/** Real sessions are not part of this repository. Where a folder of them is at hand, all of them must come back whole. */
const SAMPLES = process.env["POND_SAMPLES"]

test.if(SAMPLES !== undefined)(
  "every sample comes back whole",
  async () => {
    const context = { clock: systemClock, signal: new AbortController().signal }
    const sources = ["opencode", "peer-fixtures/opencode"].map((place) => ({
      adapter: opencode,
      root: join(SAMPLES ?? "", place),
    }))
    const reports = await verify({ sources }, context)
    expect(reports.map(({ mismatches }) => mismatches)).toEqual([[], []])
    expect(reports[0]?.sessions).toBeGreaterThan(40)
    expect(reports.flatMap(({ unknown_records }) => unknown_records)).toEqual([])
  },
  120_000,
)
