/**
 * Which messages can hold a stretch, as the index knows it. Words that stand whole inside the stretch, with something on
 * both sides, are terms of every text that holds it. The first and the last may be the end and the beginning of longer
 * words: the list of all words says of which. The texts of what is left decide, so that the answer is as complete as a
 * look at every text.
 */

import { CUT_TERM, indexTerms, wordsOf } from "../sessions/search-terms.ts"
import type { Sessions } from "../sessions/store.ts"
import { comparedOf, type WordList } from "../sessions/word-list.ts"
import type { WordQuery } from "../sessions/words/word-index.ts"
import { and, type Filter, stored } from "../substrate/filter.ts"
import { HIT_COLUMNS, type HitRow, hitOf } from "./hit-rows.ts"
import type { Hit } from "./request.ts"

export interface Stretch {
  readonly text: string
  readonly isCaseBlind: boolean
}

/** More messages with the words than this are no narrowing: then a walk finds the newest sooner. */
const NARROW_MAX = 3_000
/** Their numbers alone cost little. */
const HELD_MAX = 20_000
/** So many rows that the list of words does not tell of are looked at one by one. */
const TAIL_MAX = 20_000
/** Texts of megabytes, read a few at a time. */
const CUT_MAX = 200
const CUT_AT_ONCE = 8
/** A part of more words than this is a part of most messages. */
const HOLDERS_MAX = 400
const PART_UNITS_MIN = 3
/** The longest are the rarest. */
const CERTAIN_MAX = 24

// --- What is certain --------------------------------------------------------------------------------------------------

/** What no word goes on across. Letters, digits, marks and the underscore make words; so does no sign or space. */
const BETWEEN = /[^\p{L}\p{M}\p{N}_]/gu

/** Characters that are words of their own, whatever stands beside them. */
const HAN = /\p{Script=Han}+|\p{Extended_Pictographic}/gu

/** Nothing where the stretch holds no whole word. */
export function certainWords(stretch: string): string[] {
  const places = [...stretch.matchAll(BETWEEN)].map(({ index }) => index)
  const inside = stretch.slice(places[0] ?? 0, (places.at(-1) ?? -1) + 1)
  // What is derived from a word's neighbours needs them all; the words themselves do not.
  const whole = [...inside.split(BETWEEN), ...(stretch.match(HAN) ?? []), ...denseInside(stretch)].filter(Boolean)
  const terms = whole.flatMap((word) => indexTerms(word))
  return [...new Set(terms)].filter((term) => !/[*~]$/.test(term))
}

const DENSE = /[\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Han}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}]+/gu
/** They join with what stands before them, or with what comes next. */
const LEADING = /^[\p{M}\uFF9E\uFF9F]+/u
const TRAILING = /.[\p{M}\uFF9E\uFF9F]*$/su
const CONJOINING = /[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\uffa0-\uffdc]/

/** Scripts without spaces are indexed by the character; the first and the last one may be parts of others still. */
function denseInside(stretch: string): string[] {
  return (stretch.match(DENSE) ?? [])
    .filter((run) => !CONJOINING.test(run))
    .map((run) => run.replace(LEADING, "").replace(TRAILING, ""))
}

/** A part of a word at the beginning or the end of a stretch, as the list of words has it. */
interface Part {
  readonly compared: string
  /** Whether the word begins, or ends, with it. */
  readonly isStart: boolean
  readonly isEnd: boolean
}

/** In another case a word may have other parts, so that then the words inside are looked up too. */
function wordParts({ text, isCaseBlind }: Stretch): Part[] {
  const parts: Part[] = []
  for (const { start, end } of wordsOf(text)) {
    const [isStart, isEnd] = [start > 0, end < text.length]
    if (isStart && isEnd && !isCaseBlind) continue
    let run = text.slice(start, end)
    if (!isStart) run = run.replace(/^\p{M}+/u, "")
    // What comes next may join with a letter that has no ASCII form.
    if (!isEnd && /[^\0-\x7f]$/.test(run)) run = run.replace(/.\p{M}*$/su, "")
    const compared = comparedOf(run)
    if (compared.length >= PART_UNITS_MIN) parts.push({ compared, isStart, isEnd })
  }
  return parts
}

// --- Asking -----------------------------------------------------------------------------------------------------------

/** In no order, all of them; nothing where the index does not narrow the search. */
export async function findNarrowed(sessions: Sessions, stretch: Stretch, where: Filter): Promise<Hit[] | undefined> {
  const certain = stretch.isCaseBlind ? [] : certainWords(stretch.text)
  const parts = wordParts(stretch)
  const list = parts.length === 0 ? undefined : await sessions.wordList()
  const holders = list === undefined ? [] : holdersOf(list, parts)
  if (certain.length === 0 && holders.length === 0) return undefined
  const [indexed, fresh, cut] = await Promise.all([
    holders.some((terms) => terms.length === 0) ? [] : holding(sessions, { certain, holders }, where),
    list === undefined || holders.length === 0 ? [] : notInList(sessions, list, where),
    // Of a text that is too long to index whole, only its beginning is known: those are looked at too.
    cutHolding(sessions, stretch, where),
  ])
  if (indexed === undefined || fresh === undefined || cut === undefined) return undefined
  const rows = [...indexed, ...fresh].filter((row) => holds(row, stretch))
  const hits = new Map([...rows, ...cut].map((row) => [`${row.session_id.length} ${row.session_id}${row.id}`, row]))
  return [...hits.values()].map((row) => hitOf(row, 1))
}

function holds({ search_text: text }: HitRow, stretch: Stretch): boolean {
  if (text === null) return false
  return stretch.isCaseBlind ? text.toLowerCase().includes(stretch.text.toLowerCase()) : text.includes(stretch.text)
}

/** For each part the words that hold it. Parts of too many words are left out: they narrow nothing. */
function holdersOf(list: WordList, parts: readonly Part[]): string[][] {
  return parts.flatMap((part) => {
    const terms = list.termsHolding(part.compared, part, HOLDERS_MAX)
    return terms === undefined ? [] : [terms]
  })
}

/** Which messages hold all of the certain words, and of each part one of its words. */
async function holding(
  { words }: Sessions,
  { certain, holders }: { readonly certain: readonly string[]; readonly holders: readonly (readonly string[])[] },
  where: Filter,
): Promise<HitRow[] | undefined> {
  const rarest = certain.toSorted((left, right) => right.length - left.length).slice(0, CERTAIN_MAX)
  const queries: WordQuery[] = [
    ...(rarest.length === 0 ? [] : [{ terms: asIndexed(rarest), every: true }]),
    ...holders.map((terms) => ({ terms: asIndexed(terms) })),
  ]
  const found = await Promise.all(queries.map((query) => words.search(query, { columns: [], where, limit: HELD_MAX })))
  // What as many hold as were asked for, more may hold: the others narrow.
  const [first, ...others] = found
    .filter((rows) => rows.length < HELD_MAX)
    .map((rows) => new Set(rows.map(({ _row }) => _row)))
  if (first === undefined) return undefined
  const all = [...others.reduce((held, other) => held.intersection(other), first)]
  return all.length < NARROW_MAX ? await words.read(all, HIT_COLUMNS) : undefined
}

/** A sign that stands for several words is as many terms. */
function asIndexed(terms: readonly string[]): string[] {
  return terms.flatMap((term) => term.split(" ")).filter(Boolean)
}

async function notInList({ tables }: Sessions, { reach }: WordList, where: Filter): Promise<HitRow[] | undefined> {
  const count = await tables.messages.reach()
  if (count === reach) return []
  // Fewer than the list was made of: a store that lost some to a power cut, and will have others in their places.
  if (count < reach || count - reach > TAIL_MAX) return undefined
  return await tables.messages.read({ columns: HIT_COLUMNS, where: and(where, stored(reach)) })
}

async function cutHolding({ words }: Sessions, stretch: Stretch, where: Filter): Promise<HitRow[] | undefined> {
  const keys = await words.search({ terms: [CUT_TERM] }, { columns: [], where, limit: CUT_MAX })
  if (keys.length >= CUT_MAX) return undefined
  const found: HitRow[] = []
  for (let from = 0; from < keys.length; from += CUT_AT_ONCE) {
    const some = keys.slice(from, from + CUT_AT_ONCE).map(({ _row }) => _row)
    const rows = await words.read(some, HIT_COLUMNS)
    found.push(...rows.filter((row) => holds(row, stretch)))
  }
  return found
}
