/**
 * Fuzzy matching: finds the terms within an edit distance (Levenshtein: insertions, deletions, substitutions) of a
 * word. Terms come sorted, so the rows of the distance matrix for the prefix that a term shares with the one before are
 * kept, and once a prefix is too far no term with that prefix is compared. Only the diagonal band of the matrix is
 * computed (banded Levenshtein, Ukkonen 1985; incremental rows as in http://stevehanov.ca/blog/?id=114). Pure.
 */

const NEWLINE = 0x0a

/** The lines of a text within the distance of the word. */
export function matchLines(text: string, near: FuzzyMatcher): { like: string; apart: number }[] {
  const found: { like: string; apart: number }[] = []
  for (let from = 0; from < text.length; ) {
    let end = from
    while (end < text.length && text.charCodeAt(end) !== NEWLINE) end += 1
    const apart = near.apart(text, from, end)
    if (apart <= near.most) found.push({ like: text.slice(from, end), apart })
    from = end + 1
  }
  return found
}

/** Compares one text after the other with a word. */
export interface FuzzyMatcher {
  readonly most: number
  /** The edit distance of `text[from, end)`, or any number above `most` where it is above. */
  apart(text: string, from: number, end: number): number
  /** Whether a text with this prefix can be within the distance. Appending never lowers the minimum of a row. */
  mayStartWith(start: string): boolean
}

export function createFuzzyMatcher(word: string, most: number): FuzzyMatcher {
  const columns = word.length + 1
  /** No longer prefix can be within the distance. */
  const lengthMax = word.length + most + 1
  const beyond = most + 1
  // The distance matrix: a row per letter of the text, a column per prefix of the word. Cells outside the band stay
  // `beyond`.
  const cells = new Uint8Array((lengthMax + 1) * (columns + 1)).fill(beyond)
  for (let column = 0; column <= Math.min(most, word.length); column++) cells[column] = column
  const letters = new Uint16Array(lengthMax)
  const own = Uint16Array.from({ length: word.length }, (_, at) => word.charCodeAt(at))
  /** Number of rows valid for the last text. If the last row is too far, none follows it. */
  let rows = 0
  let isTooFar = false

  /** Computes the row of one more letter. Returns whether any cell is within the distance. */
  function addRow(row: number, letter: number): boolean {
    letters[row - 1] = letter
    const [before, current] = [(row - 1) * (columns + 1), row * (columns + 1)]
    const [first, last] = [Math.max(1, row - most), Math.min(word.length, row + most)]
    cells[current + first - 1] = first === 1 ? Math.min(row, beyond) : beyond
    let least = cells[current + first - 1] as number
    for (let column = first; column <= last; column++) {
      const changed = (cells[before + column - 1] as number) + (own[column - 1] === letter ? 0 : 1)
      const left = (cells[current + column - 1] as number) + 1
      const up = (cells[before + column] as number) + 1
      const cost = Math.min(changed, left, up, beyond)
      cells[current + column] = cost
      if (cost < least) least = cost
    }
    if (last < word.length) cells[current + last + 1] = beyond
    return least <= most
  }

  /** Computes the rows of a text, reusing those of the shared prefix. False once the text is too far. */
  function walk(text: string, from: number, end: number): boolean {
    const length = end - from
    let shared = 0
    while (shared < rows && shared < length && letters[shared] === text.charCodeAt(from + shared)) shared += 1
    if (isTooFar && shared === rows) return false
    rows = shared
    isTooFar = false
    while (rows < length) {
      if (rows === lengthMax) return false
      const letter = text.charCodeAt(from + rows)
      rows += 1
      isTooFar = !addRow(rows, letter)
      if (isTooFar) return false
    }
    return true
  }

  return {
    most,
    apart: (text, from, end) => {
      if (Math.abs(end - from - word.length) > most || !walk(text, from, end)) return beyond
      return cells[(end - from) * (columns + 1) + word.length] as number
    },
    mayStartWith: (start) => walk(start, 0, start.length),
  }
}

export function commonPrefix(one: string, other: string): string {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return one.slice(0, length)
}
