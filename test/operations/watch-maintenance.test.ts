import { expect, test } from "bun:test"
import { createWatchMaintenance } from "../../src/operations/machine/watch-maintenance.ts"

/** Time passes where somebody waits, and nowhere else. `at` says what happens when. */
function createHours(at: Readonly<Record<number, () => void>> = {}) {
  let nowMs = 0
  const waiting = new Map(Object.entries(at).map(([ms, act]) => [Number(ms), act]))
  return {
    clock: { monotonicMs: () => nowMs },
    signal: new AbortController().signal,
    pause: (ms: number): Promise<void> => {
      nowMs += ms
      for (const [due, act] of waiting) {
        if (due > nowMs) continue
        waiting.delete(due)
        act()
      }
      return Promise.resolve()
    },
  }
}

const round = () => Promise.resolve()

test("what is made of the rows waits until two seconds after the last change", async () => {
  const ran: number[] = []
  const hours = createHours({
    9500: () => void rest.during(round),
    11000: () => void rest.during(round),
  })
  const run = () => Promise.resolve(void ran.push(hours.clock.monotonicMs()))
  const rest = createWatchMaintenance({ ...hours, run })
  rest.begin()
  await rest.ended()
  expect(ran).toHaveLength(1)
  expect(ran[0]).toBeGreaterThanOrEqual(13_000)
  expect(ran[0]).toBeLessThan(14_000)
})

test("who changes something every second is not waited for longer than a minute", async () => {
  const ran: number[] = []
  const everySecond = Array.from(
    { length: 200 },
    (_, second) => [second * 1_000, () => void rest.during(round)] as const,
  )
  const hours = createHours(Object.fromEntries(everySecond))
  const run = () => Promise.resolve(void ran.push(hours.clock.monotonicMs()))
  const rest = createWatchMaintenance({ ...hours, run })
  rest.begin()
  await rest.ended()
  expect(ran).toHaveLength(1)
  expect(ran[0]).toBeGreaterThan(60_000)
  expect(ran[0]).toBeLessThan(75_000)
})

test("between two steps a change is let by, and a first import is not waited for to its end", async () => {
  const { promise: imported, resolve: end } = Promise.withResolvers<void>()
  const hours = createHours({ 1000: end })
  const rest = createWatchMaintenance({ ...hours, run: round })
  await rest.stepAside()
  expect(hours.clock.monotonicMs()).toBe(0)
  const change = rest.during(() => imported)
  await rest.stepAside()
  await change
  expect(hours.clock.monotonicMs()).toBe(1_000)
  void rest.during(() => new Promise(() => undefined))
  await rest.stepAside()
  expect(hours.clock.monotonicMs()).toBe(11_000)
})

test("what was asked for while it was made is made once more, together", async () => {
  let ran = 0
  const hours = createHours()
  const rest = createWatchMaintenance({
    ...hours,
    run: () => {
      if (++ran === 1) for (let change = 0; change < 3; change++) rest.begin()
      return Promise.resolve()
    },
  })
  rest.begin()
  await rest.ended()
  expect(ran).toBe(2)
})

test("what changes after it was made is made as well", async () => {
  let ran = 0
  const rest = createWatchMaintenance({ ...createHours(), run: () => Promise.resolve(void ran++) })
  for (const times of [1, 2]) {
    rest.begin()
    await rest.ended()
    expect(ran).toBe(times)
  }
})
