/**
 * The messages that can hold a stretch, where the index of words knows that they are few, looked at from the newest on
 * until there are as many hits as are wanted. Their texts decide. Says from where on it did not look.
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
  /** Asked between two looks. */
  readonly isOver: () => boolean
  /** Which of the messages with the stretch are meant. All, unless it is said. */
  readonly confirmed?: (rows: readonly HitRow[]) => Promise<readonly HitRow[]>
}

export interface Prefiltered {
  /** Newest first: all that there are, but for those before the moment. */
  readonly hits: readonly Hit[]
  /** What is older was not looked at. */
  readonly before?: bigint
}

/** So many are read at once without asking which are the newest. */
const FEW = 256
const BATCH_MIN = 64
const BATCH_GROWTH = 4
const BATCH_MAX = 2_048
/** A text read by the number of its row costs as much as some thirty that are walked through. */
const SELECTIVE_SHARE = 1 / 32
/** But a walk begins with some costs of its own. */
const SELECTIVE_MIN = 3_000
/** Texts of megabytes, read a few at a time. */
const CUT_MAX = 200
const CUT_AT_ONCE = 8

/** Nothing where the index does not narrow the search. */
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
  /** All that are as new were looked at; nothing where none is left at all. */
  readonly oldest: bigint | undefined
}

/** The newest of those that are left, about so many: all of one moment together, so that it can be said how far it went. */
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

/** Of most messages the text alone is read: few of those that hold the words hold them in that order. */
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
