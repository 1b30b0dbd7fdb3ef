/** What the engine sends is read as Arrow's own library reads it. */
import { expect, test } from "bun:test"
import { engine } from "../../src/substrate/lance/engine.ts"

const { tableFromIPC, tableToIPC, Table, vectorFromArray, DateDay } = engine().arrow

import { answerOfRecord, readAnswer, schemaMetadata } from "../../src/substrate/columns/answer.ts"
import { arrowTable, columnsOfAnswer, rowsOf } from "../../src/substrate/columns/arrow-rows.ts"
import { columnsOf } from "../../src/substrate/columns/column-batch.ts"
import {
  type AnyRow,
  bytes,
  defineTable,
  int32,
  nullable,
  type TableDefinition,
} from "../../src/substrate/table-definition.ts"
import { EVERY_KIND, row, SCANNED } from "./support.ts"

const ROWS = [
  row("a", { text: "ä\ud800", small: -7, large: 2n ** 53n + 1n, ratio: 0.5, is_set: true, at: -1n }),
  row("b", { near: Float32Array.of(1, 0.5, -2, 0), payload: Uint8Array.of(1, 2, 3) }),
  ...Array.from({ length: 20 }, (_, at) => row(`c${at}`, { text: "x".repeat(at), is_set: at % 3 === 0 })),
]

const TABLE = EVERY_KIND as unknown as TableDefinition

/** A file as the engine writes it. */
function sent(definition: TableDefinition, rows: readonly AnyRow[]): Buffer {
  return Buffer.from(tableToIPC(arrowTable(definition, columnsOf(definition, rows)) as never, "file"))
}

test("every kind of column is read as it was sent, null by null", () => {
  const file = sent(TABLE, ROWS)
  const own = readAnswer(file)
  const [record] = tableFromIPC(file).batches
  if (record === undefined) throw new Error("the file is empty")
  expect(own.names).toEqual(Object.keys(EVERY_KIND.columns))
  expect(rowsOf(TABLE, own)).toEqual(rowsOf(TABLE, answerOfRecord(record)))
  expect(rowsOf(TABLE, own)).toEqual(ROWS.map((each) => ({ ...each, payload: each.payload && undefined })))
  const named = SCANNED.filter((name) => name !== "near")
  expect(columnsOfAnswer(TABLE, own, named)).toEqual(columnsOfAnswer(TABLE, answerOfRecord(record), named))
  expect(schemaMetadata(file)).toEqual(new Map(tableFromIPC(file).schema.metadata))
  expect(schemaMetadata(file).size).toBeGreaterThan(0)
})

test("bytes of a row are its own, and nothing of what was sent is kept for them", () => {
  const columns = { id: int32(), content: nullable(bytes()) }
  const made = defineTable({ name: "bytes", columns, key: ["id"], indexes: [], schemaVersion: 1 })
  const definition = made as unknown as TableDefinition
  const file = sent(definition, [
    { id: 1, content: Uint8Array.of(1, 2, 3) },
    { id: 2, content: Uint8Array.of(4, 5) },
  ])
  const found = rowsOf(definition, readAnswer(file)).map(({ content }) => content as Uint8Array)
  file.fill(0)
  expect(found).toEqual([Uint8Array.of(1, 2, 3), Uint8Array.of(4, 5)])
  expect(found.map(({ byteOffset, buffer }) => [byteOffset, buffer.byteLength])).toEqual([
    [0, 3],
    [0, 2],
  ])
})

test("what is no such file, or holds a type that pond does not use, is refused", () => {
  expect(() => readAnswer(Buffer.from("not what the engine sends"))).toThrow("Arrow IPC files")
  const other = Buffer.from(tableToIPC(new Table({ day: vectorFromArray([new Date(0)], new DateDay()) }), "file"))
  expect(() => readAnswer(other)).toThrow("is not of the type")
})
