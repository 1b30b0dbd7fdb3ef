import { afterEach, expect, spyOn, test } from "bun:test"
import { isReached, printRows, type Row } from "../../build/lib/measure.ts"

const log = spyOn(console, "log").mockImplementation(() => undefined)
afterEach(() => log.mockReset())

const row = (measured: number, rest: Partial<Row> = {}): Row => ({ what: "search", measured, unit: "ms", ...rest })

test("a limit that is missed fails a bench, and a goal that is missed is only said", () => {
  expect(isReached(row(50, { limit: 60, goal: 40 }))).toBe(true)
  expect(isReached(row(70, { limit: 60, goal: 40 }))).toBe(false)
  expect(isReached(row(50, { goal: 40 }))).toBe(true)
  expect(isReached(row(50, { limit: 60, isFloor: true, goal: 40 }))).toBe(false)
  printRows([row(50, { limit: 60, goal: 40 }), row(30, { limit: 60, goal: 40 }), row(9, { goal: 10, isFloor: true })])
  expect(log.mock.calls.map(([line]) => String(line).replaceAll(/ +/g, " "))).toEqual([
    "search 50.0 ms ok under 60.0 ms (goal missed: under 40.0 ms)",
    "search 30.0 ms ok under 60.0 ms (goal reached: under 40.0 ms)",
    "search 9.00 ms (goal missed: at least 10.0 ms)",
  ])
})
