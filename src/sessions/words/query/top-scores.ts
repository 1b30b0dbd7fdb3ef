/** Of many scores the best so many: how much is enough to be one of them. A heap without objects. Pure. */

interface BestScores {
  offer(score: number): void
  /** The last of the best so many; 0 while there are fewer. */
  least(): number
}

export function createBest(limit: number): BestScores {
  const heap = new Float32Array(limit)
  return {
    least: () => heap[0] as number,
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
export interface Met {
  readonly numbers: Uint32Array
  count: number
}

/** The holders of the rarest terms come first, and the best are mostly among them. */
const ENOUGH_OF = 4_096

/** No more than the score of the best so many, the last of them: enough to leave out by, and soon known. */
export function enoughOf(scores: Float32Array, { numbers, count }: Met, limit: number): number {
  return leastOf(scores, { numbers, count: Math.min(count, ENOUGH_OF) }, limit)
}

/** The score of the best so many, the last of them. */
export function leastOf(scores: Float32Array, met: Met, limit: number): number {
  const best = createBest(limit)
  for (let at = 0; at < met.count; at++) best.offer(scores[met.numbers[at] as number] as number)
  return best.least()
}
