import { expect, test } from "bun:test"
import { Semaphore } from "../../src/platform/semaphore.ts"

/** Work that logs when it starts and finishes when the test says so. */
function steps() {
  const log: string[] = []
  const finishers = new Map<string, () => void>()
  const work = (name: string) => () => {
    log.push(name)
    return new Promise<string>((resolve) => finishers.set(name, () => resolve(name)))
  }
  return { log, work, finish: (name: string) => finishers.get(name)?.() }
}

test("at most the limit runs at once, and the others start in the order in which they came", async () => {
  const { log, work, finish } = steps()
  const semaphore = new Semaphore(2)
  const all = ["a", "b", "c", "d"].map((name) => semaphore.run(work(name)))
  expect(log).toEqual(["a", "b"])
  finish("b")
  expect(await all[1]).toBe("b")
  expect(log).toEqual(["a", "b", "c"])
  finish("a")
  await all[0]
  expect(log).toEqual(["a", "b", "c", "d"])
  finish("c")
  finish("d")
  expect(await Promise.all(all)).toEqual(["a", "b", "c", "d"])
})

test("an aborted waiter leaves the queue, and work that fails releases its place", async () => {
  const { log, work, finish } = steps()
  const semaphore = new Semaphore(1)
  const first = semaphore.run(work("first"))
  const leaving = new AbortController()
  const aborted = semaphore.run(work("aborted"), leaving.signal)
  const failing = semaphore.run(() => Promise.reject(new Error("broken")))
  const last = semaphore.run(work("last"))
  leaving.abort(new Error("enough"))
  finish("first")
  expect((await Promise.allSettled([first, aborted, failing])).map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "rejected",
  ])
  finish("last")
  expect(await last).toBe("last")
  expect(log).toEqual(["first", "last"])
})

test("work with an aborted signal does not start", async () => {
  const { log, work } = steps()
  expect(new Semaphore(1).run(work("late"), AbortSignal.abort(new Error("late")))).rejects.toThrow("late")
  expect(log).toEqual([])
})
