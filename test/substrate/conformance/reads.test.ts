/** The door over Lance and in memory: filters, order, limits, scans, row numbers, vectors. */
import { describe, expect, test } from "bun:test"
import { rowsOfColumns, textsOf } from "../../../src/substrate/columns/column-batch.ts"
import {
  and,
  contains,
  eq,
  isIn,
  isNull,
  matches,
  not,
  or,
  range,
  startsWith,
  stored,
} from "../../../src/substrate/filter.ts"
import type { Order } from "../../../src/substrate/table.ts"
import { EVERY_KIND, row, STORES } from "../support.ts"

import { type EveryKindTable, full, idsOf, LINES, line, refusal, rowsNamed, sortedIds } from "./support.ts"

describe.each(STORES)("%s", (_name, make) => {
  // --- Filters -----------------------------------------------------------------------------------------------------------

  test("a filter answers as its JavaScript counterpart would", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    const plain = row("b", { text: "Plain", small: 3, large: 7n, at: 5n, is_set: true, ratio: 2 })
    await table.insertAbsent([full, plain, row("c")])
    const ids = async (where: Parameters<typeof table.count>[0]) =>
      sortedIds(await table.read({ columns: ["id"], ...(where && { where }) }))
    expect(await ids(eq("text", full.text ?? ""))).toEqual(["full"])
    expect(await ids(contains("text", "half \udc00"))).toEqual(["full"])
    expect(await ids(contains("text", "pLAIN", true))).toEqual(["b"])
    expect(await ids(startsWith("id", "fu"))).toEqual(["full"])
    expect(await ids(matches("text", "^p.*n$", true))).toEqual(["b"])
    expect(await ids(isIn("id", ["b", "c", "zz"]))).toEqual(["b", "c"])
    expect(await ids(isIn("id", []))).toEqual([])
    expect(await ids(not(isIn("id", [])))).toEqual(["b", "c", "full"])
    expect(await ids(eq("large", -9223372036854775808n))).toEqual(["full"])
    expect(await ids(range("at", { from: 1_700_000_000_123_456n }))).toEqual(["full"])
    expect(await ids(range("at", { from: 1_700_000_000_123_456n, fromExclusive: true }))).toEqual([])
    expect(await ids(range("small", { from: 3, to: 3 }))).toEqual(["b"])
    expect(await ids(range("small", {}))).toEqual(["b", "c", "full"])
    expect(await ids(eq("ratio", 0.1 + 0.2))).toEqual(["full"])
    expect(await ids(eq("is_set", true))).toEqual(["b"])
    expect(await ids(not(eq("is_set", true)))).toEqual(["full"])
    expect(await ids(isNull("text"))).toEqual(["c"])
    expect(await ids(and(not(isNull("text")), or(eq("small", 3), eq("id", "full"))))).toEqual(["b", "full"])
    expect(await ids(and())).toEqual(["b", "c", "full"])
    expect(await ids(or())).toEqual([])
  })

  test("what is not understood is refused before or by the engine", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    await table.insertAbsent([row("a", { text: "text" })])
    expect(await refusal(table.count(eq("other", "a")))).toMatchObject({ code: "internal" })
    expect(await refusal(table.count(eq("small", "1")))).toMatchObject({ code: "internal" })
    for (const pattern of ["(", "[a", "(?=a)"]) {
      expect(await refusal(table.count(matches("text", pattern)))).toMatchObject({ code: "validation_failed" })
    }
  })

  // --- Reads: order, limits, projections, scans ----------------------------------------------------------------------------

  test("rows come in the order that is asked for, those without a value last, text by code point", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    const texts = ["b", "", "\uffee", "😀", "a", null, "B", "ab"]
    await table.insertAbsent(texts.map((text, index) => row(`${index}`, { text, small: index % 2 })))
    const ordered = async (...orderBy: (Order & { readonly column: "text" | "small" })[]) =>
      (await table.read({ columns: ["text", "small"], orderBy })).map(({ text }) => text)
    expect(await ordered({ column: "text" })).toEqual(["", "B", "a", "ab", "b", "\uffee", "😀", null])
    expect(await ordered({ column: "text", descending: true })).toEqual(["😀", "\uffee", "b", "ab", "a", "B", "", null])
    expect(await ordered({ column: "small", descending: true }, { column: "text" })).toEqual([
      "",
      "ab",
      "😀",
      null,
      "B",
      "a",
      "b",
      "\uffee",
    ])
  })

  test("limits and offsets cut an ordered answer", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    await table.insertAbsent(rowsNamed(10, (index) => ({ small: index })))
    const cut = async (limit: number | undefined, offset: number | undefined) => {
      const bounds = { ...(limit === undefined ? {} : { limit }), ...(offset === undefined ? {} : { offset }) }
      const rows = await table.read({ columns: ["small"], orderBy: [{ column: "small" }], ...bounds })
      return rows.map(({ small }) => small)
    }
    expect(await cut(3, undefined)).toEqual([0, 1, 2])
    expect(await cut(3, 8)).toEqual([8, 9])
    expect(await cut(0, undefined)).toEqual([])
    expect(await cut(5, 20)).toEqual([])
    expect(await table.read({ columns: ["id"], limit: 4 })).toHaveLength(4)
  })

  test("a read answers with the columns that it asked for, and within a time that is long enough", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    await table.insertAbsent([full])
    expect(await table.read({ columns: ["small", "id"] })).toEqual([{ small: -2147483648, id: "full" }])
    expect(await table.readWithin(60_000, { columns: ["id"], where: eq("id", "full") })).toEqual([{ id: "full" }])
  })

  test("rows come by the batch, and as columns, as they come at once", async () => {
    using place = make()
    const table = place.store.table(LINES)
    const given = Array.from({ length: 9000 }, (_line, number) =>
      line(number, number % 7 === 0 ? null : `line ${number}`),
    )
    await table.insertAbsent(given)
    const columns = ["group_id", "number", "text", "size", "at"] as const
    const batches = await Array.fromAsync(table.batches({ columns }))
    expect(batches.length).toBeGreaterThan(1)
    const byNumber = (one: { readonly number: number }, other: { readonly number: number }) => one.number - other.number
    expect(batches.flat().toSorted(byNumber)).toEqual(given)
    const asColumns = await Array.fromAsync(table.columnBatches({ columns: ["number", "text"] }))
    const rows = asColumns.flatMap((batch) => rowsOfColumns(LINES, batch)) as { number: number; text: string | null }[]
    expect(rows.toSorted(byNumber)).toEqual(given.map(({ number, text }) => ({ number, text })))
  })

  test("rows are taken by their keys, absent ones left out", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    await table.insertAbsent([row("a"), row("b"), row("a", { group_id: "other" })])
    expect(await table.takeByKey([], ["id"])).toEqual([])
    const keys = [
      { group_id: "g", id: "a" },
      { group_id: "other", id: "b" },
      { group_id: "other", id: "a" },
    ]
    const found = await table.takeByKey(keys, ["group_id", "id"])
    expect(found.map(({ group_id, id }) => `${group_id} ${id}`).toSorted()).toEqual(["g a", "other a"])
  })

  // --- Row numbers ---------------------------------------------------------------------------------------------------------

  test("rows are numbered in the order of storing, and keep their numbers", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    expect(await table.nextRowNumber()).toBe(0)
    await table.insertAbsent([row("a"), row("b")])
    await table.insertAbsent([row("b"), row("c")])
    expect(await table.nextRowNumber()).toBe(3)
    await table.maintain("all")
    const taken = await table.takeByNumber([2, 0, 9], ["id"])
    expect(taken.map(({ row: number, id }) => `${number} ${id}`).toSorted()).toEqual(["0 a", "2 c"])
    expect(await table.takeByNumber([], ["id"])).toEqual([])
    expect(sortedIds(await table.read({ columns: ["id"], where: stored(1) }))).toEqual(["b", "c"])
    expect(sortedIds(await table.read({ columns: ["id"], where: stored(0, 2) }))).toEqual(["a", "b"])
  })

  test("a scan by number gives rows, their numbers, and one text as bytes", async () => {
    using place = make()
    const table = place.store.table(LINES)
    const given = [line(0, "zero"), line(1, null), line(2, "two \ud83d"), line(3, "")]
    await table.insertAbsent(given)
    const found = await Array.fromAsync(table.scanByNumber({ from: 1, columns: ["number"], text: "text" }))
    const flat = found.flatMap(({ rows, numbers, text }) =>
      numbers.map((number, index) => {
        const size = (text.offsets[index + 1] ?? 0) - (text.offsets[index] ?? 0)
        return [number, rows[index]?.number, text.at(index), size] as const
      }),
    )
    expect(flat).toEqual([
      [1, 1, null, 0],
      [2, 2, "two \ud83d", 11],
      [3, 3, "", 0],
    ])
    const texts = found.flatMap((each) => textsOf(each.columns().columns["text"] as never))
    expect(texts).toEqual([null, "two \ud83d", ""])
    const bounded = await Array.fromAsync(
      table.scanByNumber({ from: 0, to: 3, columns: [], where: not(isNull("text")) }),
    )
    expect(bounded.flatMap(({ numbers }) => numbers)).toEqual([0, 2])
  })

  // --- Vectors -------------------------------------------------------------------------------------------------------------

  const VECTORS = [
    row("x", { near: Float32Array.of(1, 0, 0, 0) }),
    row("xx", { near: Float32Array.of(2, 0, 0, 0) }),
    row("xy", { near: Float32Array.of(1, 1, 0, 0) }),
    row("none"),
  ]
  const search = async (table: EveryKindTable, distance: "cosine" | "l2" | "dot") => {
    const query = { column: "near", vector: Float32Array.of(1, 0, 0, 0), distance, exact: true } as const
    const rows = await table.searchVector(query, { columns: ["id"], limit: 10 })
    return rows.map(({ id, _distance }) => [id, Number(_distance.toFixed(4))] as const)
  }

  test("a search by vector ranks by distance, without rows that have no vector", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    await table.insertAbsent(VECTORS)
    expect(await search(table, "l2")).toEqual([
      ["x", 0],
      ["xx", 1],
      ["xy", 1],
    ])
    expect(Object.fromEntries(await search(table, "cosine"))).toEqual({ x: 0, xx: 0, xy: 0.2929 })
    expect(Object.fromEntries(await search(table, "dot"))).toEqual({ xx: -1, x: 0, xy: 0 })
  })

  test("a filter narrows before the ranking, and a limit and an offset cut after it", async () => {
    using place = make()
    const table = place.store.table(EVERY_KIND)
    await table.insertAbsent([...rowsNamed(300, () => ({ near: Float32Array.of(1, 0, 0, 0) })), ...VECTORS])
    const query = { column: "near", vector: Float32Array.of(1, 0, 0, 0), distance: "l2" } as const
    const where = isIn("id", ["xx", "xy", "none"])
    expect(idsOf(await table.searchVector(query, { columns: ["id"], where, limit: 5 })).toSorted()).toEqual([
      "xx",
      "xy",
    ])
    expect(await table.searchVector(query, { columns: ["id"], where, limit: 5, offset: 1 })).toHaveLength(1)
  })
})
