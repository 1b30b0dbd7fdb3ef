/** Cuts a snippet out of a long text: the part with most of the query's terms. */

export interface Snippet {
  readonly text: string
  /** Whether the text is longer than the snippet. */
  readonly isCut: boolean
  /** How the text begins, where the snippet is from further on. */
  readonly prefix?: string
}

/** Of a hit with room for it: what a long message is about often stands in its first line. */
const PREFIX_UNITS = 160
const PREFIXED_UNITS_MIN = 4 * PREFIX_UNITS

/** A snippet, with the beginning of the text before it where there is room for both. Together at most `sizeMax`. */
export function cutHit(text: string, query: SnippetQuery, sizeMax: number): Snippet {
  const whole = cutSnippet(text, query, sizeMax)
  if (!whole.text.startsWith(ELLIPSIS) || !whole.isCut || sizeMax < PREFIXED_UNITS_MIN) return whole
  const prefix = `${text.slice(0, alignToCharacter(text, PREFIX_UNITS - ELLIPSIS.length))}${ELLIPSIS}`
  return { ...cutSnippet(text, query, sizeMax - PREFIX_UNITS), prefix }
}

const ELLIPSIS = "…"

export interface SnippetQuery {
  readonly terms: readonly string[]
  /** The position of the match, where it is known better than by terms. */
  readonly placeIn?: (text: string) => number | undefined
}

/** At most `sizeMax` characters around the best position; the beginning where no term is found. */
export function cutSnippet(text: string, { terms, placeIn }: SnippetQuery, sizeMax: number): Snippet {
  if (text.length <= sizeMax) return { text, isCut: false }
  const room = sizeMax - 2 * ELLIPSIS.length
  const place = placeIn?.(text)
  const begin = place === undefined ? findBestStart(text, terms, room) : place - Math.floor(room / 3)
  const start = Math.min(begin, text.length - room)
  const from = alignToCharacter(text, Math.max(0, start))
  const to = alignToCharacter(text, Math.min(text.length, from + room))
  const cut = text.slice(from, to)
  return { text: `${from > 0 ? ELLIPSIS : ""}${cut}${to < text.length ? ELLIPSIS : ""}`, isCut: true }
}

/** Occurrences considered per term. More do not change the choice: a term that is everywhere tells nothing. */
const PLACES_MAX = 200

function findBestStart(text: string, terms: readonly string[], room: number): number {
  const places = findTerms(text, terms)
  let best = { start: 0, weight: 0 }
  let from = 0
  let weight = 0
  for (const [to, place] of places.entries()) {
    weight += place.weight
    while (places[from] !== undefined && place.at - (places[from]?.at ?? 0) > room * 0.8)
      weight -= places[from++]?.weight ?? 0
    if (weight > best.weight)
      best = { start: (places[from]?.at ?? 0) - Math.floor((room - (place.at - (places[from]?.at ?? 0))) / 3), weight }
    if (to > PLACES_MAX) break
  }
  return Math.max(0, best.start)
}

function findTerms(text: string, terms: readonly string[]): { at: number; weight: number }[] {
  const lower = text.toLowerCase()
  const places: { at: number; weight: number }[] = []
  for (const term of new Set(terms.map((each) => each.toLowerCase()).filter(Boolean))) {
    for (
      let at = lower.indexOf(term), count = 0;
      at >= 0 && count < PLACES_MAX;
      at = lower.indexOf(term, at + term.length), count++
    ) {
      places.push({ at, weight: term.length })
    }
  }
  return places.toSorted((left, right) => left.at - right.at)
}

/** Moves a cut out of the middle of a surrogate pair. */
function alignToCharacter(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at
}
