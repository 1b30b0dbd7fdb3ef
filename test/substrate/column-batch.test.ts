import { expect, test } from "bun:test"
import { FingerprintSet } from "../../src/platform/fingerprint-set.ts"
import { textColumn } from "../../src/substrate/columns/batch-cells.ts"
import {
  areSameRows,
  type ColumnValues,
  columnsOf,
  keyHashes,
  repeatedTexts,
  valuesOf,
} from "../../src/substrate/columns/column-batch.ts"
import { batchOfRows } from "../../src/substrate/columns/row-batch.ts"
import { defineTable, int32, int64, utf8 } from "../../src/substrate/table-definition.ts"

const THINGS = defineTable({
  name: "things",
  schemaVersion: 1,
  columns: { session: utf8(), id: utf8(), piece: int32(), size: int64() },
  key: ["session", "id", "piece"],
  indexes: [],
})

function hashesOf(rows: readonly { session: string; id: string; piece: number }[]): Uint32Array {
  return keyHashes(valuesOf(columnsOf(THINGS, rows, THINGS.key)), rows.length)
}

test("keys that differ have hashes that differ, and the same key has the same", () => {
  const keys = new FingerprintSet()
  const rows = Array.from({ length: 40_000 }, (_, at) => ({ session: `s${at % 72}`, id: `m${at >> 1}`, piece: at & 1 }))
  const hashes = hashesOf(rows)
  const add = (at: number) => keys.addHash(hashes[2 * at] ?? 0, hashes[2 * at + 1] ?? 0)
  const half = Array.from({ length: 20_000 }, (_, at) => at)
  expect(half.every(add)).toBe(true)
  expect(half.some(add)).toBe(false)
  expect(half.every((at) => add(at + 20_000))).toBe(true)
})

test("the hashes of a key are those of its values, wherever it stands, and tell where one value ends", () => {
  const [first, second] = [
    { session: "ab", id: "c", piece: 1 },
    { session: "a", id: "bc", piece: 1 },
  ]
  const hashes = [...hashesOf([first, second, first])]
  expect(hashes.slice(0, 2)).toEqual(hashes.slice(4))
  expect(hashes.slice(0, 2)).not.toEqual(hashes.slice(2, 4))
  expect([...hashesOf([{ ...first, id: "ü" }])]).toEqual([...hashesOf([{ ...first, id: "ü" }])])
})

/** Runs of one text, longer and shorter than what is compared at once, beside others that are as long or that begin so. */
const RUNS = [
  ["aa", 130],
  ["ab", 1],
  ["aa", 63],
  ["aab", 65],
  ["", 64],
  ["ü", 200],
  ["aa", 2],
  ["bb", 129],
  ["b", 1],
] as const
const TEXTS = RUNS.flatMap(([text, times]) => Array.from({ length: times }, () => text))

const ORDERS: readonly (readonly [string, readonly number[]])[] = [
  ["one after the other", TEXTS.map((_, row) => row)],
  ["from the last", TEXTS.map((_, row) => TEXTS.length - 1 - row)],
  ["each twice, and with leaps", TEXTS.flatMap((_, row) => [row, (row * 37) % TEXTS.length, row])],
]

test.each(ORDERS)("which texts repeat the one before them is told right: %s", (_, order) => {
  const rows = TEXTS.map((session, piece) => ({ session, id: "", piece, size: 0n }))
  const isRepeated = repeatedTexts(columnsOf(THINGS, rows, ["session"]).columns["session"] as ColumnValues)
  const column = textColumn(batchOfRows(THINGS as never, rows), "session")
  const wanted = order.map((row) => row > 0 && TEXTS[row] === TEXTS[row - 1])
  expect(wanted).toContain(true)
  expect(order.map(isRepeated)).toEqual(wanted)
  expect(order.map(column.isRepeated)).toEqual(wanted)
  expect(order.map(column.at)).toEqual(order.map((row) => TEXTS[row] as string))
})

test("rows are the same from one row on, whatever stands before", () => {
  const rows = (first: number, ...pieces: readonly number[]) =>
    [first, ...pieces].map((piece, at) => ({ session: "s", id: `m${at}`, piece, size: BigInt(piece) }))
  const batch = (...all: Parameters<typeof rows>) => columnsOf(THINGS, rows(...all), ["piece", "size"])
  expect(areSameRows(batch(1, 5, 6), 1, batch(2, 5, 6), 1, 2)).toBe(true)
  expect(areSameRows(batch(1, 5, 6), 1, batch(1, 5, 7), 1, 2)).toBe(false)
  expect(areSameRows(batch(1, 5, 6), 2, batch(6, 1, 1), 0, 1)).toBe(true)
  expect(areSameRows(batch(1, 5, 6), 2, batch(1, 1, 6), 1, 1)).toBe(false)
})
