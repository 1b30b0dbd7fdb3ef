/**
 * Late interaction (MaxSim; ColBERT, Khattab and Zaharia 2020): scores a text by how near each token of the query comes
 * to any token of the text. It needs no stored vectors: the few best hits are embedded when they are asked for.
 */
import type { TokenVectors } from "../../embeddings/embedder.ts"

/** Mean over the query's tokens of the greatest cosine with a token of the text. */
export function scoreMaxSim(query: TokenVectors, text: TokenVectors): number {
  const { dimension } = query
  if (query.count === 0 || text.count === 0) return 0
  let sum = 0
  for (let token = 0; token < query.count; token++) {
    const from = token * dimension
    let best = -1
    for (let other = 0; other < text.count; other++) {
      const at = other * dimension
      let cosine = 0
      for (let place = 0; place < dimension; place++)
        cosine += (query.values[from + place] as number) * (text.values[at + place] as number)
      if (cosine > best) best = cosine
    }
    sum += best
  }
  return sum / query.count
}
