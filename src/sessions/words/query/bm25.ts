/** The statistics of BM25 over all segments: how rare each term is, and how much a term weighs in a message of a length. */
import { type Documents, LENGTH_MAX } from "../segment/documents.ts"
import type { PostingList } from "../segment/postings.ts"

const K1 = 1.2
const B = 0.75

interface IndexedDocuments {
  readonly documents: Documents
  readonly lists: ReadonlyMap<string, PostingList>
}

interface Statistics {
  /** Inverse document frequency of the terms that occur. */
  readonly idfs: ReadonlyMap<string, number>
  /** BM25's length normalization, by message length in terms. */
  readonly weights: Float64Array
}

export function computeStatistics(segments: readonly IndexedDocuments[], terms: readonly string[]): Statistics {
  const all = segments.reduce((sum, { documents }) => sum + documents.count, 0)
  const tokens = segments.reduce((sum, { documents }) => sum + documents.tokens, 0)
  const mean = tokens / Math.max(1, all) || 1
  const idfs = new Map<string, number>()
  for (const term of terms) {
    const having = segments.reduce((sum, { lists }) => sum + (lists.get(term)?.count ?? 0), 0)
    if (having > 0) idfs.set(term, Math.log((all - having + 0.5) / (having + 0.5) + 1))
  }
  return { idfs, weights: lengthWeights(mean) }
}

let known = { mean: Number.NaN, weights: new Float64Array() }

/**
 * For all possible lengths, because finding the longest of a million messages would take longer. Cached for the next
 * query.
 */
function lengthWeights(mean: number): Float64Array {
  if (known.mean === mean) return known.weights
  const weights = new Float64Array(LENGTH_MAX + 1)
  for (let length = 0; length <= LENGTH_MAX; length++)
    weights[length] = (K1 + 1) / (1 + K1 * (1 - B + (B * length) / mean))
  known = { mean, weights }
  return weights
}

/** Covers rounding: bounds are compared with sums of many rounded numbers. */
export const ROUNDING = 1.0001

/** The weight of the shortest message. */
export function weightMax(weights: Float64Array): number {
  return (weights[0] ?? 0) * ROUNDING
}

/** The most that the terms can add to a score. */
export function upperBound(terms: readonly { readonly idf: number }[], weights: Float64Array): number {
  const most = weightMax(weights)
  let sum = 0
  for (const { idf } of terms) sum += idf * most
  return sum
}
