import { expect, test } from "bun:test"
import { LruCache } from "../../src/platform/lru-cache.ts"

test("the cache never holds more than its limit, and keeps at least the most recently read half of it", () => {
  const cache = new LruCache<number, string>(100)
  const keys = Array.from({ length: 1_000 }, (_, key) => key)
  for (const key of keys) {
    cache.set(key, `of ${key}`, 5)
    // Read all the time, so it stays.
    expect(cache.get(0)).toBe("of 0")
  }
  const last = keys.filter((key) => key > 990)
  expect(last.map((key) => cache.get(key))).toEqual(last.map((key) => `of ${key}`))
  expect(keys.filter((key) => cache.get(key) !== undefined).length).toBeLessThanOrEqual(20)
})

test("setting a key again replaces its value, whichever generation it is in", () => {
  const cache = new LruCache<string, string>(100)
  cache.set("a", "young", 20)
  cache.set("a", "younger", 20)
  expect(cache.get("a")).toBe("younger")
  cache.set("b", "b", 20)
  cache.set("c", "c", 20)
  cache.set("a", "youngest", 20)
  expect(cache.get("a")).toBe("youngest")
  cache.clear()
  expect(["a", "b", "c"].map((key) => cache.get(key))).toEqual([undefined, undefined, undefined])
})

test("an entry larger than half of the limit is cached until the next one comes", () => {
  const cache = new LruCache<string, number>(10)
  cache.set("large", 1, 9)
  expect(cache.get("large")).toBe(1)
  cache.set("next", 2, 1)
  cache.set("another", 3, 9)
  expect([cache.get("next"), cache.get("another"), cache.get("large")]).toEqual([2, 3, undefined])
})
