/**
 * What every text has that a pattern matches: the longest stretch of it that stands for itself. Only plain patterns are
 * read (no groups, no choices, no flags), and nothing is said of any other, so that whether one is right at all is
 * still the engine's to say. Pure.
 */

/** One thing of a pattern and how often it may be there. A sign that means something stands for itself behind a stroke. */
const PIECE =
  /(?:(?<plain>[^\\.+*?()|[\]{}^$])|\\(?<sign>[\\.+*?()|[\]{}^$#&~-])|(?:\\[wdsWDS]|\.|\[\^?(?:\\[wds]|a-z|A-Z|0-9|\w)+\]))(?<often>[+*?]\??)?|\\[bB]|\^|\$/suy

/** A long one costs the engine more for each text than is saved. */
const PATTERN_UNITS_MAX = 200

/** Nothing where none is sure. */
export function requiredLiteral(pattern: string): string | undefined {
  if (pattern.length > PATTERN_UNITS_MAX || !pattern.isWellFormed()) return undefined
  let [longest, run] = ["", ""]
  for (let at = 0; at < pattern.length; at = PIECE.lastIndex) {
    PIECE.lastIndex = at
    const piece = PIECE.exec(pattern)
    if (piece === null) return undefined
    const { plain, sign, often } = piece.groups ?? {}
    const own = plain ?? sign
    // What may be missing is not sure, and behind what may be there twice nothing goes on.
    if (own !== undefined && (often === undefined || often.startsWith("+"))) run += own
    if (run.length > longest.length) longest = run
    if (own === undefined || often !== undefined) run = ""
  }
  return longest === "" ? undefined : longest
}
