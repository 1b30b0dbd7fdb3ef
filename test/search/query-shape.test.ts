import { expect, test } from "bun:test"
import { cutSnippet } from "../../src/search/answer/snippet.ts"
import { parseQuery } from "../../src/search/query-shape.ts"

test.each<[string, string[], string[]]>([
  ['why did "cannot find module" come up', ["cannot find module"], []],
  ["rename createStringifyOpts please", [], ["createStringifyOpts"]],
  ["max_token_length is ignored", [], ["max_token_length"]],
  ["look at src/services/auth/login.ts, line 3", [], ["src/services/auth/login.ts"]],
  ["what is E0308?", [], ["E0308"]],
  ["commit 9f3c2ab broke --json-output", [], ["9f3c2ab", "--json-output"]],
  ["std::collections::HashMap", [], ["std::collections::HashMap"]],
  ["plain words of a person", [], []],
  ["数据库 移行", [], []],
  ['"unbalanced', [], []],
])("%s", (query, quoted, identifiers) => {
  const shape = parseQuery(query)
  expect({ quoted: shape.quoted, identifiers: shape.identifiers }).toEqual({ quoted, identifiers })
})

test("a long text is shown where most of what was asked for stands", () => {
  const text = `${"filler ".repeat(500)}the database migration failed here${" filler".repeat(500)}`
  const shown = cutSnippet(text, { terms: ["database", "migration"] }, 200)
  expect(shown.isCut).toBe(true)
  expect(shown.text).toContain("the database migration failed here")
  expect(shown.text.length).toBeLessThanOrEqual(200)
  expect(cutSnippet("short", { terms: ["x"] }, 200)).toEqual({ text: "short", isCut: false })
  expect(cutSnippet("🚀".repeat(300), { terms: ["x"] }, 101).text.isWellFormed()).toBe(true)
})

test.each([
  ["quotes that stay open", "“".repeat(100_000)],
  ["signs before a letter", `${".".repeat(99_999)}x`],
  ["one endless word", `${"a".repeat(99_999)}!`],
  ["as many paths as there is room for", "a/b ".repeat(25_000)],
])("the shape of 100 KB is seen by reading it about once: %s", (_, query) => {
  const began = performance.now()
  const shape = parseQuery(query)
  expect(shape.quoted).toEqual([])
  // What reads it once takes a hundredth of this; what goes back for each character took forty seconds.
  expect(performance.now() - began).toBeLessThan(5_000)
})
