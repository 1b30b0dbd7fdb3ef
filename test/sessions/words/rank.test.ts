/** Ranking against a look at every message: many messages, terms from the rarest to the commonest, filters of every width. */
import { expect, test } from "bun:test"
import { type Random, seededRandom } from "../../../src/platform/host/random.ts"
import { type Ranked, type RankedSegment, rank } from "../../../src/sessions/words/query/rank.ts"
import type { Documents } from "../../../src/sessions/words/segment/documents.ts"
import { encodePostings, type PostingList } from "../../../src/sessions/words/segment/postings.ts"

/** The share of messages that hold each term. */
const SHARES = [0.0005, 0.002, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7]
const TERMS = SHARES.map((share) => `t${share}`)
const PASSING = [undefined, 0.9, 0.3, 0.05, 0.002]

interface Made extends RankedSegment {
  readonly held: readonly ReadonlySet<string>[]
}

function made(own: Random, size: number, passingShare: number | undefined): Made {
  const lengths = Uint16Array.from({ length: size }, () =>
    own.next() < 0.1 ? 0 : 1 + Math.floor(-Math.log(1 - own.next()) * 40),
  )
  const held = Array.from(
    lengths,
    (length) => new Set(length === 0 ? [] : TERMS.filter((_, term) => own.next() < (SHARES[term] as number))),
  )
  const lists = new Map<string, PostingList>()
  for (const term of TERMS) {
    const numbers = Uint32Array.from(held.flatMap((terms, number) => (terms.has(term) ? [number] : [])))
    if (numbers.length > 0) lists.set(term, encodePostings(numbers, size))
  }
  const documents: Documents = {
    size,
    count: lengths.filter((length) => length > 0).length,
    tokens: lengths.reduce((sum, length) => sum + length, 0),
    lengths,
    texts: {},
    numbers: {},
  }
  const passing =
    passingShare === undefined
      ? undefined
      : Uint8Array.from({ length: size }, () => (own.next() < passingShare ? 1 : 0))
  return { documents, passing, lists, held }
}

/** BM25 as it stands in books. */
function everyScore(segments: readonly Made[], terms: readonly string[], every: boolean): Ranked[] {
  const count = segments.reduce((sum, { documents }) => sum + documents.count, 0)
  const mean = segments.reduce((sum, { documents }) => sum + documents.tokens, 0) / count
  const rarityOf = (term: string) => {
    const having = segments.reduce((sum, { held }) => sum + held.filter((own) => own.has(term)).length, 0)
    return Math.log((count - having + 0.5) / (having + 0.5) + 1)
  }
  const rarities = new Map(terms.map((term) => [term, rarityOf(term)]))
  return segments.flatMap(({ documents, passing, held }, segment) =>
    held.flatMap((own, number) => {
      const shared = terms.filter((term) => own.has(term))
      if (passing?.[number] === 0 || shared.length === 0 || (every && shared.length < terms.length)) return []
      const weight = 2.2 / (1 + 1.2 * (0.25 + (0.75 * (documents.lengths[number] ?? 0)) / mean))
      return [{ segment, number, score: weight * shared.reduce((sum, term) => sum + (rarities.get(term) ?? 0), 0) }]
    }),
  )
}

const bestFirst = (left: Ranked, right: Ranked) =>
  Math.abs(left.score - right.score) > 1e-4 ? right.score - left.score : 0

test.each(PASSING)("the best of many are those that a look at every message finds, where %p of them pass", (share) => {
  const own = seededRandom(11)
  const segments = [made(own, 6_000, share), made(own, 1_500, share), made(own, 60, share)]
  let compared = 0
  for (let round = 0; round < 40; round++) {
    const terms = TERMS.filter(() => own.next() < 0.35)
    for (const every of [false, true]) {
      const all = everyScore(segments, terms, every).toSorted(bestFirst)
      const scores = new Map(all.map(({ segment, number, score }) => [`${segment} ${number}`, score]))
      for (const limit of [10, 150]) {
        const found = rank(segments, terms, { every, limit })
        expect(found).toHaveLength(Math.min(limit, all.length))
        for (const [index, { segment, number, score }] of found.entries()) {
          expect(score).toBeCloseTo(all[index]?.score ?? 0, 3)
          expect(score).toBeCloseTo(scores.get(`${segment} ${number}`) ?? 0, 3)
        }
        compared += found.length
      }
    }
  }
  expect(compared).toBeGreaterThan(400)
})

test("of messages that count the same the newest are found", () => {
  const size = 4_000
  const numbersOf = (step: number) => Uint32Array.from({ length: size / step }, (_, index) => index * step)
  const lists = new Map([
    ["common", encodePostings(numbersOf(2), size)],
    ["rare", encodePostings(numbersOf(100), size)],
  ])
  const documents = {
    size,
    count: size,
    tokens: size * 9,
    lengths: new Uint16Array(size).fill(9),
    texts: {},
    numbers: {},
  }
  const found = (terms: string[], every: boolean) =>
    rank([{ documents, passing: undefined, lists }], terms, { every, limit: 3 }).map(({ number }) => number)
  expect(found(["common"], false)).toEqual([3_998, 3_996, 3_994])
  expect(found(["common"], true)).toEqual([3_998, 3_996, 3_994])
  expect(found(["common", "rare"], false)).toEqual([3_900, 3_800, 3_700])
  expect(found(["common", "rare"], true)).toEqual([3_900, 3_800, 3_700])
  expect(found(["common", "absent"], true)).toEqual([])
})
