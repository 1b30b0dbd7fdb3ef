/** What is marked of a hit, whatever was asked for. */
import { expect, test } from "bun:test"
import fc from "fast-check"
import { excerpt, highlightMatches, patternOf } from "../../src/cli/render/highlight.ts"

const markedIn = (line: string, query: string, mode?: string) =>
  highlightMatches(line, patternOf(query, mode), (found) => `<${found}>`)

test("words with signs in them are marked as they stand there, also to the letter", () => {
  expect(markedIn("into git-sync at v1.2/x", "git-sync")).toBe("into <git-sync> at v1.2/x")
  expect(markedIn("it needs no-thin here", '"no-thin" capability')).toBe("it needs <no-thin> here")
  expect(markedIn("see a-b(c) | d", "a-b(c) |", "exact")).toBe("see <a-b(c) |> d")
  expect(markedIn("charging it", "charged")).toBe("<charging> it")
  expect(markedIn("any [a-c] here", "[a-c]", "pattern")).toBe("<a>ny [<a>-<c>] here")
})

test("of a pattern that could take for ever here, the words are marked", () => {
  expect(markedIn("said hello! then", "([a-z]+ ?)+hello!", "pattern")).toBe("said <hello>! then")
  expect(markedIn("one two one", "(one).*\\1", "pattern")).toBe("<one> two <one>")
  expect(markedIn("v1.22.333 here", "\\d+\\.\\d+", "pattern")).toBe("v<1.22>.333 here")
  expect(markedIn("ab cd [x]", "(ab|cd)? \\[[^(+]\\]", "pattern")).toBe("ab <cd [x]>")
  expect(markedIn("abcabc of it", "(abc){2}", "pattern")).toBe("<abc><abc> of it")
  const long = `${"word ".repeat(300)}1-2`
  expect(markedIn(long, "\\d+-\\d+", "pattern")).toEndWith("word <1-2>")
  const looked = { width: Number.POSITIVE_INFINITY, linesMax: 2 }
  expect(excerpt(`one\ntwo\nthree\n${long}`, patternOf("\\d+-\\d+", "pattern"), looked)).toEqual(["… three", long])
})

test("no query keeps a hit from being shown", () => {
  const sign = fc.constantFrom(..."\\^$.*+?()[]{}|/-\"'&~#<>=!:,@% \t", "\n", "é", "録", "😀", "\ud800", "a", "Z", "0")
  const query = fc.string({ unit: sign, maxLength: 12 })
  fc.assert(
    fc.property(query, fc.constantFrom(undefined, "auto", "exact"), (asked, mode) => {
      const pattern = patternOf(asked, mode)
      expect(highlightMatches("any - text", pattern, (found) => found)).toBe("any - text")
      expect(excerpt("any - text", pattern, { width: 80, linesMax: 4 })).toEqual(["any - text"])
    }),
  )
})
