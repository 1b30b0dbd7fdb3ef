/**
 * Which messages can hold a stretch, as the index knows it. Words that stand whole inside the stretch, with something on
 * both sides, are terms of every text that holds it. The first and the last may be the end and the beginning of longer
 * words: the list of all words says of which. What the words say is never less than what the texts hold, so that an answer
 * made of it is as complete as a look at every text.
 */

import type { Sessions } from "../../sessions/store.ts"
import { findWordSpans, indexTerms, TRUNCATED_TERM } from "../../sessions/words/terms/tokenizer.ts"
import { toComparable, type WordList } from "../../sessions/words/terms/word-list.ts"
import type { WordClause } from "../../sessions/words/word-index.ts"

export interface Needle {
  readonly text: string
  readonly isCaseBlind: boolean
}

/** A part of more words than this is a part of most messages. */
const HOLDERS_MAX = 400
const PART_UNITS_MIN = 3
/** The longest are the rarest. */
const REQUIRED_MAX = 24

// --- What is certain --------------------------------------------------------------------------------------------------

/** What no word goes on across. Letters, digits, marks and the underscore make words; so does no sign or space. */
const BETWEEN = /[^\p{L}\p{M}\p{N}_]/gu

/** Characters that are words of their own, whatever stands beside them. */
const HAN = /\p{Script=Han}+|\p{Extended_Pictographic}/gu

/** Nothing where the stretch holds no whole word. */
export function findRequiredWords(stretch: string): string[] {
  const places = [...stretch.matchAll(BETWEEN)].map(({ index }) => index)
  const inside = stretch.slice(places[0] ?? 0, (places.at(-1) ?? -1) + 1)
  // What is derived from a word's neighbours needs them all; the words themselves do not.
  const whole = [...inside.split(BETWEEN), ...(stretch.match(HAN) ?? []), ...findDense(stretch)].filter(Boolean)
  const terms = whole.flatMap((word) => indexTerms(word))
  return [...new Set(terms)].filter((term) => !/[*~]$/.test(term))
}

const DENSE = /[\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Han}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}]+/gu
/** They join with what stands before them, or with what comes next. */
const LEADING = /^[\p{M}\uFF9E\uFF9F]+/u
const TRAILING = /.[\p{M}\uFF9E\uFF9F]*$/su
const CONJOINING = /[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\uffa0-\uffdc]/

/** Scripts without spaces are indexed by the character; the first and the last one may be parts of others still. */
function findDense(stretch: string): string[] {
  return (stretch.match(DENSE) ?? [])
    .filter((run) => !CONJOINING.test(run))
    .map((run) => run.replace(LEADING, "").replace(TRAILING, ""))
}

/** A part of a word at the beginning or the end of a stretch, as the list of words has it. */
interface WordPart {
  readonly compared: string
  /** Whether the word begins, or ends, with it. */
  readonly isStart: boolean
  readonly isEnd: boolean
}

/** In another case a word may have other parts, so that then the words inside are looked up too. */
function findWordParts({ text, isCaseBlind }: Needle): WordPart[] {
  const parts: WordPart[] = []
  for (const { start, end } of findWordSpans(text)) {
    const [isStart, isEnd] = [start > 0, end < text.length]
    if (isStart && isEnd && !isCaseBlind) continue
    let run = text.slice(start, end)
    if (!isStart) run = run.replace(/^\p{M}+/u, "")
    // What comes next may join with a letter that has no ASCII form.
    if (!isEnd && /[^\0-\x7f]$/.test(run)) run = run.replace(/.\p{M}*$/su, "")
    const compared = toComparable(run)
    if (compared.length >= PART_UNITS_MIN) parts.push({ compared, isStart, isEnd })
  }
  return parts
}

// --- Asking -----------------------------------------------------------------------------------------------------------

/**
 * What a message that holds the stretch holds of words, each time one of several; nothing where the index does not know
 * of any. Messages that the list of words does not tell of yet count as if they held every part.
 */
export async function buildClauses(sessions: Sessions, stretch: Needle): Promise<WordClause[] | undefined> {
  const certain = stretch.isCaseBlind ? [] : findRequiredWords(stretch.text)
  const rarest = certain.toSorted((left, right) => right.length - left.length).slice(0, REQUIRED_MAX)
  const parts = findWordParts(stretch)
  const list = parts.length === 0 ? undefined : await sessions.wordList()
  const holders = list === undefined ? [] : findHolders(list, parts)
  // Fewer than the list was made of: a store that lost some to a power cut, and will have others in their places.
  if (list !== undefined && holders.length > 0 && (await sessions.tables.messages.nextRowNumber()) < list.reach)
    return undefined
  const clauses: WordClause[] = [
    ...toIndexTerms(rarest).map((term) => ({ terms: [term] })),
    ...holders.map((terms) => ({ terms: toIndexTerms(terms), from: list?.reach ?? 0 })),
  ]
  // Of a text that is too long to index whole, only its beginning is known: those are looked at too.
  return clauses.length === 0
    ? undefined
    : clauses.map((clause) => ({ ...clause, terms: [...clause.terms, TRUNCATED_TERM] }))
}

/** For each part the words that hold it. Parts of too many words are left out: they narrow nothing. */
function findHolders(list: WordList, parts: readonly WordPart[]): string[][] {
  return parts.flatMap((part) => {
    const terms = list.termsHolding(part.compared, part, HOLDERS_MAX)
    return terms === undefined ? [] : [terms]
  })
}

/** A sign that stands for several words is as many terms. */
function toIndexTerms(terms: readonly string[]): string[] {
  return [...new Set(terms.flatMap((term) => term.split(" ")).filter(Boolean))]
}
