/** "Did you mean …?": the nearest of the words that would have been right, for flags, verbs, keys and names. */

/** Damerau-Levenshtein: insert, remove, replace, or swap two neighbours; a restricted edit distance. */
export function editDistance(left: string, right: string): number {
  const from = [...left]
  const to = [...right]
  let older: number[] = []
  let old = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [row, letter] of from.entries()) {
    const next = [row + 1]
    for (const [column, other] of to.entries()) {
      const replaced = (old[column] ?? 0) + (letter === other ? 0 : 1)
      const inserted = (next[column] ?? 0) + 1
      const removed = (old[column + 1] ?? 0) + 1
      let cost = Math.min(replaced, inserted, removed)
      const isSwap = row > 0 && column > 0 && letter === to[column - 1] && from[row - 1] === other
      if (isSwap) cost = Math.min(cost, (older[column - 1] ?? 0) + 1)
      next.push(cost)
    }
    older = old
    old = next
  }
  return old[to.length] ?? 0
}

/** Undefined when nothing is near enough to be meant: at most a third of the letters may differ, and one always may. */
export function nearest(wrong: string, right: Iterable<string>): string | undefined {
  const word = wrong.toLowerCase()
  let best: { candidate: string; cost: number } | undefined
  for (const candidate of right) {
    const isBeginning = word.length >= 2 && candidate.startsWith(word)
    const cost = isBeginning ? 0.5 : editDistance(word, candidate.toLowerCase())
    if (best === undefined || cost < best.cost) best = { candidate, cost }
  }
  if (best === undefined) return undefined
  const limit = Math.max(1, Math.floor(Math.max(word.length, best.candidate.length) / 3))
  return best.cost <= limit ? best.candidate : undefined
}

/** ` Did you mean "x"?`, or nothing at all. */
export function suggestion(wrong: string, right: Iterable<string>): string {
  const found = nearest(wrong, right)
  return found === undefined ? "" : ` Did you mean ${found}?`
}
