import { describe, expect, test } from "bun:test"
import { CompactFingerprintSet, FingerprintSet } from "../../src/platform/fingerprint-set.ts"
import { seededRandom } from "../../src/platform/host/random.ts"

test("a set has every key that was added, however it grew, and none that was not", () => {
  const keys = new FingerprintSet()
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
  ["whole hashes", () => new FingerprintSet()],
  ["half hashes", () => new CompactFingerprintSet()],
] as const)("a set of %s", (_, create) => {
  test.each([0, 1, 0xffffffff])("takes a hash of %i like any other", (hash) => {
    const keys = create()
    expect(keys.mayHaveHash(hash, 7)).toBe(false)
    expect(keys.addHash(hash, 7)).toBe(true)
    expect(keys.addHash(hash, 7)).toBe(false)
    expect(keys.addHash(7, 0xffffffff - hash)).toBe(true)
    expect(keys.mayHaveHash(7, 0xffffffff - hash)).toBe(true)
    expect(keys.size).toBe(2)
  })

  test("finds hashes again that collide, at both ends of the table", () => {
    const keys = create()
    const hashes = [0, 1, 0x7fffffff, 0xffffffff].flatMap((second, at) =>
      Array.from({ length: 400 }, (_each, first) => [2 + first * 610_000 + at * 7, second] as const),
    )
    expect(hashes.filter((hash) => keys.addHash(...hash)).length).toBe(hashes.length)
    expect(hashes.filter((hash) => keys.addHash(...hash)).length).toBe(0)
    expect(keys.size).toBe(hashes.length)
    expect(hashes.some(([first, second]) => keys.mayHaveHash(first + 1, second))).toBe(false)
  })

  test("holds more hashes than three tables have room for", () => {
    const keys = create()
    const hashes = new Uint32Array(2 * 500_000)
    const random = seededRandom(7)
    for (let half = 0; half < hashes.length; half++) hashes[half] = random.next() * 2 ** 32
    const count = (ask: (first: number, second: number) => boolean) => {
      let found = 0
      for (let half = 0; half < hashes.length; half += 2)
        if (ask(hashes[half] as number, hashes[half + 1] as number)) found++
      return found
    }
    expect(count((first, second) => keys.addHash(first, second))).toBe(500_000)
    expect(count((first, second) => keys.mayHaveHash(first, second))).toBe(500_000)
    expect(count((first, second) => keys.addHash(first, second))).toBe(0)
    expect(count((first, second) => keys.mayHaveHash(second, first))).toBe(0)
  })
})

test("hashes that differ in the second half alone are two keys of a set of whole hashes", () => {
  const keys = new FingerprintSet()
  expect(keys.addHash(0, 7)).toBe(true)
  expect(keys.addHash(0, 8)).toBe(true)
  expect(keys.size).toBe(2)
})
