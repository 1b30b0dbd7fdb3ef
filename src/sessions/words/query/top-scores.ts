/** Of many scores the best so many: how much is enough to be one of them. A heap without objects. Pure. */

interface TopScores {
  offer(score: number): void
  /** The last of the best so many; 0 while there are fewer. */
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

/** The messages that have a score by now, in no order. */
export interface Candidates {
  readonly numbers: Uint32Array
  count: number
}

/** The holders of the rarest terms come first, and the best are mostly among them. */
const SAMPLE_SIZE = 4_096

/** No more than the score of the best so many, the last of them: enough to leave out by, and soon known. */
export function estimateThreshold(scores: Float32Array, { numbers, count }: Candidates, limit: number): number {
  return exactThreshold(scores, { numbers, count: Math.min(count, SAMPLE_SIZE) }, limit)
}

/** The score of the best so many, the last of them. */
export function exactThreshold(scores: Float32Array, met: Candidates, limit: number): number {
  const best = createTopScores(limit)
  for (let at = 0; at < met.count; at++) best.offer(scores[met.numbers[at] as number] as number)
  return best.threshold()
}
