/**
 * Boolean matching without scores: the messages of a segment that match every clause, where a clause matches on any of
 * its terms. Starts with the rarest clause and intersects the others with it. Pure.
 */
import { decodeInto, decodePostings, hasBit, type PostingList } from "../segment/postings.ts"

export interface PostingClause {
  /** The postings of those terms that the segment has. */
  readonly lists: readonly PostingList[]
  /** Messages from this number on count as matching. */
  readonly from?: number
}

export interface MatchedSegment {
  readonly size: number
  /** The filter's mask; undefined where everything passes. */
  readonly passing: Uint8Array | undefined
}

export type Numbers = Uint32Array<ArrayBuffer>

/** Ascending message numbers. */
export function matchClauses({ size, passing }: MatchedSegment, clauses: readonly PostingClause[]): Numbers {
  const [fewest, ...others] = clauses.toSorted((left, right) => countMax(left, size) - countMax(right, size))
  if (fewest === undefined || countMax(fewest, size) === 0) return new Uint32Array(0)
  let numbers = decodeClause(fewest, size)
  if (passing !== undefined) numbers = filterInPlace(numbers, (number) => passing[number] === 1)
  for (const clause of others) {
    if (numbers.length === 0) return numbers
    numbers = intersect(numbers, clause, size)
  }
  return numbers
}

/** An upper bound for the matches of a clause. */
function countMax({ lists, from }: PostingClause, size: number): number {
  return lists.reduce((sum, { count }) => sum + count, Math.max(0, size - (from ?? size)))
}

/** The posting list of a clause that consists of nothing else. */
function singleList({ lists, from }: PostingClause, size: number): PostingList | undefined {
  return lists.length === 1 && (from ?? size) >= size ? lists[0] : undefined
}

function decodeClause(clause: PostingClause, size: number): Numbers {
  const only = singleList(clause, size)
  if (only !== undefined) return decodePostings(only)
  const mask = unionMask(clause, size)
  const numbers = new Uint32Array(Math.min(size, countMax(clause, size)))
  let used = 0
  for (let at = 0; at < size; at++) if (mask[at] === 1) numbers[used++] = at
  return numbers.subarray(0, used)
}

function intersect(numbers: Numbers, clause: PostingClause, size: number): Numbers {
  const only = singleList(clause, size)
  if (only?.isBitmap === true) return filterInPlace(numbers, (number) => hasBit(only.bytes, number))
  if (only !== undefined) return intersectSorted(numbers, decodePostings(only))
  const mask = unionMask(clause, size)
  return filterInPlace(numbers, (number) => mask[number] === 1)
}

/** One byte per message. */
function unionMask({ lists, from }: PostingClause, size: number): Uint8Array {
  const mask = new Uint8Array(size)
  mask.fill(1, from ?? size)
  const numbers = new Uint32Array(Math.max(0, ...lists.map(({ count }) => count)))
  for (const list of lists) {
    decodeInto(list, 0, numbers, 0)
    for (let at = 0; at < list.count; at++) mask[numbers[at] as number] = 1
  }
  return mask
}

function intersectSorted(left: Numbers, right: Uint32Array): Numbers {
  let at = 0
  return filterInPlace(left, (number) => {
    while (at < right.length && (right[at] as number) < number) at++
    return right[at] === number
  })
}

/** Filters in place; the array is not shared. */
function filterInPlace(numbers: Numbers, isKept: (number: number) => boolean): Numbers {
  let used = 0
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] as number
    if (isKept(number)) numbers[used++] = number
  }
  return numbers.subarray(0, used)
}
