import { expect, test } from "bun:test"
import { type Random, seededRandom } from "../../../src/platform/host/random.ts"
import { commonPrefix, createFuzzyMatcher, matchLines } from "../../../src/sessions/words/query/fuzzy.ts"
import { compare } from "../../../src/sessions/words/terms/tokenizer.ts"

/** The distance of Levenshtein, as it is written down. */
function apartness(one: string, other: string): number {
  let before = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const changed = (before[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1)
      current.push(Math.min(changed, (before[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    before = current
  }
  return before.at(-1) ?? 0
}

const LETTERS = "abcñ猫"
const someWord = (own: Random, letters: number) =>
  Array.from({ length: 1 + Math.floor(own.next() * letters) }, () => LETTERS[Math.floor(own.next() * 5)]).join("")

test("how far two words are apart counts letters, and words of other scripts are looked at as well", () => {
  const lines = ["kitten", "mitten", "sitting", "кошка", "кашка", "猫"].join("\n")
  const found = (word: string, most: number) => matchLines(lines, createFuzzyMatcher(word, most))
  expect(found("kitten", 1)).toEqual([
    { like: "kitten", apart: 0 },
    { like: "mitten", apart: 1 },
  ])
  expect(found("kitten", 3).at(-1)).toEqual({ like: "sitting", apart: 3 })
  expect(found("кошка", 1).map(({ like }) => like)).toEqual(["кошка", "кашка"])
})

test("whatever was looked at before, those within the distance are found, with how far they are", () => {
  const own = seededRandom(11)
  let [near, far] = [0, 0]
  for (let round = 0; round < 60; round++) {
    const [sought, most] = [someWord(own, 12), 1 + (round % 2)]
    const terms = Array.from({ length: 300 }, () => someWord(own, 10))
    // In order, as they lie in a store, and out of it.
    const lines = round % 3 === 0 ? terms : terms.sort(compare)
    const nearness = createFuzzyMatcher(sought, most)
    const wanted = lines.map((like) => ({ like, apart: apartness(like, sought) })).filter(({ apart }) => apart <= most)
    expect(matchLines(lines.join("\n"), nearness)).toEqual(wanted)
    near += wanted.length
    far += lines.length - wanted.length
  }
  expect(near).toBeGreaterThan(100)
  expect(far).toBeGreaterThan(1_000)
})

test("a block is passed over only where none of its terms can be near the word", () => {
  const own = seededRandom(5)
  let passedOver = 0
  for (let round = 0; round < 300; round++) {
    const [sought, most] = [someWord(own, 8), round % 3]
    const terms = Array.from({ length: 400 }, () => someWord(own, 8)).sort(compare)
    const start = commonPrefix(terms[4] ?? "", terms[9] ?? "")
    const mayBegin = createFuzzyMatcher(sought, most).mayStartWith(start)
    for (const term of terms.slice(4, 10)) {
      expect(term).toStartWith(start)
      if (apartness(term, sought) <= most) expect(mayBegin).toBe(true)
    }
    passedOver += Number(!mayBegin)
  }
  expect(passedOver).toBeGreaterThan(50)
})
