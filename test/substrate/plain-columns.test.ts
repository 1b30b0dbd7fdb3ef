import { expect, test } from "bun:test"
import { createKeySet } from "../../src/platform/key-set.ts"
import { columnsOf, keyHashes, valuesOf } from "../../src/substrate/plain-columns.ts"
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
  const keys = createKeySet()
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
