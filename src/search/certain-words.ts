/**
 * Which words every text must hold that holds a stretch: those that stand whole inside it, with something on both sides.
 * The first and the last may be the end and the beginning of longer words, so nothing is known of them. With such words
 * the index narrows an exact search, and the answer is as complete as a look at every text.
 */

import { CUT_TERM, indexTerms } from "../sessions/search-terms.ts"
import type { Sessions } from "../sessions/store.ts"
import type { Filter } from "../substrate/filter.ts"
import { HIT_COLUMNS, hitOf } from "./hit-rows.ts"
import type { Hit } from "./request.ts"

/** More messages with the words than this are no narrowing: then a walk finds the newest sooner. */
const NARROW_MAX = 2_000
/** What no word goes on across. Letters, digits, marks and the underscore make words; so does no sign or space. */
const BETWEEN = /[^\p{L}\p{M}\p{N}_]/gu

/** Characters that are words of their own, whatever stands beside them. */
const HAN = /\p{Script=Han}+/gu

/** Nothing where the stretch holds no whole word. */
export function certainWords(stretch: string): string[] {
  const places = [...stretch.matchAll(BETWEEN)].map(({ index }) => index)
  const inside = stretch.slice(places[0] ?? 0, (places.at(-1) ?? -1) + 1)
  // What is derived from a word's neighbours needs them all; the words themselves do not.
  const whole = [...inside.split(BETWEEN), ...(stretch.match(HAN) ?? [])].filter(Boolean)
  const terms = whole.flatMap((word) => indexTerms(word))
  return [...new Set(terms)].filter((term) => !/[*~]$/.test(term))
}

/** Newest first, all of them; nothing where the index does not narrow the search. */
export async function findNarrowed(sessions: Sessions, text: string, where: Filter): Promise<Hit[] | undefined> {
  const words = certainWords(text)
  if (words.length === 0) return undefined
  const holding = (terms: readonly string[]) =>
    sessions.words.search({ terms, every: true }, { columns: HIT_COLUMNS, where, limit: NARROW_MAX })
  // Of a text that is too long to index whole, only its beginning is known: those are looked at too.
  const [known, cut] = await Promise.all([holding(words), holding([CUT_TERM])])
  if (known.length >= NARROW_MAX || cut.length >= NARROW_MAX) return undefined
  const hits = new Map(
    [...known, ...cut]
      .filter(({ search_text }) => search_text?.includes(text) === true)
      .map((row) => [`${row.session_id.length} ${row.session_id}${row.id}`, hitOf(row, 1)]),
  )
  return [...hits.values()]
}
