/** Who holds one of each clause, against a look at every message: lists of every width, filters, and what is not known. */
import { expect, test } from "bun:test"
import { seededRandom } from "../../../src/platform/host/random.ts"
import { matchClauses } from "../../../src/sessions/words/query/matching.ts"
import { encodePostings, type PostingList } from "../../../src/sessions/words/segment/postings.ts"

const SHARES = [0, 0.002, 0.01, 0.03, 0.1, 0.5, 1]

test("who holds one term of each clause is who a look at every message finds", () => {
  const own = seededRandom(11)
  let found = 0
  for (let round = 0; round < 300; round++) {
    const size = 1 + Math.floor(own.next() * 900)
    const numbers = Array.from({ length: size }, (_, number) => number)
    const passing = round % 3 === 0 ? undefined : Uint8Array.from(numbers, () => (own.next() < 0.6 ? 1 : 0))
    const clauses = Array.from({ length: 1 + Math.floor(own.next() * 4) }, () => {
      const held = Array.from({ length: Math.floor(own.next() * 4) }, () => {
        const share = SHARES[Math.floor(own.next() * SHARES.length)] ?? 0
        return Uint32Array.from(numbers.filter(() => own.next() < share))
      })
      const lists = held.filter((each) => each.length > 0).map((each): PostingList => encodePostings(each, size))
      return { held, lists, ...(own.next() < 0.3 ? { from: Math.floor(own.next() * size * 1.2) } : {}) }
    })
    const want = numbers.filter(
      (number) =>
        passing?.[number] !== 0 &&
        clauses.every(({ held, from = size }) => number >= from || held.some((each) => each.includes(number))),
    )
    expect([...matchClauses({ size, passing }, clauses)], `round ${round}`).toEqual(want)
    found += want.length
  }
  expect(found).toBeGreaterThan(1_000)
})
