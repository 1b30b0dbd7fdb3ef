/** The door over Lance and in memory: rows of an erased owner are nowhere, do not come back, and are there again when it is lifted. */
import { describe, expect, test } from "bun:test"
import { columnsOf, rowsOfColumns } from "../../../src/substrate/columns/column-batch.ts"
import { batchOfRows, rowsOfBatch } from "../../../src/substrate/columns/row-batch.ts"
import { eq, stored } from "../../../src/substrate/filter.ts"
import { defineTable } from "../../../src/substrate/table-definition.ts"
import { noteTombstone, STORES } from "../support.ts"
import { LINES, line } from "./support.ts"

const OWNED = defineTable({ ...LINES, name: "owned", erasable: true })
const KEPT = [0, 1, 2].map((number) => line(number, `kept ${number}`, "kept"))
const GONE = [0, 1, 2].map((number) => line(number, `gone ${number}`, "it's gone"))

describe.each(STORES)("%s", (_name, make) => {
  test("no read finds rows of an erased owner", async () => {
    using place = make()
    const table = place.store.table(OWNED)
    await table.insertAbsent([...KEPT, ...GONE])
    await noteTombstone(place.open(), "it's gone", 1)
    const texts = (rows: readonly { readonly text: string | null }[]) => rows.map(({ text }) => text).toSorted()
    const want = ["kept 0", "kept 1", "kept 2"]
    const columns = ["group_id", "text"] as const
    expect(texts(await table.read({ columns }))).toEqual(want)
    expect(texts((await table.readWithin(10_000, { columns })) ?? [])).toEqual(want)
    expect(await table.read({ columns, where: eq("group_id", "it's gone") })).toEqual([])
    expect(texts((await Array.fromAsync(table.batches({ columns }))).flat())).toEqual(want)
    const batches = await Array.fromAsync(table.columnBatches({ columns: ["text"] }))
    expect(texts(batches.flatMap((each) => rowsOfColumns(OWNED as never, each) as never))).toEqual(want)
    expect(await table.count()).toBe(3)
    expect(await table.count(eq("number", 1))).toBe(1)
    const keys = [...KEPT, ...GONE].map(({ group_id, number }) => ({ group_id, number }))
    expect(texts(await table.takeByKey(keys, columns))).toEqual(want)
    expect(texts(await table.takeByNumber([0, 1, 2, 3, 4, 5], ["text"]))).toEqual(want)
    expect(await table.takeByNumber([3], ["text"], { withErased: true })).toMatchObject([{ text: "gone 0", row: 3 }])
    const scanned = await Array.fromAsync(table.scanByNumber({ from: 0, columns: ["number"], text: "text" }))
    expect(scanned.flatMap(({ numbers, text }) => numbers.map((_, at) => text.at(at)))).toEqual(want)
    expect(await table.count(stored(3))).toBe(0)
    const snapshot = await table.snapshot()
    expect(await snapshot?.count()).toBe(3)
    const whole = await Array.fromAsync(snapshot?.batches() ?? [])
    expect(texts(whole.flatMap((each) => rowsOfBatch(each, ["text"]) as never))).toEqual(want)
    expect(texts((await Array.fromAsync(snapshot?.rows(["text"]) ?? [])).flat())).toEqual(want)
    snapshot?.end()
    expect(await table.nextRowNumber()).toBe(6)
  })

  test("no write brings them back, and others are stored beside them", async () => {
    using place = make()
    const table = place.store.table(OWNED)
    await noteTombstone(place.store, "it's gone", 1)
    const given = [...KEPT, ...GONE]
    expect(await table.insertAbsent(given.slice(2, 4))).toEqual({ inserted: 1, present: 1 })
    const columns = await table.insertColumns([columnsOf(OWNED, given.slice(0, 2)), columnsOf(OWNED, given.slice(3))])
    expect(columns).toMatchObject({ inserted: 2, absent: [2, 0] })
    await table.insertBatches([batchOfRows(OWNED as never, [...GONE, line(9, "new", "kept")])])
    await table.insertBatches([batchOfRows(OWNED as never, GONE)], () => true)
    expect(await table.count()).toBe(4)
    await noteTombstone(place.store, "it's gone", 2, "lifted")
    expect(await table.count()).toBe(4)
    expect(await place.open().table(OWNED).insertAbsent(GONE)).toMatchObject({ inserted: 3 })
  })

  test("a lifted tombstone shows what was stored before it, and is no purge", async () => {
    using place = make()
    const table = place.store.table(OWNED)
    await table.insertAbsent([...KEPT, ...GONE])
    await noteTombstone(place.store, "it's gone", 1)
    expect((await place.store.erased()).has("it's gone")).toBe(true)
    const { version } = await place.store.erased()
    await noteTombstone(place.open(), "it's gone", 2, "lifted")
    expect(await table.count()).toBe(6)
    expect((await place.store.erased()).version).not.toBe(version)
    expect(await table.purge(stored(0))).toMatchObject({ removed: 0 })
    expect(await table.count()).toBe(6)
  })

  test("a purge removes the rows of erased owners and no other, and rows keep their numbers", async () => {
    using place = make()
    const table = place.store.table(OWNED)
    await table.insertAbsent([...KEPT.slice(0, 1), ...GONE, ...KEPT.slice(1)])
    await noteTombstone(place.store, "it's gone", 1)
    expect(await table.purge(stored(0))).toMatchObject({ removed: 3 })
    expect(await table.takeByNumber([1, 2, 3], ["text"], { withErased: true })).toEqual([])
    const rest = await table.takeByNumber([0, 4, 5], ["text"])
    expect(rest.map(({ row, text }) => `${row} ${text}`).toSorted()).toEqual(["0 kept 0", "4 kept 1", "5 kept 2"])
    await table.insertAbsent([line(7, "later", "kept")])
    expect(await table.takeByNumber([6], ["text"])).toMatchObject([{ text: "later" }])
  })
})
