/** Which rows a damaged fragment held, by the numbers in its manifest: `check` counts its rows by them. */
import { expect, test } from "bun:test"
import { withoutDamaged } from "../../src/substrate/local/manifest-edit.ts"

/** A field of a protobuf message that holds bytes. All of these are shorter than 128. */
const bytes = (field: number, content: Uint8Array) => Buffer.from([(field << 3) | 2, content.length, ...content])
const number = (field: number, value: number) => Buffer.from([field << 3, value])
const shorts = (...values: readonly number[]) => Buffer.from(new Uint8Array(new Uint16Array(values).buffer))
const longs = (...values: readonly bigint[]) => Buffer.from(new Uint8Array(new BigUint64Array(values).buffer))

/** A manifest of one fragment, whose rows have these numbers (`lance.table.RowIdSequence`). */
function manifestOf(...segments: readonly Buffer[]): Buffer {
  const sequence = Buffer.concat(segments.map((segment) => bytes(1, segment)))
  const file = bytes(2, bytes(1, Buffer.from("a.lance")))
  const fragment = Buffer.concat([number(1, 0), file, number(4, 9), bytes(5, sequence)])
  const message = bytes(2, fragment)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(message.length)
  const end = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, ...Buffer.from("LANC")])
  return Buffer.concat([length, message, end])
}

test.each([
  ["a range", bytes(1, Buffer.concat([number(1, 3), number(2, 9)])), [[3, 9]]],
  [
    "a list of small numbers",
    bytes(5, bytes(1, Buffer.concat([number(1, 100), bytes(2, shorts(4, 0, 9))]))),
    [[100, 110]],
  ],
  ["a list of large numbers", bytes(5, bytes(3, bytes(1, longs(7n, 40n)))), [[7, 41]]],
])("%s", (_, segment, ranges) => {
  const { lost } = withoutDamaged(manifestOf(segment), (path) => path === "data/a.lance")
  expect(lost).toEqual([{ files: ["data/a.lance"], rows: 9, ranges: ranges as never }])
})
