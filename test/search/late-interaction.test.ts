import { expect, test } from "bun:test"
import type { Embedder, TokenVectors } from "../../src/embeddings/embedder.ts"
import { parseQuery } from "../../src/search/query-shape.ts"
import type { FusedHit } from "../../src/search/rank/fusion.ts"
import { rerankLate, scoreMaxSim } from "../../src/search/rank/rerank-late.ts"

/** Two directions: words that mean "car" and words that mean "food". */
const MEANINGS: Readonly<Record<string, readonly [number, number]>> = {
  automobile: [1, 0],
  vehicle: [1, 0],
  soup: [0, 1],
  meal: [0, 1],
}

function vectors(text: string): TokenVectors {
  const words = text.split(" ").filter(Boolean)
  const values = words.flatMap((word) => MEANINGS[word] ?? [Math.SQRT1_2, -Math.SQRT1_2])
  return { count: words.length, dimension: 2, values: Float32Array.from(values) }
}

function embedder(seen: string[] = []): Embedder {
  return {
    model: "two",
    dimension: 2,
    reranks: true,
    query: async () => new Float32Array(2),
    passages: async () => [],
    isForeign: async () => false,
    tokenVectors: async (texts) => {
      seen.push(...texts)
      return texts.map(vectors)
    },
    close: async () => undefined,
  }
}

function hit(messageId: string, text: string, score: number): FusedHit {
  const own = { sessionId: "s", messageId, ordinal: 0, role: "user", timestampMicros: 0n, text, score }
  return { hit: own, score, shares: [score] }
}

test("a text scores by the best of its tokens for each token of the query", () => {
  expect(scoreMaxSim(vectors("automobile"), vectors("a vehicle here"))).toBeCloseTo(1, 5)
  expect(scoreMaxSim(vectors("automobile soup"), vectors("vehicle"))).toBeCloseTo(0.5, 5)
  expect(scoreMaxSim(vectors("automobile"), vectors(""))).toBe(0)
  expect(scoreMaxSim(vectors(""), vectors("vehicle"))).toBe(0)
})

test("of two hits that words rank alike, the one that says the same comes first", async () => {
  const ranked = [hit("food", "the meal", 0.6), hit("car", "the vehicle", 0.55)]
  const reranked = await rerankLate(embedder(), parseQuery("automobile"), ranked)
  expect(reranked.map(({ hit: { messageId } }) => messageId)).toEqual(["car", "food"])
})

test("what words rank far above stays there, and every score stays between 0 and 1", async () => {
  const ranked = [hit("food", "the meal", 1), hit("car", "the vehicle", 0.5)]
  const reranked = await rerankLate(embedder(), parseQuery("automobile"), ranked)
  expect(reranked.map(({ hit: { messageId } }) => messageId)).toEqual(["food", "car"])
  for (const { score } of reranked) expect(score).toBeWithin(0, 1.000001)
})

test("hits that come first for another reason are read again too, such as those of the asker's own project", async () => {
  const ranked = Array.from({ length: 60 }, (_, at) =>
    hit(`m${at}`, at === 59 ? "vehicle" : `meal ${at}`, 0.6 - at / 1_000),
  )
  const placed = ranked.toReversed()
  const reranked = await rerankLate(embedder(), parseQuery("automobile"), ranked, placed)
  expect(reranked[0]?.hit.messageId).toBe("m59")
})

test("only the first hits are read again, and the others stay behind them in their order", async () => {
  const seen: string[] = []
  const ranked = Array.from({ length: 60 }, (_, at) =>
    hit(`m${at}`, at === 59 ? "vehicle" : `meal ${at}`, 1 - at / 100),
  )
  const reranked = await rerankLate(embedder(seen), parseQuery("automobile"), ranked)
  expect(seen).toHaveLength(21)
  expect(reranked.slice(20).map(({ hit: { messageId } }) => messageId)).toEqual(
    Array.from({ length: 40 }, (_, at) => `m${at + 20}`),
  )
  expect(reranked[19]?.score).toBeGreaterThanOrEqual(reranked[20]?.score ?? 1)
})
