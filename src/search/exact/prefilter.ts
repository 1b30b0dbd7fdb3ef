/**
 * Narrows an exact search by the word index: where only few messages can contain the text, those are read, newest
 * first, until there are enough hits. Their texts decide. The result says how far back it looked.
 */

import type { Sessions } from "../../sessions/store.ts"
import { TRUNCATED_TERM } from "../../sessions/words/terms/tokenizer.ts"
import type { WordMatches } from "../../sessions/words/word-index.ts"
import type { Filter } from "../../substrate/filter.ts"
import { HIT_COLUMNS, type HitRow, toHit } from "../hit.ts"
import { type Hit, newestFirst } from "../request.ts"
import { buildClauses, type Needle } from "./required-words.ts"
import { estimateRows } from "./time-windows.ts"

export interface PrefilterRequest {
  readonly stretch: Needle
  readonly where: Filter
  readonly limit: number
  /** Checked between batches. */
  readonly isOver: () => boolean
  /** A further test of the rows that contain the text, such as the whole pattern. */
  readonly confirmed?: (rows: readonly HitRow[]) => Promise<readonly HitRow[]>
}

export interface Prefiltered {
  /** Newest first, complete back to `before`. */
  readonly hits: readonly Hit[]
  /** Older messages were not read. Undefined where all were. */
  readonly before?: bigint
}

/** Up to this many are read at once, unsorted. */
const FEW = 256
const BATCH_MIN = 64
const BATCH_GROWTH = 4
const BATCH_MAX = 2_048
/** Reading a row by number costs as much as scanning about thirty. */
const SELECTIVE_SHARE = 1 / 32
/** A scan has a fixed cost that reading up to this many rows does not exceed. */
const SELECTIVE_MIN = 3_000
/** Texts of megabytes, of which only the beginning is indexed. Read a few at a time. */
const CUT_MAX = 200
const CUT_AT_ONCE = 8

/** Undefined where the index does not narrow the search. */
export async function findPrefiltered(sessions: Sessions, request: PrefilterRequest): Promise<Prefiltered | undefined> {
  const { stretch, where, limit, isOver } = request
  const clauses = await buildClauses(sessions, stretch)
  if (clauses === undefined) return undefined
  const most = Math.max(SELECTIVE_MIN, (await sessions.tables.messages.nextRowNumber()) * SELECTIVE_SHARE)
  const [holding, cut] = await Promise.all([
    sessions.words.findMatching(clauses, { where, most, few: FEW }),
    sessions.words.findMatching([{ terms: [TRUNCATED_TERM] }], { where, most: CUT_MAX, few: CUT_MAX }),
  ])
  if (holding === undefined || cut === undefined) return undefined
  const isCut = new Set(cut.rows)
  const looks = openBatches(holding)
  const hits: Hit[] = []
  let looked = 0
  for (let wanted = Math.max(BATCH_MIN, limit); ; wanted = Math.max(BATCH_MIN, wanted)) {
    const { rows, oldest } = looks.next(Math.min(BATCH_MAX, wanted))
    const held = await readMatching(sessions, request, rows, isCut)
    hits.push(...held.map((row) => toHit(row, 1)).sort(newestFirst))
    if (oldest === undefined) return { hits }
    if (hits.length >= limit || isOver()) return { hits, before: oldest }
    looked += rows.length
    wanted = Math.min(rows.length * BATCH_GROWTH, estimateRows(limit - hits.length, hits.length / looked))
  }
}

interface Batch {
  readonly rows: readonly number[]
  /** Everything as new as this was read. Undefined at the end. */
  readonly oldest: bigint | undefined
}

/**
 * Batches of about the wanted size, newest first. Messages of one timestamp stay together, so that the position can be
 * stated.
 */
function openBatches({ rows, moments }: WordMatches): { next(wanted: number): Batch } {
  if (moments === undefined) return { next: () => ({ rows: [...rows], oldest: undefined }) }
  const ordered = moments.toSorted()
  let before = Number.POSITIVE_INFINITY
  let left = rows.length
  return {
    next: (wanted) => {
      const oldest = ordered[Math.max(0, left - Math.ceil(wanted))] as number
      const own: number[] = []
      for (let at = 0; at < rows.length; at++) {
        const moment = moments[at] as number
        if (moment >= oldest && moment < before) own.push(rows[at] as number)
      }
      left -= own.length
      before = oldest
      return { rows: own, oldest: left === 0 ? undefined : BigInt(oldest) }
    },
  }
}

/** Reads the text alone first, because few of the messages that have the words have them in this order. */
async function readMatching(
  { words, tables }: Sessions,
  { stretch, confirmed }: PrefilterRequest,
  rows: readonly number[],
  isCut: ReadonlySet<number>,
): Promise<readonly HitRow[]> {
  const looks = [rows.filter((row) => !isCut.has(row)), ...splitRows(rows.filter((row) => isCut.has(row)))]
  const held: number[] = []
  for (const own of looks) {
    if (own.length === 0) continue
    const read = await tables.messages.takeByNumber(own, ["search_text"])
    for (const { search_text, row } of read) if (containsNeedle(search_text, stretch)) held.push(row)
  }
  if (held.length === 0) return []
  const found = await words.read(held, HIT_COLUMNS)
  return confirmed === undefined ? found : await confirmed(found)
}

function splitRows(rows: readonly number[]): number[][] {
  const pieces: number[][] = []
  for (let from = 0; from < rows.length; from += CUT_AT_ONCE) pieces.push(rows.slice(from, from + CUT_AT_ONCE))
  return pieces
}

function containsNeedle(text: string | null, { text: wanted, isCaseBlind }: Needle): boolean {
  if (text === null) return false
  return isCaseBlind ? text.toLowerCase().includes(wanted.toLowerCase()) : text.includes(wanted)
}
