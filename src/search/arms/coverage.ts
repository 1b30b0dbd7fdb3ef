/**
 * How much of a query the best of some texts has: its share of the query's words, each weighed by how rare it is in the
 * store. A ranking gives its best hit the full score, and cannot tell that it shares nothing but "the" with the query.
 */
import type { Sessions } from "../../sessions/store.ts"
import { indexTerms, queryTerms } from "../../sessions/words/terms/tokenizer.ts"

const TEXTS_MAX = 20
/** Of each text. */
const UNITS_MAX = 12_000

/** 0 to 1. The first texts should be the best: others are not read. */
export async function coverageOf(sessions: Sessions, query: string, texts: readonly string[]): Promise<number> {
  // Stems of a word are no words that somebody asked for.
  const terms = queryTerms(query).filter((term) => !/[*~]$/.test(term))
  const { messages, of } = await sessions.words.frequencies(terms)
  const weights = new Map(terms.map((term) => [term, rarityOf(of.get(term) ?? 0, messages)]))
  const whole = [...weights.values()].reduce((sum, weight) => sum + weight, 0)
  if (whole === 0) return 0
  const held = texts.slice(0, TEXTS_MAX).map((text) => {
    const own = new Set(indexTerms(text.slice(0, UNITS_MAX)))
    return [...weights].reduce((sum, [term, weight]) => sum + (own.has(term) ? weight : 0), 0)
  })
  return Math.max(0, ...held) / whole
}

/** Inverse document frequency, as BM25 has it. */
function rarityOf(documents: number, all: number): number {
  return Math.log(1 + (all - documents + 0.5) / (documents + 0.5))
}
