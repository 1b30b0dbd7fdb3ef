/**
 * BM25 over segments. A term stands in a message once at most, so that what it adds is its rarity among all messages,
 * weighed by how long the message is. Rare terms come first; once no message that was not met yet could be among the
 * best, common terms only add to those that were. Pure; knows no store.
 */
import { type Documents, LENGTH_MAX } from "./documents.ts"
import { decodeList, holds, type TermList } from "./lists.ts"

const K1 = 1.2
const B = 0.75

export interface RankedSegment {
  readonly documents: Documents
  /** What a filter lets pass; all where there is none. */
  readonly passing: Uint8Array | undefined
  readonly lists: ReadonlyMap<string, TermList>
}

export interface Ranked {
  /** The place of the segment among those that were given. */
  readonly segment: number
  readonly number: number
  readonly score: number
}

/** Best first; of equal ones the newer first. `every`: only messages that hold all of the terms. */
export function rank(
  segments: readonly RankedSegment[],
  terms: readonly string[],
  { every, limit }: { readonly every: boolean; readonly limit: number },
): Ranked[] {
  const { rarities, weights } = statisticsOf(segments, terms)
  const ordered = [...rarities].toSorted(([, left], [, right]) => right - left)
  if (every && ordered.length < new Set(terms).size) return []
  const best: Ranked[] = []
  for (const [index, segment] of segments.entries()) {
    const found = every ? holdingAll(segment, ordered, weights, limit) : holdingSome(segment, ordered, weights, limit)
    for (const each of found) best.push({ segment: index, ...each })
  }
  return best.toSorted(bestFirst).slice(0, limit)
}

function bestFirst(left: Ranked, right: Ranked): number {
  return right.score - left.score || right.segment - left.segment || right.number - left.number
}

type Rarity = readonly [term: string, rarity: number]

interface Statistics {
  /** Of the terms that any message holds. */
  readonly rarities: ReadonlyMap<string, number>
  /** What a term's rarity counts in a message of so many terms. */
  readonly weights: Float64Array
}

function statisticsOf(segments: readonly RankedSegment[], terms: readonly string[]): Statistics {
  const all = segments.reduce((sum, { documents }) => sum + documents.count, 0)
  const tokens = segments.reduce((sum, { documents }) => sum + documents.tokens, 0)
  const mean = tokens / Math.max(1, all) || 1
  const rarities = new Map<string, number>()
  for (const term of terms) {
    const having = segments.reduce((sum, { lists }) => sum + (lists.get(term)?.count ?? 0), 0)
    if (having > 0) rarities.set(term, Math.log((all - having + 0.5) / (having + 0.5) + 1))
  }
  return { rarities, weights: weightsFor(mean) }
}

let known = { mean: Number.NaN, weights: new Float64Array() }

/** Of every length that there can be: looking for the longest of a million would take longer, and is asked of each process. */
function weightsFor(mean: number): Float64Array {
  if (known.mean === mean) return known.weights
  const weights = new Float64Array(LENGTH_MAX + 1)
  for (let length = 0; length <= LENGTH_MAX; length++)
    weights[length] = (K1 + 1) / (1 + K1 * (1 - B + (B * length) / mean))
  known = { mean, weights }
  return weights
}

type Found = Omit<Ranked, "segment">

// --- Some of the terms ------------------------------------------------------------------------------------------------

/** One array for every query: what is written into it is taken out again. */
let scratch = new Float32Array(0)

function scratchOf(size: number): Float32Array {
  if (scratch.length < size) scratch = new Float32Array(size)
  return scratch
}

function holdingSome(
  segment: RankedSegment,
  ordered: readonly Rarity[],
  weights: Float64Array,
  limit: number,
): Found[] {
  const { documents, lists } = segment
  const scores = scratchOf(documents.size)
  const met: Met = { numbers: new Uint32Array(1_024), count: 0 }
  const bound = weights[0] ?? 0
  // What all terms from here on could add at most.
  let open = ordered.reduce((sum, [term, rarity]) => sum + (lists.has(term) ? rarity * bound : 0), 0)
  let isClosed = false
  for (const [term, rarity] of ordered) {
    const list = lists.get(term)
    if (list === undefined) continue
    if (met.count > limit) {
      const least = leastOf(scores, met, limit)
      isClosed ||= open < least
      if (isClosed) keepAbove(scores, met, least - open)
    }
    open -= rarity * bound
    if (isClosed) addToMet(segment, { scores, met, weights, rarity }, list)
    else addToAll(segment, { scores, met, weights, rarity }, decodeList(list))
  }
  return bestOf(scores, met, limit)
}

/** Takes the scores out again. Of many that are equal the newest are best. */
function bestOf(scores: Float32Array, met: Met, limit: number): Found[] {
  const least = met.count > limit ? leastOf(scores, met, limit) : 0
  const found: Found[] = []
  const equal: number[] = []
  for (let at = 0; at < met.count; at++) {
    const number = met.numbers[at] as number
    const score = scores[number] as number
    scores[number] = 0
    if (score > least) found.push({ number, score })
    else if (score === least) equal.push(number)
  }
  const newest = equal.length + found.length > limit ? Uint32Array.from(equal).sort().reverse() : equal
  for (const number of newest.slice(0, Math.max(0, limit - found.length))) found.push({ number, score: least })
  return found
}

/** The messages that have a score by now, in no order. */
interface Met {
  numbers: Uint32Array
  count: number
}

interface Adding {
  readonly scores: Float32Array
  readonly met: Met
  readonly weights: Float64Array
  readonly rarity: number
}

function addToAll({ documents, passing }: RankedSegment, adding: Adding, numbers: Uint32Array): void {
  const { scores, met, weights, rarity } = adding
  const { lengths } = documents
  if (met.count + numbers.length > met.numbers.length) {
    const larger = new Uint32Array(Math.max(met.numbers.length * 2, met.count + numbers.length))
    larger.set(met.numbers.subarray(0, met.count))
    met.numbers = larger
  }
  const into = met.numbers
  let count = met.count
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] as number
    const score = scores[number] as number
    if (score === 0) {
      if (passing !== undefined && passing[number] === 0) continue
      into[count++] = number
    }
    scores[number] = score + rarity * (weights[lengths[number] as number] as number)
  }
  met.count = count
}

/** Nobody new can be among the best: only who was met is asked for, or looked up where that takes no decoding. */
function addToMet({ documents }: RankedSegment, { scores, met, weights, rarity }: Adding, list: TermList): void {
  const { lengths } = documents
  if (!list.isBits) {
    const numbers = decodeList(list)
    for (let at = 0; at < numbers.length; at++) {
      const number = numbers[at] as number
      const score = scores[number] as number
      if (score > 0) scores[number] = score + rarity * (weights[lengths[number] as number] as number)
    }
    return
  }
  const { bytes } = list
  for (let at = 0; at < met.count; at++) {
    const number = met.numbers[at] as number
    if ((((bytes[number >> 3] as number) >> (number & 7)) & 1) === 0) continue
    scores[number] = (scores[number] as number) + rarity * (weights[lengths[number] as number] as number)
  }
}

/** Who cannot come so far any more is as if he had never been met. */
function keepAbove(scores: Float32Array, met: Met, least: number): void {
  let count = 0
  for (let at = 0; at < met.count; at++) {
    const number = met.numbers[at] as number
    if ((scores[number] as number) >= least) met.numbers[count++] = number
    else scores[number] = 0
  }
  met.count = count
}

/** The score of the best so many, the last of them. */
function leastOf(scores: Float32Array, met: Met, limit: number): number {
  const heap = new Float32Array(limit)
  for (let at = 0; at < met.count; at++) {
    const score = scores[met.numbers[at] as number] as number
    if (score <= (heap[0] as number)) continue
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
  }
  return heap[0] as number
}

// --- All of the terms -------------------------------------------------------------------------------------------------

function holdingAll(segment: RankedSegment, ordered: readonly Rarity[], weights: Float64Array, limit: number): Found[] {
  const { documents, passing, lists } = segment
  const own = ordered.map(([term]) => lists.get(term))
  if (own.some((list) => list === undefined)) return []
  const fewest = (own as TermList[]).toSorted((left, right) => left.count - right.count)
  let numbers: Uint32Array | undefined
  for (const list of fewest) {
    if (numbers === undefined) {
      numbers = decodeList(list)
      if (passing !== undefined) numbers = numbers.filter((number) => passing[number] === 1)
    } else if (list.isBits) numbers = numbers.filter((number) => holds(list, number))
    else numbers = shared(numbers, decodeList(list))
    if (numbers.length === 0) return []
  }
  const rarity = ordered.reduce((sum, [, each]) => sum + each, 0)
  const scores = scratchOf(documents.size)
  const met: Met = { numbers: numbers ?? new Uint32Array(), count: numbers?.length ?? 0 }
  for (let at = 0; at < met.count; at++) {
    const number = met.numbers[at] as number
    scores[number] = rarity * (weights[documents.lengths[number] as number] as number)
  }
  return bestOf(scores, met, limit)
}

function shared(left: Uint32Array, right: Uint32Array): Uint32Array {
  let at = 0
  return left.filter((number) => {
    while (at < right.length && (right[at] as number) < number) at++
    return right[at] === number
  })
}
