import { expect, test } from "bun:test"
import { createKeyMarks } from "../../src/platform/key-marks.ts"
import { seededRandom } from "../../src/platform/random.ts"

test.each([0, 1, 0xffffffff])("a hash of %i is one like any other", (hash) => {
  const marks = createKeyMarks()
  expect(marks.mayHaveHash(hash, 7)).toBe(false)
  expect(marks.addHash(hash, 7)).toBe(true)
  expect(marks.addHash(hash, 7)).toBe(false)
  expect(marks.addHash(7, 0xffffffff - hash)).toBe(true)
  expect(marks.mayHaveHash(7, 0xffffffff - hash)).toBe(true)
  expect(marks.size).toBe(2)
})

test("a mark is found again whatever stands where it would, at either end of the table", () => {
  const marks = createKeyMarks()
  const hashes = [0, 1, 0x7fffffff, 0xffffffff].flatMap((second, at) =>
    Array.from({ length: 7_000 }, (_, first) => [2 + first * 610_000 + at * 7, second] as const),
  )
  for (const hash of hashes) expect(marks.addHash(...hash)).toBe(true)
  for (const hash of hashes) expect(marks.addHash(...hash)).toBe(false)
  expect(marks.size).toBe(hashes.length)
  expect(hashes.some(([first, second]) => marks.mayHaveHash(first + 1, second))).toBe(false)
})

test("of a million each is there, whatever table it came into, and hardly any other", () => {
  const marks = createKeyMarks()
  const hashes = new Uint32Array(2_400_000)
  const random = seededRandom(7)
  for (let half = 0; half < hashes.length; half++) hashes[half] = random.next() * 2 ** 32
  const each = (ask: (first: number, second: number) => boolean) => {
    let count = 0
    for (let half = 0; half < hashes.length; half += 2)
      if (ask(hashes[half] as number, hashes[half + 1] as number)) count++
    return count
  }
  expect(each(marks.addHash)).toBeGreaterThan(1_199_900)
  expect(each(marks.mayHaveHash)).toBe(1_200_000)
  expect(each(marks.addHash)).toBe(0)
  expect(each((first, second) => marks.mayHaveHash(second, first))).toBeLessThan(100)
})
