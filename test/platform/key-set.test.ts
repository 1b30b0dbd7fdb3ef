import { expect, test } from "bun:test"
import { createKeySet } from "../../src/platform/key-set.ts"

test("a set of keys has all that were put into it, however it grew, and none that was not", () => {
  const keys = createKeySet()
  const named = (number: number) => `36:session-${number % 7}2:m${number}`
  expect(keys.mayHave(named(0))).toBe(false)
  for (let number = 0; number < 20_000; number++) {
    keys.add(named(number))
    keys.add(named(number))
  }
  const found = Array.from({ length: 40_000 }, (_, number) => keys.mayHave(named(number)))
  expect(found.slice(0, 20_000).every(Boolean)).toBe(true)
  expect(found.slice(20_000).some(Boolean)).toBe(false)
})
