/**
 * BM25 over segments. A term stands in a message once at most, so that what it adds is its rarity among all messages,
 * weighed by how long the message is. Rare terms come first; once no message that was not met yet could be among the
 * best, the others only add to those that were. Common terms are never gone through: they are looked up, in the messages
 * that hold a rare one and then in the shortest, as far as one could be among the best. Pure; knows no store.
 */

import { type Documents, LENGTH_MAX, sortByLength } from "../segment/documents.ts"
import { decodeInto, hasBit, type PostingList } from "../segment/postings.ts"
import { matchClauses, type Numbers } from "./matching.ts"
import { listPassing } from "./selective-filter.ts"
import { type Candidates, createTopScores, estimateThreshold, exactThreshold } from "./top-scores.ts"

const K1 = 1.2
const B = 0.75

export interface RankedSegment {
  readonly documents: Documents
  /** What a filter lets pass; all where there is none. */
  readonly passing: Uint8Array | undefined
  readonly lists: ReadonlyMap<string, PostingList>
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
  if (ordered.length === 0 || (every && ordered.length < new Set(terms).size)) return []
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

/** Arrays for every query: what is written into the scores is taken out again. */
let scratch = { scores: new Float32Array(0), numbers: new Uint32Array(0), decoded: new Uint32Array(0) }

function scratchOf(size: number): typeof scratch {
  if (scratch.scores.length < size) {
    const [numbers, decoded] = [new Uint32Array(size), new Uint32Array(size)]
    scratch = { scores: new Float32Array(size), numbers, decoded }
  }
  return scratch
}

/** Right until the next is decoded. */
function decodedOf(list: PostingList): Uint32Array {
  decodeInto(list, 0, scratch.decoded, 0)
  return scratch.decoded.subarray(0, list.count)
}

function holdingSome(
  segment: RankedSegment,
  ordered: readonly Rarity[],
  weights: Float64Array,
  limit: number,
): Found[] {
  const { documents, lists } = segment
  const { scores, numbers } = scratchOf(documents.size)
  const met: Candidates = { numbers, count: 0 }
  const bound = (weights[0] ?? 0) * ROUNDING
  const held = ordered.flatMap(([term, rarity]) => {
    const list = lists.get(term)
    return list === undefined ? [] : [{ list, rarity }]
  })
  // What all terms from here on could add at most.
  let open = openOf(held, bound)
  let isClosed = false
  for (const { list, rarity } of held.filter((each) => !each.list.isBitmap)) {
    // To know how much is enough costs about as much as a list of half as many.
    if (met.count > limit && list.count * 2 > met.count) {
      const least = estimateThreshold(scores, met, limit)
      isClosed ||= open < least
      if (isClosed) keepAbove(scores, met, least - open)
    }
    open -= rarity * bound
    const adding = { scores, met, weights, rarity }
    if (isClosed) addToMet(segment, adding, decodedOf(list))
    else addToAll(segment, adding, decodedOf(list))
  }
  const common = held.filter((each) => each.list.isBitmap)
  const short = isClosed ? NONE_SHORT : addCommon(segment, { scores, met, weights, limit }, common)
  for (const [index, { list, rarity }] of common.entries()) {
    if (index < short.added) continue
    open = openOf(common.slice(index), bound)
    if (met.count > limit) keepAbove(scores, met, estimateThreshold(scores, met, limit) - open)
    lookUpMet(segment, { scores, met, weights, rarity }, list)
  }
  for (const { number, score } of short.found) {
    scores[number] = score
    met.numbers[met.count++] = number
  }
  return bestOf(scores, met, limit)
}

/** Bounds are compared with sums of many rounded numbers. */
const ROUNDING = 1.0001

/** What terms could add at most. */
function openOf(held: readonly Held[], bound: number): number {
  let open = 0
  for (const { rarity } of held) open += rarity * bound
  return open
}

interface Held {
  readonly list: PostingList
  readonly rarity: number
}

interface AddingCommon extends Omit<Adding, "rarity"> {
  readonly limit: number
}

interface Short {
  /** So many of the terms were added to all that hold them; to who was met before, the others are not added yet. */
  readonly added: number
  /** Who holds none but the others, with the whole of his score. */
  readonly found: readonly Found[]
}

const NONE_SHORT: Short = { added: 0, found: [] }

/** Who holds none but common terms is looked for among the shortest; if they are too many, the rarest term is added to all. */
function addCommon(segment: RankedSegment, { limit, ...adding }: AddingCommon, common: readonly Held[]): Short {
  let least = 0
  for (let added = 0; added < common.length; added++) {
    const short = findShort(segment, { ...adding, limit, least }, common.slice(added))
    if (short.isAll) return { added, found: short.found }
    least = short.least
    const { list, rarity } = common[added] as Held
    addToAll(segment, { ...adding, rarity }, decodedOf(list))
  }
  return { added: common.length, found: [] }
}

interface Looking extends AddingCommon {
  /** Less than this is not wanted. */
  readonly least: number
}

interface FoundShort extends Pick<Short, "found"> {
  readonly isAll: boolean
  /** As the best so many have at least, with what is known by now. */
  readonly least: number
}

/** So many are looked at to learn how much is enough. */
const PROBED = 2_048
/** Looked up one by one, so many cost about as much as adding a term to all. */
const SHORT_SHARE = 16

/**
 * A short message counts more than a long one with the same terms, so the short ones come first, and it ends where even
 * all of the terms together would not be enough in a message that long.
 */
function findShort(segment: RankedSegment, looking: Looking, common: readonly Held[]): FoundShort {
  const { documents, passing } = segment
  const { lengths } = documents
  const { scores, met, weights, limit } = looking
  const few = passing === undefined ? undefined : listPassing(passing)
  const most = Math.max(PROBED, documents.size / SHORT_SHARE)
  const numbers = few ?? sortByLength(documents, most + 1)
  const best = createTopScores(limit)
  for (let at = 0; at < met.count; at++) best.offer(scores[met.numbers[at] as number] as number)
  const bits = common.map(({ list }) => list.bytes)
  const rarities = Float64Array.from(common, ({ rarity }) => rarity)
  const total = rarities.reduce((sum, rarity) => sum + rarity, 0)
  const found: Found[] = []
  let least = Math.max(looking.least, best.threshold())
  const look = (from: number, to: number) => {
    for (let at = from; at < to; at++) {
      const number = numbers[at] as number
      const weight = weights[lengths[number] as number] as number
      const wanted = least / ROUNDING / weight
      if (total < wanted || (passing !== undefined && passing[number] === 0) || scores[number] !== 0) continue
      const sum = sumOfHeld(bits, rarities, { number, total, wanted })
      if (sum === 0) continue
      found.push({ number, score: sum * weight })
      best.offer(sum * weight)
      least = Math.max(least, best.threshold())
    }
  }
  const probed = Math.min(PROBED, numbers.length)
  look(0, probed)
  const enough = least / ROUNDING / total
  const end =
    few === undefined
      ? firstBelow(numbers, (number) => weights[lengths[number] as number] as number, enough)
      : few.length
  if (few === undefined && end > most) return { found: [], isAll: false, least }
  look(probed, end)
  return { found, isAll: true, least }
}

/** The first place where less than that is reached, of what falls. */
function firstBelow(numbers: Uint32Array, of: (number: number) => number, least: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (of(numbers[middle] as number) >= least) low = middle + 1
    else high = middle
  }
  return low
}

interface Wanted {
  readonly number: number
  /** What all of them count together. */
  readonly total: number
  readonly wanted: number
}

/** Of the terms that it holds; 0 where that is less than is wanted. */
function sumOfHeld(bits: readonly Uint8Array[], rarities: Float64Array, { number, total, wanted }: Wanted): number {
  let [sum, open] = [0, total]
  for (let term = 0; term < bits.length; term++) {
    if (sum + open < wanted) return 0
    const rarity = rarities[term] as number
    open -= rarity
    if (hasBit(bits[term] as Uint8Array, number)) sum += rarity
  }
  return sum < wanted ? 0 : sum
}

/** Takes the scores out again. Of many that are equal the newest are best. */
function bestOf(scores: Float32Array, met: Candidates, limit: number): Found[] {
  const least = met.count > limit ? exactThreshold(scores, met, limit) : 0
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

interface Adding {
  readonly scores: Float32Array
  readonly met: Candidates
  readonly weights: Float64Array
  readonly rarity: number
}

function addToAll({ documents, passing }: RankedSegment, adding: Adding, numbers: Uint32Array): void {
  const { scores, met, weights, rarity } = adding
  const { lengths } = documents
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

/** Nobody new can be among the best. */
function addToMet({ documents }: RankedSegment, { scores, weights, rarity }: Adding, numbers: Uint32Array): void {
  const { lengths } = documents
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] as number
    const score = scores[number] as number
    if (score > 0) scores[number] = score + rarity * (weights[lengths[number] as number] as number)
  }
}

/** The same where a list need not be decoded to look into it. */
function lookUpMet({ documents }: RankedSegment, adding: Adding, { bytes }: PostingList): void {
  const { scores, met, weights, rarity } = adding
  const { lengths } = documents
  for (let at = 0; at < met.count; at++) {
    const number = met.numbers[at] as number
    if (hasBit(bytes, number))
      scores[number] = (scores[number] as number) + rarity * (weights[lengths[number] as number] as number)
  }
}

/** Who cannot come so far any more is as if he had never been met. */
function keepAbove(scores: Float32Array, met: Candidates, least: number): void {
  let count = 0
  for (let at = 0; at < met.count; at++) {
    const number = met.numbers[at] as number
    if ((scores[number] as number) >= least) met.numbers[count++] = number
    else scores[number] = 0
  }
  met.count = count
}

// --- All of the terms -------------------------------------------------------------------------------------------------

function holdingAll(segment: RankedSegment, ordered: readonly Rarity[], weights: Float64Array, limit: number): Found[] {
  const { documents, lists } = segment
  const own = ordered.map(([term]) => lists.get(term))
  if (own.some((list) => list === undefined)) return []
  const numbers = heldByAll(segment, own as PostingList[], limit)
  const rarity = ordered.reduce((sum, [, each]) => sum + each, 0)
  const { scores } = scratchOf(documents.size)
  const met: Candidates = { numbers, count: numbers.length }
  for (let at = 0; at < met.count; at++) {
    const number = met.numbers[at] as number
    scores[number] = rarity * (weights[documents.lengths[number] as number] as number)
  }
  return bestOf(scores, met, limit)
}

/** All that hold them, or the best where that is sooner known. */
function heldByAll({ documents, passing }: RankedSegment, lists: readonly PostingList[], limit: number): Numbers {
  if (lists.some(({ isBitmap: isBits }) => !isBits)) {
    const clauses = lists.map((list) => ({ lists: [list] }))
    return matchClauses({ size: documents.size, passing }, clauses)
  }
  const passes = (number: number) => passing === undefined || passing[number] === 1
  return shortestHolding(documents, { passes, common: lists.map(({ bytes }) => bytes), limit })
}

interface HeldByAll {
  readonly passes: (number: number) => boolean
  readonly common: readonly Uint8Array[]
  readonly limit: number
}

/** With the same terms the shortest are the best, and of those of one length the newest. */
function shortestHolding(documents: Documents, { passes, common, limit }: HeldByAll): Numbers {
  const found = new Uint32Array(limit)
  let [count, at] = [0, 0]
  // The shortest are mostly enough, and to put all in order takes a process that asks once as long as all of its ranking.
  for (const least of [documents.size / SHORT_SHARE, documents.size]) {
    const numbers = sortByLength(documents, least)
    for (; at < numbers.length && count < limit; at++) {
      const number = numbers[at] as number
      if (passes(number) && common.every((bits) => hasBit(bits, number))) found[count++] = number
    }
    if (count === limit) break
  }
  return found.subarray(0, count)
}
