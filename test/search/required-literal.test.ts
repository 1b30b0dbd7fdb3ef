import { expect, test } from "bun:test"
import { seededRandom } from "../../src/platform/host/random.ts"
import { requiredLiteral } from "../../src/search/exact/timeline.ts"

test.each<[string, string | undefined]>([
  ["kermition \\w+", "kermition "],
  ["^error: .* at line \\d+$", " at line "],
  ["ab+c", "ab"],
  ["colou?r", "colo"],
  ["v1\\.4\\.4", "v1.4.4"],
  ["[a-z]+_id", "_id"],
  ["\\w+", undefined],
  ["a*", undefined],
  ["", undefined],
  // What is not read, and what is wrong, is the engine's.
  ["one|another", undefined],
  ["(?i)error", undefined],
  ["(maybe)?this", undefined],
  ["x{0}yes", undefined],
  ["\\x41bc", undefined],
  ["\\pLabc", undefined],
  ["a**", undefined],
  ["^*abc", undefined],
  ["abc[z-a]", undefined],
  ["abc[", undefined],
  ["abc)", undefined],
  ["abc\\", undefined],
  ["\ud83d!", undefined],
])("every text that %j matches holds %j", (pattern, want) => {
  expect(requiredLiteral(pattern)).toBe(want as never)
})

test("no text without the literal of a pattern is matched by it", () => {
  const own = seededRandom(3)
  const pick = (from: readonly string[]) => from[Math.floor(own.next() * from.length)] ?? ""
  const pieces = ["a", "b", "ab", " ", "\\w", "\\.", ".", "[ab]", "\\b", "🚀"]
  let checked = 0
  for (let round = 0; round < 4_000; round++) {
    const pattern = Array.from({ length: 1 + Math.floor(own.next() * 5) }, () => {
      const piece = pick(pieces)
      return piece === "\\b" ? piece : piece + pick(["", "", "", "*", "+", "?", "+?"])
    }).join("")
    const literal = requiredLiteral(pattern)
    if (literal === undefined) continue
    const text = Array.from({ length: 10 }, () => pick(["a", "b", " ", ".", "🚀", "x"])).join("")
    if (!new RegExp(pattern, "u").test(text)) continue
    checked += 1
    expect(text.includes(literal), `${pattern} in ${text}`).toBe(true)
  }
  expect(checked).toBeGreaterThan(500)
})
