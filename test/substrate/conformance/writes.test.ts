/** The door over Lance and in memory: values, keys, insert-if-absent, refusals. */
import { describe, expect, test } from "bun:test"
import { columnsOf } from "../../../src/substrate/columns/column-batch.ts"
import { batchOfRows } from "../../../src/substrate/columns/row-batch.ts"
import { contains, eq, startsWith } from "../../../src/substrate/filter.ts"
import { bytes, defineTable, nullable, type TableDefinition, utf8 } from "../../../src/substrate/table-definition.ts"
import { EVERY_KIND, row, SCANNED, STORES } from "../support.ts"

import { full, idsOf, LINES, line, refusal, sortedIds } from "./support.ts"

describe.each(STORES)("%s", (_name, make) => {
  // --- Values ----------------------------------------------------------------------------------------------------------

  test("a value of every kind comes back as it went in", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    const empty = row("empty", { text: "", small: 0, large: 0n, ratio: 0, at: 0n, near: new Float32Array(4) })
    const absent = row("absent")
    expect(await table.insertAbsent([full, empty, absent])).toMatchObject({ inserted: 3, present: 0 })
    const rows = await place.open().table(EVERY_KIND).read({ columns: SCANNED })
    const want = [full, empty, absent].map(({ payload: _, ...scanned }) => scanned)
    expect(Object.fromEntries(rows.map((found) => [found.id, found]))).toEqual(
      Object.fromEntries(want.map((expected) => [expected.id, expected])),
    )
  })

  test("halves of an emoji in neighbouring rows stay halves", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    const halves = ["\ud83d", "\ude00", "é\ud83d", ""].map((text, index) => row(`${index}`, { text }))
    await table.insertAbsent(halves)
    const rows = await table.read({ columns: ["id", "text"], orderBy: [{ column: "id" }] })
    expect(rows).toEqual(halves.map(({ id, text }) => ({ id, text })))
    expect(await table.count(contains("text", "\ud83d"))).toBe(2)
    expect(await table.count(eq("text", "\ude00"))).toBe(1)
  })

  test("half of an emoji is not found in a whole one", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    await table.insertAbsent([row("whole", { text: "😀" })])
    expect(await table.count(contains("text", "\ud83d"))).toBe(0)
    expect(await table.count(startsWith("text", "\ud83d"))).toBe(0)
  })

  test("a vector has the precision of half a float", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    await table.insertAbsent([row("a", { near: Float32Array.of(0.1, 1 / 3, 65504, -1e-7) })])
    const [found] = await table.read({ columns: ["near"] })
    expect(found?.near).toEqual(Float32Array.from(Float16Array.of(0.1, 1 / 3, 65504, -1e-7)))
  })

  test("the bytes of a blob come back, null apart from none", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    const big = new Uint8Array(300_000).map((_byte, index) => index * 7)
    const zero = row("zero", { payload: new Uint8Array(0) })
    await table.insertAbsent([full, row("big", { payload: big }), row("none"), zero])
    const rows = await table.readBlobs("payload", { columns: ["id"] })
    const found = Object.fromEntries(rows.map(({ id, payload }) => [id, payload && [...payload]]))
    expect(found).toEqual({ full: [0, 255, 1, 2], big: [...big], none: null, zero: [] })
    const one = await table.readBlobs("payload", { columns: [], where: eq("id", "full") })
    expect(one.map(({ payload }) => payload)).toEqual([full.payload])
  })

  test("bytes of a column come back with their rows, as copies", async () => {
    using place = make()
    const definition = defineTable({
      name: "raw",
      columns: { id: utf8(), content: nullable(bytes()) },
      key: ["id"],
      indexes: [],
      schemaVersion: 1,
    })
    const table = place.store.table(definition)
    const given = [
      { id: "a", content: Uint8Array.of(0, 255) },
      { id: "b", content: null },
      { id: "c", content: new Uint8Array() },
    ]
    await table.insertAbsent(given)
    const read = await table.read({ columns: ["id", "content"], orderBy: [{ column: "id" }] })
    expect(read).toEqual(given)
    read[0]?.content?.fill(9)
    expect(await table.read({ columns: ["content"], where: eq("id", "a") })).toEqual([
      { content: given[0]?.content ?? null },
    ])
  })

  // --- Keys: insert if absent --------------------------------------------------------------------------------------------

  test("what is there is not written again, and commits nothing", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    expect(await table.insertAbsent([row("a"), row("b")])).toEqual({ inserted: 2, present: 0 })
    const second = await table.insertAbsent([row("a", { text: "changed" }), row("b"), row("c"), row("c")])
    expect(second).toEqual({ inserted: 1, present: 3 })
    expect(idsOf(await table.read({ columns: ["id"] }))).toEqual(["a", "b", "c"])
    const version = await table.version()
    expect(await table.insertAbsent([row("a"), row("c")])).toEqual({ inserted: 0, present: 2 })
    expect(await table.insertAbsent([])).toEqual({ inserted: 0, present: 0 })
    expect(await table.version()).toBe(version)
    expect(await table.count()).toBe(3)
    expect(await table.read({ columns: ["text"], where: eq("id", "a") })).toEqual([{ text: null }])
  })

  test("the first of two rows of one key counts, and keys of several columns are told apart", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    const given = [
      row("bc", { group_id: "a", text: "first" }),
      row("c", { group_id: "ab", text: "second" }),
      row("bc", { group_id: "a", text: "third" }),
      row("abc", { group_id: "", text: "fourth" }),
    ]
    expect(await table.insertAbsent(given)).toMatchObject({ inserted: 3, present: 1 })
    const texts = (await table.read({ columns: ["text"] })).map(({ text }) => text)
    expect(texts.toSorted()).toEqual(["first", "fourth", "second"])
  })

  test("rows as columns are inserted by the same rule, and each batch is told how many of its rows were new", async () => {
    using place = make()
    const table = place.store.table(LINES)
    await table.insertAbsent([line(1), line(4)])
    const batches = [[line(0), line(1)], [line(4)], [line(2), line(3), line(2)]].map((given) => columnsOf(LINES, given))
    expect(await table.insertColumns(batches)).toEqual({ inserted: 3, present: 3, absent: [1, 0, 2] })
    expect(await table.insertColumns([])).toEqual({ inserted: 0, present: 0, absent: [] })
    const rows = await table.read({
      columns: ["group_id", "number", "text", "size", "at"],
      orderBy: [{ column: "number" }],
    })
    expect(rows).toEqual([0, 1, 2, 3, 4].map((number) => line(number)))
  })

  test("whole batches are inserted by the same rule, without the rows whose key is refused", async () => {
    using place = make()
    const definition = EVERY_KIND as unknown as TableDefinition
    const table = place.store.table(EVERY_KIND)
    await table.insertAbsent([row("a")])
    const batch = batchOfRows(definition, [row("a"), full, row("b"), row("c")])
    expect(await table.insertBatches([batch], ({ id }) => id !== "b")).toEqual({ inserted: 2, present: 1 })
    expect(await table.insertBatches([batch])).toEqual({ inserted: 1, present: 3 })
    expect(sortedIds(await table.read({ columns: ["id"] }))).toEqual(["a", "b", "c", "full"])
    const [blob] = await table.readBlobs("payload", { columns: [], where: eq("id", "full") })
    expect(blob?.payload).toEqual(full.payload)
  })

  test("handles that write the same rows at once store each row once", async () => {
    using place = make()
    const rowsOf = (writer: number) => Array.from({ length: 30 }, (_row, index) => row(`row-${writer * 10 + index}`))
    const written = await Promise.all(
      [0, 1, 2, 3].map((writer) => place.open().table(EVERY_KIND).insertAbsent(rowsOf(writer))),
    )
    expect(written.reduce((sum, { inserted }) => sum + inserted, 0)).toBe(60)
    const ids = idsOf(await place.store.table(EVERY_KIND).read({ columns: ["id"] }))
    expect([new Set(ids).size, ids.length]).toEqual([60, 60])
  })

  test("a value that a text column of the key may hold is told, and one that was never stored may be", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    expect(await table.perhapsThere("id", [])).toEqual([])
    await table.insertAbsent([row("a"), row("b")])
    expect(await table.perhapsThere("id", ["a", "never"])).toContain("a")
    expect(await place.open().table(EVERY_KIND).perhapsThere("group_id", ["g"])).toEqual(["g"])
  })

  // --- Refusals ----------------------------------------------------------------------------------------------------------------

  test("a row without a value for a column, or with another vector, stores nothing", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    const wrong = [row("a", { near: new Float32Array(3) }), { ...row("a"), group_id: null as never }]
    for (const each of wrong) {
      expect(await refusal(table.insertAbsent([row("b"), each]))).toMatchObject({ code: "internal" })
    }
    expect(await place.open().table(EVERY_KIND).count()).toBe(0)
  })

  test("a table of a newer pond is refused, with what helps", async () => {
    using place = make()
    await place.store.table({ ...EVERY_KIND, schemaVersion: 2 }).insertAbsent([row("a")])
    const older = place.open().table(EVERY_KIND)
    for (const work of [older.count(), older.insertAbsent([row("b")])]) {
      const refused = await refusal(work)
      const details = { table: "every_kind", stored: 2, known: 1 }
      expect(refused).toMatchObject({ code: "version_unsupported", details })
      expect((refused as Error).message).toContain("Update pond")
    }
    expect(
      await place
        .open()
        .table({ ...EVERY_KIND, schemaVersion: 3 })
        .count(),
    ).toBe(1)
  })
})
