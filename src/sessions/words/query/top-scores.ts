/** Keeps the best n scores, to know the score that a message must reach. A binary min-heap in one typed array. Pure. */

interface TopScores {
  offer(score: number): void
  /** The lowest of the best n; 0 while there are fewer. */
  threshold(): number
}

export function createTopScores(limit: number): TopScores {
  const heap = new Float32Array(limit)
  return {
    threshold: () => heap[0] as number,
    offer: (score) => {
      if (score <= (heap[0] as number)) return
      let place = 0
      for (;;) {
        let child = place * 2 + 1
        if (child >= limit) break
        if (child + 1 < limit && (heap[child + 1] as number) < (heap[child] as number)) child += 1
        if ((heap[child] as number) >= score) break
        heap[place] = heap[child] as number
        place = child
      }
      heap[place] = score
    },
  }
}

/** The messages that have a score so far, in no particular order. */
export interface Candidates {
  readonly numbers: Uint32Array
  count: number
}

/** Messages with the rarest terms come first, and the best scores are mostly among them. */
const SAMPLE_SIZE = 4_096

/** A lower bound for the n-th best score, from a sample: good enough to prune by, and fast. */
export function estimateThreshold(scores: Float32Array, { numbers, count }: Candidates, limit: number): number {
  return exactThreshold(scores, { numbers, count: Math.min(count, SAMPLE_SIZE) }, limit)
}

/** The n-th best score. */
export function exactThreshold(scores: Float32Array, met: Candidates, limit: number): number {
  const best = createTopScores(limit)
  for (let at = 0; at < met.count; at++) best.offer(scores[met.numbers[at] as number] as number)
  return best.threshold()
}
