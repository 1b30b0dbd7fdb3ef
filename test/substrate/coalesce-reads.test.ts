import { describe, expect, test } from "bun:test"
import { coalesceReads } from "../../src/substrate/coalesce-reads.ts"

interface Row {
  readonly of: string
  readonly value: number
}

/** Reads that wait until they are let go, so that the test says what happens meanwhile. */
function slowTable(keysMax = 100) {
  const reads: { readonly keys: readonly string[]; readonly end: (fault?: Error) => void }[] = []
  const ask = coalesceReads<string, Row>({
    read: (keys) => {
      const { promise, resolve, reject } = Promise.withResolvers<Row[]>()
      const rows = keys.flatMap((of) => [1, 2].map((value) => ({ of, value })))
      reads.push({ keys, end: (fault) => (fault === undefined ? resolve(rows) : reject(fault)) })
      return promise
    },
    keyOf: ({ of }) => of,
    textOf: (key) => key,
    keysMax,
  })
  const begun = async (count: number) => {
    for (let turn = 0; reads.length < count && turn < 100; turn++) await Promise.resolve()
    return reads
  }
  return { ask, begun }
}

const namesOf = (rows: readonly Row[]) => rows.map(({ of, value }) => `${of}${value}`)

describe("reads by key", () => {
  test("that are asked for in one turn are one read, and each gets its own rows", async () => {
    const { ask, begun } = slowTable()
    const answers = [ask(["a"]), ask(["b", "c"]), ask(["a"])]
    const [only, ...others] = await begun(1)
    expect(only?.keys).toEqual(["a", "b", "c"])
    only?.end()
    expect((await Promise.all(answers)).map(namesOf)).toEqual([
      ["a1", "a2"],
      ["b1", "b2", "c1", "c2"],
      ["a1", "a2"],
    ])
    expect(others).toEqual([])
  })

  test("that are asked for while reads run are answered by a read that begins afterwards", async () => {
    const { ask, begun } = slowTable()
    const first = ask(["a"])
    await begun(1)
    const second = ask(["b"])
    const third = ask(["a"])
    const reads = await begun(2)
    const fourth = ask(["a"])
    const fifth = ask(["d"])
    expect(reads.map(({ keys }) => keys)).toEqual([["a"], ["b", "a"]])
    reads[0]?.end()
    expect(namesOf(await first)).toEqual(["a1", "a2"])
    const [, , last] = await begun(3)
    expect(last?.keys).toEqual(["a", "d"])
    for (const read of reads.slice(1)) read.end()
    expect((await Promise.all([second, third, fourth, fifth])).map(namesOf)).toEqual([
      ["b1", "b2"],
      ["a1", "a2"],
      ["a1", "a2"],
      ["d1", "d2"],
    ])
  })

  test("that fail fail for those who asked, and for nobody after them", async () => {
    const { ask, begun } = slowTable()
    const failing = Promise.allSettled([ask(["a"]), ask(["b"])])
    const [first] = await begun(1)
    first?.end(new Error("the disk is gone"))
    expect((await failing).map(({ status }) => status)).toEqual(["rejected", "rejected"])
    const later = ask(["a"])
    ;(await begun(2))[1]?.end()
    expect(namesOf(await later)).toEqual(["a1", "a2"])
  })

  test("of more keys than a read takes are several, and nobody's keys are torn apart", async () => {
    const { ask, begun } = slowTable(3)
    const answers = [ask(["a", "b"]), ask(["c", "d"]), ask(["e", "f", "g", "h"])]
    const reads = await begun(1)
    reads[0]?.end()
    await begun(2)
    reads[1]?.end()
    await begun(3)
    reads[2]?.end()
    expect(reads.map(({ keys }) => keys.length)).toEqual([2, 2, 4])
    expect((await Promise.all(answers)).map((rows) => rows.length)).toEqual([4, 4, 8])
  })

  test("of no key read nothing", async () => {
    const { ask, begun } = slowTable()
    expect(await ask([])).toEqual([])
    expect(await begun(0)).toEqual([])
  })
})
