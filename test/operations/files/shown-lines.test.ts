import { expect, test } from "bun:test"
import { shownLines } from "../../../src/operations/files/shown-lines.ts"

function shown(text: string): string[] {
  return ["one();", 'two("x")'].filter((line) => shownLines(text).includes(line))
}

test.each([
  ["plain", '  one();\n\ttwo("x")\n'],
  ["numbered", '     1→one();\n    12→two("x")'],
  ["inside a JSON document", JSON.stringify({ files: [{ content: '  one();\n\ttwo("x")\n' }], total_lines: 2 })],
  ["numbered inside a JSON document", JSON.stringify({ content: '1|one();\n2|two("x")' })],
  [
    "inside a JSON document that was cut off",
    JSON.stringify({ content: 'zero\n\tone();\n  two("x")\nthree' }).slice(0, -4),
  ],
])("lines that a result shows are seen: %s", (_, text) => {
  expect(shown(text)).toEqual(["one();", 'two("x")'])
})

test("what stands in no line of its own is not shown as one", () => {
  expect(shown("one(); two()")).toEqual([])
})
