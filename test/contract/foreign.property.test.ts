/** Law 4 over random conversations, for every target. A failure prints the seed: `POND_SEED=… bun test test/contract/foreign.property`. */
import { test } from "bun:test"
import fc from "fast-check"
import { SEED } from "../support/seed.ts"
import { expectToComeThrough } from "./comes-through.ts"
import { conversation } from "./conversations.ts"
import { foreignTargets } from "./fixtures.ts"

const RUNS = Number(process.env["POND_PROPERTY_RUNS"] ?? 30)

for (const target of foreignTargets()) {
  test(
    `a random conversation comes through to ${target.id} but for its losses (POND_SEED=${SEED})`,
    async () => {
      const property = fc.asyncProperty(
        conversation,
        fc.constantFrom("keep" as const, "text" as const, "drop" as const),
        (told, reasoning) => expectToComeThrough(told, target, { cwd: "/projects/elsewhere", reasoning }),
      )
      await fc.assert(property, { seed: SEED, numRuns: RUNS })
    },
    60_000 + RUNS * 1_000,
  )
}
