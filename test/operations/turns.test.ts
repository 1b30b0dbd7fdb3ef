import { expect, test } from "bun:test"
import { createTurns } from "../../src/operations/turns.ts"

const never = new AbortController().signal

/** Work that says when it runs and ends when it is told. */
function steps() {
  const log: string[] = []
  const ends = new Map<string, () => void>()
  const work = (name: string) => () => {
    log.push(name)
    return new Promise<string>((resolve) => ends.set(name, () => resolve(name)))
  }
  return { log, work, end: (name: string) => ends.get(name)?.() }
}

test("so many run at once, the others in the order in which they came", async () => {
  const { log, work, end } = steps()
  const inTurn = createTurns(2)
  const all = ["a", "b", "c", "d"].map((name) => inTurn(never, work(name)))
  expect(log).toEqual(["a", "b"])
  end("b")
  expect(await all[1]).toBe("b")
  expect(log).toEqual(["a", "b", "c"])
  end("a")
  await all[0]
  expect(log).toEqual(["a", "b", "c", "d"])
  end("c")
  end("d")
  expect(await Promise.all(all)).toEqual(["a", "b", "c", "d"])
})

test("who waits goes when its time is over, and its turn to the next; work that fails gives its turn back", async () => {
  const { log, work, end } = steps()
  const inTurn = createTurns(1)
  const first = inTurn(never, work("first"))
  const leaving = new AbortController()
  const gone = inTurn(leaving.signal, work("gone"))
  const failing = inTurn(never, () => Promise.reject(new Error("broken")))
  const last = inTurn(never, work("last"))
  leaving.abort(new Error("enough"))
  end("first")
  expect((await Promise.allSettled([first, gone, failing])).map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "rejected",
  ])
  end("last")
  expect(await last).toBe("last")
  expect(log).toEqual(["first", "last"])
})

test("who comes too late is not begun", async () => {
  const { log, work } = steps()
  expect(createTurns(1)(AbortSignal.abort(new Error("late")), work("late"))).rejects.toThrow("late")
  expect(log).toEqual([])
})
