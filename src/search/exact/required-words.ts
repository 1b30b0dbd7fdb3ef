/**
 * Derives from a searched text which words a message must have to contain it. A word inside the text, with a separator
 * on both sides, is a term of every message that contains it. The first and last may be the end and the beginning of
 * longer words, which the word list names. The result is never too narrow: an answer by it is as complete as reading
 * every text.
 */

import type { Sessions } from "../../sessions/store.ts"
import { findWordSpans, indexTerms, TRUNCATED_TERM } from "../../sessions/words/terms/tokenizer.ts"
import { toComparable, type WordList } from "../../sessions/words/terms/word-list.ts"
import type { WordClause } from "../../sessions/words/word-index.ts"

export interface Needle {
  readonly text: string
  readonly isCaseBlind: boolean
}

/** A fragment in more words than this is in most messages. */
const HOLDERS_MAX = 400
const PART_UNITS_MIN = 3
/** The longest are kept, which are the rarest. */
const REQUIRED_MAX = 24

// --- What is certain --------------------------------------------------------------------------------------------------

/** Separators, which no word crosses: everything but letters, digits, marks and the underscore. */
const BETWEEN = /[^\p{L}\p{M}\p{N}_]/gu

/** Characters that are separate words, whatever stands beside them. */
const HAN = /\p{Script=Han}+|\p{Extended_Pictographic}/gu

/** Empty where the text has no whole word. */
export function findRequiredWords(stretch: string): string[] {
  const places = [...stretch.matchAll(BETWEEN)].map(({ index }) => index)
  const inside = stretch.slice(places[0] ?? 0, (places.at(-1) ?? -1) + 1)
  // Joined terms depend on both neighbours, so only terms of the words themselves are taken.
  const whole = [...inside.split(BETWEEN), ...(stretch.match(HAN) ?? []), ...findDense(stretch)].filter(Boolean)
  const terms = whole.flatMap((word) => indexTerms(word))
  return [...new Set(terms)].filter((term) => !/[*~]$/.test(term))
}

const DENSE = /[\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Han}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}]+/gu
/** Characters that combine with the one before, or with the next. */
const LEADING = /^[\p{M}\uFF9E\uFF9F]+/u
const TRAILING = /.[\p{M}\uFF9E\uFF9F]*$/su
const CONJOINING = /[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\uffa0-\uffdc]/

/** Scripts without spaces are indexed by character. The first and last characters of a run may combine with others. */
function findDense(stretch: string): string[] {
  return (stretch.match(DENSE) ?? [])
    .filter((run) => !CONJOINING.test(run))
    .map((run) => run.replace(LEADING, "").replace(TRAILING, ""))
}

/** A fragment of a word at the beginning or end of the text, in the form of the word list. */
interface WordPart {
  readonly compared: string
  /** Whether the word starts, or ends, with the fragment. */
  readonly isStart: boolean
  readonly isEnd: boolean
}

/** Ignoring case, a word may split into other parts, so the words inside are looked up too. */
function findWordParts({ text, isCaseBlind }: Needle): WordPart[] {
  const parts: WordPart[] = []
  for (const { start, end } of findWordSpans(text)) {
    const [isStart, isEnd] = [start > 0, end < text.length]
    if (isStart && isEnd && !isCaseBlind) continue
    let run = text.slice(start, end)
    if (!isStart) run = run.replace(/^\p{M}+/u, "")
    // The next character may combine with a letter outside ASCII.
    if (!isEnd && /[^\0-\x7f]$/.test(run)) run = run.replace(/.\p{M}*$/su, "")
    const compared = toComparable(run)
    if (compared.length >= PART_UNITS_MIN) parts.push({ compared, isStart, isEnd })
  }
  return parts
}

// --- Asking -----------------------------------------------------------------------------------------------------------

/**
 * Clauses that every message containing the text satisfies; undefined where the index knows none. Messages newer than
 * the word list satisfy every fragment.
 */
export async function buildClauses(sessions: Sessions, stretch: Needle): Promise<WordClause[] | undefined> {
  const certain = stretch.isCaseBlind ? [] : findRequiredWords(stretch.text)
  const rarest = certain.toSorted((left, right) => right.length - left.length).slice(0, REQUIRED_MAX)
  const parts = findWordParts(stretch)
  const list = parts.length === 0 ? undefined : await sessions.wordList()
  const holders = list === undefined ? [] : findHolders(list, parts)
  // A store that lost rows to a power failure will reuse their numbers for others.
  if (list !== undefined && holders.length > 0 && (await sessions.tables.messages.nextRowNumber()) < list.reach)
    return undefined
  const clauses: WordClause[] = [
    ...toIndexTerms(rarest).map((term) => ({ terms: [term] })),
    ...holders.map((terms) => ({ terms: toIndexTerms(terms), from: list?.reach ?? 0 })),
  ]
  // Only the beginning of very long texts is indexed, so those always have to be read.
  return clauses.length === 0
    ? undefined
    : clauses.map((clause) => ({ ...clause, terms: [...clause.terms, TRUNCATED_TERM] }))
}

/** Per fragment the words that contain it. Fragments of too many words are left out, because they narrow nothing. */
function findHolders(list: WordList, parts: readonly WordPart[]): string[][] {
  return parts.flatMap((part) => {
    const terms = list.termsHolding(part.compared, part, HOLDERS_MAX)
    return terms === undefined ? [] : [terms]
  })
}

/** A sign that folds to several words is several terms. */
function toIndexTerms(terms: readonly string[]): string[] {
  return [...new Set(terms.flatMap((term) => term.split(" ")).filter(Boolean))]
}
