/**
 * How far two sequences are from each other: the least number of items to take out of the one and to put into it that make
 * the other. Time and memory grow with what differs and not with their squares (E. W. Myers, 1986), and what differs in a
 * restore is what was lost.
 */

/** Infinity, where there are more than `most`. */
export function editsBetween(
  left: readonly string[],
  right: readonly string[],
  most: number,
  isSame: (one: string, other: string) => boolean = (one, other) => one === other,
): number {
  const isSameAt = (one: string | undefined, other: string | undefined) =>
    one !== undefined && other !== undefined && isSame(one, other)
  // furthest[k]: how much of the left is done on the diagonal k (left less right) with the edits so far.
  const furthest = new Map<number, number>([[1, 0]])
  for (let edits = 0; edits <= most; edits++) {
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const [below, above] = [furthest.get(diagonal - 1) ?? -1, furthest.get(diagonal + 1) ?? -1]
      let at = diagonal === -edits || (diagonal !== edits && below < above) ? above : below + 1
      while (isSameAt(left[at], right[at - diagonal])) at++
      if (at >= left.length && at - diagonal >= right.length) return edits
      furthest.set(diagonal, at)
    }
  }
  return Number.POSITIVE_INFINITY
}
