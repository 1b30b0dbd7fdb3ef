/**
 * Extracts a literal from a regular expression: the longest string that every match contains. Reads only simple
 * patterns (no groups, alternatives or flags). Whether a pattern is valid remains for the engine to say. Pure. Regex
 * engines use the same technique (https://swtch.com/~rsc/regexp/regexp4.html).
 */

/** One element of a pattern with its repetition. A special character after a backslash stands for itself. */
const PIECE =
  /(?:(?<plain>[^\\.+*?()|[\]{}^$])|\\(?<sign>[\\.+*?()|[\]{}^$#&~-])|(?:\\[wdsWDS]|\.|\[\^?(?:\\[wds]|a-z|A-Z|0-9|\w)+\]))(?<often>[+*?]\??)?|\\[bB]|\^|\$/suy

/** A longer literal costs the engine more per text than it saves. */
const PATTERN_UNITS_MAX = 200

/** Undefined where no literal is certain. */
export function requiredLiteral(pattern: string): string | undefined {
  if (pattern.length > PATTERN_UNITS_MAX || !pattern.isWellFormed()) return undefined
  let [longest, run] = ["", ""]
  for (let at = 0; at < pattern.length; at = PIECE.lastIndex) {
    PIECE.lastIndex = at
    const piece = PIECE.exec(pattern)
    if (piece === null) return undefined
    const { plain, sign, often } = piece.groups ?? {}
    const own = plain ?? sign
    // An optional element is not certain, and nothing can be joined behind a repeated one.
    if (own !== undefined && (often === undefined || often.startsWith("+"))) run += own
    if (run.length > longest.length) longest = run
    if (own === undefined || often !== undefined) run = ""
  }
  return longest === "" ? undefined : longest
}
