import { expect, test } from "bun:test"
import { join } from "node:path"
import { nativeDifferences, planned } from "./support.ts"

/** Real sessions are not part of this repository. Where a folder of them is at hand, all of them must come back whole. */
const SAMPLES = process.env["POND_SAMPLES"]

test.if(SAMPLES !== undefined)(
  "every sample comes back whole",
  async () => {
    const root = join(SAMPLES ?? "", "claude-code")
    expect((await planned(root)).units.length).toBeGreaterThan(100)
    expect(await nativeDifferences(root)).toEqual([])
  },
  120_000,
)
