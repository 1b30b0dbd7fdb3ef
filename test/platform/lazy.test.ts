import { expect, test } from "bun:test"
import { lazy } from "../../src/platform/lazy.ts"

test("a value is made once, also where it is nothing", () => {
  let made = 0
  const value = lazy(() => {
    made += 1
    return undefined
  })
  expect([value(), value(), made]).toEqual([undefined, undefined, 1])
})

test("a failure is not kept, be it thrown or promised", async () => {
  let tries = 0
  const promised = lazy(async () => {
    tries += 1
    if (tries === 1) throw new Error("not yet")
    return "made"
  })
  expect(await promised().catch((error: Error) => error.message)).toBe("not yet")
  expect([await promised(), await promised(), tries]).toEqual(["made", "made", 2])
  let thrown = 0
  const value = lazy(() => {
    thrown += 1
    if (thrown === 1) throw new Error("not yet")
    return thrown
  })
  expect(() => value()).toThrow("not yet")
  expect([value(), value()]).toEqual([2, 2])
})

test("those who ask together share one making, and its failure", async () => {
  let made = 0
  const value = lazy(() => {
    made += 1
    return Promise.reject(new Error(`failure ${made}`))
  })
  const asked = await Promise.all([value(), value()].map((each) => each.catch((error: Error) => error.message)))
  expect(asked).toEqual(["failure 1", "failure 1"])
})
