import { expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { chunksOf, createLineShelf, type Line } from "../../src/platform/files/long-lines.ts"
import { tempFolder } from "../support/temp-folder.ts"

const LINES: Line[] = [
  ...["", "one", "zwei ü", "三", "🌸 four", `long ${"x".repeat(3_000)}`, "five\r"],
  ...[Uint8Array.from([0xff, 0xfe, 65]), Uint8Array.from([66]), new Uint8Array(), "last"],
]

test.each([1, 10, 100, 1_000, 1_000_000])("lines come back as they were, %d units of them held", (heldUnits) => {
  using place = tempFolder()
  using shelf = createLineShelf({ path: `${place.path}/below/lines`, heldUnits })
  const [lines, others] = [shelf.newLines(), shelf.newLines()]
  for (const [index, line] of LINES.entries()) {
    lines.push(line)
    others.push(`other ${index}`)
    expect(lines.length).toBe(index + 1)
    expect([...lines]).toEqual(LINES.slice(0, index + 1))
  }
  const bytes = Buffer.concat([...lines.chunks()])
  expect(bytes).toEqual(Buffer.concat([...chunksOf(LINES)]))
  expect(lines.byteLength()).toBe(bytes.length)
  expect([...others]).toEqual(LINES.map((_, index) => `other ${index}`))
  // As often as they are asked for, also at once.
  const [one, two] = [lines[Symbol.iterator](), lines[Symbol.iterator]()]
  for (const line of LINES) expect([one.next().value, two.next().value]).toEqual([line, line])
})

test("lines that are longer than what is read at once are whole", () => {
  using place = tempFolder()
  using shelf = createLineShelf({ path: `${place.path}/lines`, heldUnits: 1 })
  const lines = shelf.newLines()
  const long = ["a".repeat(3_000_000), "ü".repeat(700_000), "b".repeat((1 << 20) - 1), "c"]
  for (const line of long) lines.push(line)
  expect([...lines].map((line) => Bun.hash(line))).toEqual(long.map((line) => Bun.hash(line)))
})

test("nothing of them lies where anybody finds it, however many they are", () => {
  using place = tempFolder()
  using shelf = createLineShelf({ path: `${place.path}/lines`, heldUnits: 1 })
  const lines = shelf.newLines()
  for (let number = 0; number < 100; number++) lines.push(`line ${number}`)
  expect(readdirSync(place.path)).toEqual([])
  expect([...lines]).toHaveLength(100)
})
