/**
 * The test of a model that is about to be used: of three queries, each must be nearest to the passage that says the same
 * in other words. A model that is pooled or asked wrongly, or is no embedding model, fails it.
 */
import { PondError } from "../model/errors.ts"
import type { Embedder } from "./embedder.ts"
import type { KnownModel } from "./known-models.ts"

type Pair = readonly [query: string, passage: string]

const ENGLISH: readonly Pair[] = [
  ["migration of our storage backend", "We moved the data to the new database over the weekend."],
  ["a small cat takes a nap", "The kitten sleeps on the rug."],
  ["stock market reaction of financial companies", "Shares of banks fell after the rate decision."],
]

const CHINESE: readonly Pair[] = [
  ["存储后端的迁移", "周末我们把数据搬到了新的数据库。"],
  ["一只小猫在打盹", "小猫睡在地毯上。"],
  ["金融公司的股市反应", "利率决定之后，银行股下跌了。"],
]

export interface PairsResult {
  readonly passed: number
  readonly of: number
}

export async function testOnPairs(embedder: Embedder, known: KnownModel | undefined): Promise<PairsResult> {
  const pairs = known?.languages === "Chinese" ? CHINESE : ENGLISH
  const passages = (await embedder.passages(pairs.map(([, passage]) => passage))).map(([first]) => first)
  let passed = 0
  for (const [at, [query]] of pairs.entries()) {
    const asked = await embedder.query(query)
    const scores = passages.map(
      (vector) => vector?.reduce((sum, value, index) => sum + value * (asked[index] ?? 0), 0) ?? 0,
    )
    const others = scores.filter((_, index) => index !== at)
    if ((scores[at] ?? 0) > Math.max(...others)) passed += 1
  }
  if (passed === pairs.length) return { passed, of: pairs.length }
  throw new PondError(
    "validation_failed",
    `The model ${embedder.model} does not work: of ${pairs.length} queries, ${passed} found the passage that says the same. Its pooling or prefixes are wrong, or it is not an embedding model; see \`pond help embeddings\`.`,
    { details: { model: embedder.model, passed, of: pairs.length } },
  )
}
