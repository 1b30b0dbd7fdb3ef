import { describe, expect, test } from "bun:test"
import { seededRandom } from "../../src/platform/host/random.ts"
import { createKeyMarks } from "../../src/platform/key-marks.ts"
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

describe.each([
  ["a set", createKeySet],
  ["marks", createKeyMarks],
] as const)("of %s", (_, create) => {
  test.each([0, 1, 0xffffffff])("a hash of %i is one like any other", (hash) => {
    const keys = create()
    expect(keys.mayHaveHash(hash, 7)).toBe(false)
    expect(keys.addHash(hash, 7)).toBe(true)
    expect(keys.addHash(hash, 7)).toBe(false)
    expect(keys.addHash(7, 0xffffffff - hash)).toBe(true)
    expect(keys.mayHaveHash(7, 0xffffffff - hash)).toBe(true)
    expect(keys.size).toBe(2)
  })

  test("a hash of two halves is found again whatever stands where it would, at either end of the table", () => {
    const keys = create()
    const hashes = [0, 1, 0x7fffffff, 0xffffffff].flatMap((second, at) =>
      Array.from({ length: 7_000 }, (_each, first) => [2 + first * 610_000 + at * 7, second] as const),
    )
    for (const hash of hashes) expect(keys.addHash(...hash)).toBe(true)
    for (const hash of hashes) expect(keys.addHash(...hash)).toBe(false)
    expect(keys.size).toBe(hashes.length)
    expect(hashes.some(([first, second]) => keys.mayHaveHash(first + 1, second))).toBe(false)
  })

  test("a million of them are there, however many tables or how wide a one they needed", () => {
    const keys = create()
    const hashes = new Uint32Array(2_400_000)
    const random = seededRandom(7)
    for (let half = 0; half < hashes.length; half++) hashes[half] = random.next() * 2 ** 32
    const each = (ask: (first: number, second: number) => boolean) => {
      let count = 0
      for (let half = 0; half < hashes.length; half += 2)
        if (ask(hashes[half] as number, hashes[half + 1] as number)) count++
      return count
    }
    expect(each(keys.addHash)).toBe(1_200_000)
    expect(each(keys.mayHaveHash)).toBe(1_200_000)
    expect(each(keys.addHash)).toBe(0)
    expect(each((first, second) => keys.mayHaveHash(second, first))).toBe(0)
  })
})

test("halves that differ in the second alone are two keys of a set", () => {
  const keys = createKeySet()
  expect(keys.addHash(0, 7)).toBe(true)
  expect(keys.addHash(0, 8)).toBe(true)
  expect(keys.size).toBe(2)
})
