import { expect, test } from "bun:test"
import { latelyKept } from "../../src/platform/lru-cache.ts"

test("never more is kept than was said, and at least half of it, of what was asked for last", () => {
  const kept = latelyKept<number, string>(100)
  const keys = Array.from({ length: 1_000 }, (_, key) => key)
  for (const key of keys) {
    kept.set(key, `of ${key}`, 5)
    // Asked for all the time, it stays.
    expect(kept.get(0)).toBe("of 0")
  }
  const last = keys.filter((key) => key > 990)
  expect(last.map((key) => kept.get(key))).toEqual(last.map((key) => `of ${key}`))
  expect(keys.filter((key) => kept.get(key) !== undefined).length).toBeLessThanOrEqual(20)
})

test("a value that is set again takes the place of the one before, wherever that was", () => {
  const kept = latelyKept<string, string>(100)
  kept.set("a", "young", 20)
  kept.set("a", "younger", 20)
  expect(kept.get("a")).toBe("younger")
  kept.set("b", "b", 20)
  kept.set("c", "c", 20)
  kept.set("a", "youngest", 20)
  expect(kept.get("a")).toBe("youngest")
  kept.clear()
  expect(["a", "b", "c"].map((key) => kept.get(key))).toEqual([undefined, undefined, undefined])
})

test("what is larger than half of the size is kept until the next comes", () => {
  const kept = latelyKept<string, number>(10)
  kept.set("large", 1, 9)
  expect(kept.get("large")).toBe(1)
  kept.set("next", 2, 1)
  kept.set("another", 3, 9)
  expect([kept.get("next"), kept.get("another"), kept.get("large")]).toEqual([2, 3, undefined])
})
