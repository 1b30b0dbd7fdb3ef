import { expect, test } from "bun:test"
import fc from "fast-check"
import { editsBetween } from "../../src/restore/edit-distance.ts"

const SEED = 20_260_214

/** What the longest common sequence leaves over, found by the plain table. */
function byTable(left: readonly string[], right: readonly string[]): number {
  const lengths = Array.from({ length: left.length + 1 }, () => new Array<number>(right.length + 1).fill(0))
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0
  for (let i = left.length - 1; i >= 0; i--)
    for (let j = right.length - 1; j >= 0; j--)
      (lengths[i] as number[])[j] = left[i] === right[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  return left.length + right.length - 2 * at(0, 0)
}

test("the distance is the one that the longest common sequence says", () => {
  const items = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 12 })
  const property = fc.property(items, items, (left, right) => {
    expect(editsBetween(left, right, 24)).toBe(byTable(left, right))
  })
  fc.assert(property, { seed: SEED, numRuns: 500 })
})

test("it does not look further than it may", () => {
  expect(editsBetween(["a", "b"], ["c", "d"], 4)).toBe(4)
  expect(editsBetween(["a", "b"], ["c", "d"], 3)).toBe(Number.POSITIVE_INFINITY)
})
