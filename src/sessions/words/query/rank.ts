/**
 * BM25 ranking over segments, with early termination in the manner of MaxScore (Turtle and Flood 1995). A term counts
 * once per message, so its contribution is its IDF times a weight of the message's length.
 *
 * Phases, per segment:
 *
 *   1. Rare terms (varint lists), rarest first. Once the remaining terms together cannot lift a new message into the
 *      best, the candidate set is closed: later lists only add to candidates, and hopeless ones are pruned.
 *   2. Common terms (bitmaps) are never read through. Messages with common terms only are found among the shortest,
 *      where a term weighs most, down to the length at which even all terms would not suffice.
 *   3. Candidates are probed for the common terms.
 *   4. The best of them are taken.
 *
 * Pure.
 */

import { type Documents, sortByLength } from "../segment/documents.ts"
import { decodeInto, hasBit, type PostingList } from "../segment/postings.ts"
import { computeStatistics, ROUNDING, upperBound, weightMax } from "./bm25.ts"
import { matchClauses, type Numbers } from "./matching.ts"
import { listPassing } from "./selective-filter.ts"
import { type Candidates, createTopScores, estimateThreshold, exactThreshold } from "./top-scores.ts"

export interface RankedSegment {
  readonly documents: Documents
  /** The filter's mask; undefined where everything passes. */
  readonly passing: Uint8Array | undefined
  readonly lists: ReadonlyMap<string, PostingList>
}

export interface Ranked {
  /** Index into the given segments. */
  readonly segment: number
  readonly number: number
  readonly score: number
}

/** Best first, newer first among equals. With `every` only messages that have all of the terms. */
export function rank(
  segments: readonly RankedSegment[],
  terms: readonly string[],
  { every, limit }: { readonly every: boolean; readonly limit: number },
): Ranked[] {
  const { idfs, weights } = computeStatistics(segments, terms)
  const ordered = [...idfs].toSorted(([, left], [, right]) => right - left)
  if (ordered.length === 0 || (every && ordered.length < new Set(terms).size)) return []
  const best: Ranked[] = []
  for (const [index, segment] of segments.entries()) {
    const found = every ? rankAll(segment, ordered, weights, limit) : rankAny(segment, ordered, weights, limit)
    for (const each of found) best.push({ segment: index, ...each })
  }
  return best.toSorted(compareRanked).slice(0, limit)
}

function compareRanked(left: Ranked, right: Ranked): number {
  return right.score - left.score || right.segment - left.segment || right.number - left.number
}

type TermIdf = readonly [term: string, idf: number]

type ScoredMessage = Omit<Ranked, "segment">

// --- Some of the terms ------------------------------------------------------------------------------------------------

/** Arrays shared by all queries. Every score written is reset to 0 afterwards. */
let scratch = { scores: new Float32Array(0), numbers: new Uint32Array(0), decoded: new Uint32Array(0) }

function borrowScratch(size: number): typeof scratch {
  if (scratch.scores.length < size) {
    const [numbers, decoded] = [new Uint32Array(size), new Uint32Array(size)]
    scratch = { scores: new Float32Array(size), numbers, decoded }
  }
  return scratch
}

/** Valid until the next call. */
function decodeShared(list: PostingList): Uint32Array {
  decodeInto(list, 0, scratch.decoded, 0)
  return scratch.decoded.subarray(0, list.count)
}

function rankAny(
  segment: RankedSegment,
  ordered: readonly TermIdf[],
  weights: Float64Array,
  limit: number,
): ScoredMessage[] {
  const { documents, lists } = segment
  const { scores, numbers } = borrowScratch(documents.size)
  const scoring: CommonScoring = { scores, candidates: { numbers, count: 0 }, weights, limit }
  const terms = ordered.flatMap(([term, idf]) => {
    const list = lists.get(term)
    return list === undefined ? [] : [{ list, idf }]
  })
  const common = terms.filter(({ list }) => list.isBitmap)
  const isClosed = scoreRare(segment, scoring, terms)
  const short = isClosed ? NO_SHORT_MESSAGES : scanCommon(segment, scoring, common)
  probeCommon(segment, scoring, common, short.added)
  for (const { number, score } of short.found) addCandidate(scoring, number, score)
  return takeBest(scores, scoring.candidates, limit)
}

/** Phase 1. Returns whether the candidate set is closed: no further message can be among the best. */
function scoreRare(segment: RankedSegment, scoring: CommonScoring, terms: readonly ScoredTerm[]): boolean {
  const { scores, candidates, weights, limit } = scoring
  let remaining = upperBound(terms, weights)
  let isClosed = false
  for (const { list, idf } of terms.filter((each) => !each.list.isBitmap)) {
    // Estimating the threshold costs about as much as reading a list of half as many messages.
    if (candidates.count > limit && list.count * 2 > candidates.count) {
      const threshold = estimateThreshold(scores, candidates, limit)
      isClosed ||= remaining < threshold
      if (isClosed) prune(scores, candidates, threshold - remaining)
    }
    remaining -= idf * weightMax(weights)
    if (isClosed) scoreCandidates(segment, { ...scoring, idf }, decodeShared(list))
    else scoreAll(segment, { ...scoring, idf }, decodeShared(list))
  }
  return isClosed
}

/** Phase 3. Skips the first terms, which phase 2 has added to all messages that have them. */
function probeCommon(
  segment: RankedSegment,
  { scores, candidates, weights, limit }: CommonScoring,
  common: readonly ScoredTerm[],
  added: number,
): void {
  for (let index = added; index < common.length; index++) {
    const { list, idf } = common[index] as ScoredTerm
    const remaining = upperBound(common.slice(index), weights)
    if (candidates.count > limit) prune(scores, candidates, estimateThreshold(scores, candidates, limit) - remaining)
    probeCandidates(segment, { scores, candidates, weights, idf }, list)
  }
}

function addCandidate({ scores, candidates }: CommonScoring, number: number, score: number): void {
  scores[number] = score
  candidates.numbers[candidates.count++] = number
}

interface ScoredTerm {
  readonly list: PostingList
  readonly idf: number
}

interface CommonScoring extends Omit<Scoring, "idf"> {
  readonly limit: number
}

interface ShortMessages {
  /** Number of common terms already added to every message that has them. Earlier candidates still lack the others. */
  readonly added: number
  /** Messages that have none but the other common terms, with their full scores. */
  readonly found: readonly ScoredMessage[]
}

const NO_SHORT_MESSAGES: ShortMessages = { added: 0, found: [] }

/**
 * Phase 2. Where too many short messages qualify, the rarest common term is added to all messages that have it, and the
 * scan starts again without it.
 */
function scanCommon(
  segment: RankedSegment,
  { limit, ...scoring }: CommonScoring,
  common: readonly ScoredTerm[],
): ShortMessages {
  let threshold = 0
  for (let added = 0; added < common.length; added++) {
    const short = scanShortest(segment, { ...scoring, limit, threshold }, common.slice(added))
    if (short.isAll) return { added, found: short.found }
    threshold = short.threshold
    const { list, idf } = common[added] as ScoredTerm
    scoreAll(segment, { ...scoring, idf }, decodeShared(list))
  }
  return { added: common.length, found: [] }
}

interface ShortestScan extends CommonScoring {
  /** Lower scores are of no interest. */
  readonly threshold: number
}

interface ShortestScanned extends Pick<ShortMessages, "found"> {
  readonly isAll: boolean
  /** The score of the last of the best, as far as known. */
  readonly threshold: number
}

/** Messages scored first, to learn the threshold. */
const PROBE_SIZE = 2_048
/** Scoring this share of the messages one by one costs about as much as adding a term to all. */
const SHORTEST_SHARE = 16

/**
 * Scores the shortest messages, in which terms weigh most, until a message is so long that even all terms together
 * would not reach the threshold.
 */
function scanShortest(segment: RankedSegment, scan: ShortestScan, common: readonly ScoredTerm[]): ShortestScanned {
  const { documents, passing } = segment
  const { lengths } = documents
  const { scores, candidates, weights, limit } = scan
  const selective = passing === undefined ? undefined : listPassing(passing)
  const most = Math.max(PROBE_SIZE, documents.size / SHORTEST_SHARE)
  const numbers = selective ?? sortByLength(documents, most + 1)
  const best = createTopScores(limit)
  for (let at = 0; at < candidates.count; at++) best.offer(scores[candidates.numbers[at] as number] as number)
  const bitmaps = common.map(({ list }) => list.bytes)
  const idfs = Float64Array.from(common, ({ idf }) => idf)
  const total = idfs.reduce((sum, idf) => sum + idf, 0)
  const found: ScoredMessage[] = []
  let threshold = Math.max(scan.threshold, best.threshold())
  const scoreRange = (from: number, to: number) => {
    for (let at = from; at < to; at++) {
      const number = numbers[at] as number
      const weight = weights[lengths[number] as number] as number
      const wanted = threshold / ROUNDING / weight
      if (total < wanted || (passing !== undefined && passing[number] === 0) || scores[number] !== 0) continue
      const sum = sumMatched(bitmaps, idfs, { number, total, wanted })
      if (sum === 0) continue
      found.push({ number, score: sum * weight })
      best.offer(sum * weight)
      threshold = Math.max(threshold, best.threshold())
    }
  }
  const probed = Math.min(PROBE_SIZE, numbers.length)
  scoreRange(0, probed)
  const weightMin = threshold / ROUNDING / total
  const end =
    selective === undefined
      ? findFirstBelow(numbers, (number) => weights[lengths[number] as number] as number, weightMin)
      : selective.length
  if (selective === undefined && end > most) return { found: [], isAll: false, threshold }
  scoreRange(probed, end)
  return { found, isAll: true, threshold }
}

/** Binary search in falling values: the first index below the threshold. */
function findFirstBelow(numbers: Uint32Array, of: (number: number) => number, threshold: number): number {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (of(numbers[middle] as number) >= threshold) low = middle + 1
    else high = middle
  }
  return low
}

interface Wanted {
  readonly number: number
  /** Sum of all IDFs. */
  readonly total: number
  readonly wanted: number
}

/** Sum of the IDFs of the terms that a message has; 0 where it is less than wanted. */
function sumMatched(bitmaps: readonly Uint8Array[], idfs: Float64Array, { number, total, wanted }: Wanted): number {
  let [sum, remaining] = [0, total]
  for (let term = 0; term < bitmaps.length; term++) {
    if (sum + remaining < wanted) return 0
    const idf = idfs[term] as number
    remaining -= idf
    if (hasBit(bitmaps[term] as Uint8Array, number)) sum += idf
  }
  return sum < wanted ? 0 : sum
}

/** Phase 4. Resets all scores. Of equal scores the newest win. */
function takeBest(scores: Float32Array, candidates: Candidates, limit: number): ScoredMessage[] {
  const threshold = candidates.count > limit ? exactThreshold(scores, candidates, limit) : 0
  const found: ScoredMessage[] = []
  const equal: number[] = []
  for (let at = 0; at < candidates.count; at++) {
    const number = candidates.numbers[at] as number
    const score = scores[number] as number
    scores[number] = 0
    if (score > threshold) found.push({ number, score })
    else if (score === threshold) equal.push(number)
  }
  const newest = equal.length + found.length > limit ? Uint32Array.from(equal).sort().reverse() : equal
  for (const number of newest.slice(0, Math.max(0, limit - found.length))) found.push({ number, score: threshold })
  return found
}

interface Scoring {
  readonly scores: Float32Array
  readonly candidates: Candidates
  readonly weights: Float64Array
  readonly idf: number
}

function scoreAll({ documents, passing }: RankedSegment, scoring: Scoring, numbers: Uint32Array): void {
  const { scores, candidates, weights, idf } = scoring
  const { lengths } = documents
  const into = candidates.numbers
  let count = candidates.count
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] as number
    const score = scores[number] as number
    if (score === 0) {
      if (passing !== undefined && passing[number] === 0) continue
      into[count++] = number
    }
    scores[number] = score + idf * (weights[lengths[number] as number] as number)
  }
  candidates.count = count
}

/** For a closed candidate set. */
function scoreCandidates({ documents }: RankedSegment, { scores, weights, idf }: Scoring, numbers: Uint32Array): void {
  const { lengths } = documents
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at] as number
    const score = scores[number] as number
    if (score > 0) scores[number] = score + idf * (weights[lengths[number] as number] as number)
  }
}

/** The same for a bitmap, which needs no decoding. */
function probeCandidates({ documents }: RankedSegment, scoring: Scoring, { bytes }: PostingList): void {
  const { scores, candidates, weights, idf } = scoring
  const { lengths } = documents
  for (let at = 0; at < candidates.count; at++) {
    const number = candidates.numbers[at] as number
    if (hasBit(bytes, number))
      scores[number] = (scores[number] as number) + idf * (weights[lengths[number] as number] as number)
  }
}

/** Drops candidates that can no longer be among the best. */
function prune(scores: Float32Array, candidates: Candidates, threshold: number): void {
  let count = 0
  for (let at = 0; at < candidates.count; at++) {
    const number = candidates.numbers[at] as number
    if ((scores[number] as number) >= threshold) candidates.numbers[count++] = number
    else scores[number] = 0
  }
  candidates.count = count
}

// --- All of the terms -------------------------------------------------------------------------------------------------

function rankAll(
  segment: RankedSegment,
  ordered: readonly TermIdf[],
  weights: Float64Array,
  limit: number,
): ScoredMessage[] {
  const { documents, lists } = segment
  const own = ordered.map(([term]) => lists.get(term))
  if (own.some((list) => list === undefined)) return []
  const numbers = matchAll(segment, own as PostingList[], limit)
  const idf = ordered.reduce((sum, [, each]) => sum + each, 0)
  const { scores } = borrowScratch(documents.size)
  const candidates: Candidates = { numbers, count: numbers.length }
  for (let at = 0; at < candidates.count; at++) {
    const number = candidates.numbers[at] as number
    scores[number] = idf * (weights[documents.lengths[number] as number] as number)
  }
  return takeBest(scores, candidates, limit)
}

/** All messages that have every term, or the best of them where those are found faster. */
function matchAll({ documents, passing }: RankedSegment, lists: readonly PostingList[], limit: number): Numbers {
  if (lists.some(({ isBitmap: isBits }) => !isBits)) {
    const clauses = lists.map((list) => ({ lists: [list] }))
    return matchClauses({ size: documents.size, passing }, clauses)
  }
  const passes = (number: number) => passing === undefined || passing[number] === 1
  return matchShortest(documents, { passes, common: lists.map(({ bytes }) => bytes), limit })
}

interface BitmapMatch {
  readonly passes: (number: number) => boolean
  readonly common: readonly Uint8Array[]
  readonly limit: number
}

/** With the same terms, shorter messages score higher, and newer ones come first. */
function matchShortest(documents: Documents, { passes, common, limit }: BitmapMatch): Numbers {
  const found = new Uint32Array(limit)
  let [count, at] = [0, 0]
  // A sixteenth of the messages is mostly enough; sorting all takes a command as long as the rest of its ranking.
  for (const wanted of [documents.size / SHORTEST_SHARE, documents.size]) {
    const numbers = sortByLength(documents, wanted)
    for (; at < numbers.length && count < limit; at++) {
      const number = numbers[at] as number
      if (passes(number) && common.every((bitmaps) => hasBit(bitmaps, number))) found[count++] = number
    }
    if (count === limit) break
  }
  return found.subarray(0, count)
}
