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
