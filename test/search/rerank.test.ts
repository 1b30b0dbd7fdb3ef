import { expect, test } from "bun:test"
import { type Random, seededRandom } from "../../src/platform/host/random.ts"
import { scoreOpenings } from "../../src/search/rank/rerank.ts"
import { indexTerms, queryTerms } from "../../src/sessions/words/terms/tokenizer.ts"

const PIECES = [
  ...[
    "sessions",
    "sess",
    "ab",
    "ab_cd",
    "abcd",
    "Login",
    "HTTPServer",
    "parse_all",
    "__init__",
    "c++",
    "c#",
    "-z",
    "--flag",
    "v2",
  ],
  ...["deadbeef12", "10:36", "login.ts", "a/b", "größe", "数据库", "Ünder", "x".repeat(70), "🎉", "ſtill"],
]
const SIGNS = [" ", " ", " ", ".", "/", "-", ":", "_", "", "\n", ", "]

function text(own: Random, count: number): string {
  const piece = (from: readonly string[]) => from[Math.floor(own.next() * from.length)] ?? ""
  return Array.from({ length: count }, () => `${piece(PIECES)}${piece(SIGNS)}`).join("")
}

test("an opening counts for every term of the query that it is indexed by, and for no other", () => {
  const own = seededRandom(17)
  let [some, none] = [0, 0]
  for (let round = 0; round < 400; round++) {
    const terms = queryTerms(text(own, 1 + (round % 3)).slice(0, 60))
    const openings = Array.from({ length: 12 }, () => text(own, 1 + Math.floor(own.next() * 8)))
    const held = openings.map((opening) => {
      const indexed = new Set(indexTerms(opening.slice(0, 120)))
      return terms.filter((term) => indexed.has(term))
    })
    const rarity = (term: string) => {
      const having = held.filter((each) => each.includes(term)).length
      return Math.log((openings.length - having + 0.5) / (having + 0.5) + 1)
    }
    const wanted = held.map((each) => each.reduce((sum, term) => sum + rarity(term), 0))
    const weighed = scoreOpenings(terms, openings)
    for (const [at, score] of weighed.entries()) expect(score).toBeCloseTo(wanted[at] ?? -1, 9)
    some += wanted.filter((score) => score > 0).length
    none += wanted.filter((score) => score === 0).length
  }
  expect(Math.min(some, none)).toBeGreaterThan(500)
})
