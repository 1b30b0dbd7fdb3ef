/**
 * Numbers of JSON that a double cannot hold: whether a text has one, and what a number is worth. Such a number has sixteen
 * digits or more, or an exponent beyond every double. The first is looked for in the text, the second in what the text
 * parses to: an exponent so large gives a huge or tiny number, or a zero. Text that merely looks like one costs the slow way,
 * never a wrong value. A text is looked at only for what its value can hide: many records have no number at all.
 */

const MANY_DIGITS = /[0-9.]{16}/
/** The end of a number with a tiny exponent, from its sign on: half of a UUID does not end like this. */
const TINY_POWER = /-[0-9]{3,}\s*(?:[,}\]]|$)/y

export function hasManyDigits(text: string): boolean {
  return MANY_DIGITS.test(text)
}

/** So many minus signs are looked at one by one: of a text that has more, those are that an exponent has. */
const MINUS_MAX = 24

/** Whether a text has a number that is smaller than every double, `1e-400`: such a one parses to a zero. */
export function hasTinyExponent(text: string): boolean {
  let at = text.indexOf("-")
  for (let count = 0; at >= 0; at = text.indexOf("-", at + 1)) {
    if (++count > MINUS_MAX) return hasTinyPower(text, "e-", at - 1) || hasTinyPower(text, "E-", at - 1)
    if (isExponentMark(text.charCodeAt(at - 1)) && isTinyPower(text, at)) return true
  }
  return false
}

/** Not with one pattern for both: the engine finds a text many times faster. */
function hasTinyPower(text: string, mark: "e-" | "E-", from: number): boolean {
  for (let at = text.indexOf(mark, from); at >= 0; at = text.indexOf(mark, at + 2))
    if (isTinyPower(text, at + 1)) return true
  return false
}

function isTinyPower(text: string, at: number): boolean {
  if (!isDigit(text.charCodeAt(at - 2))) return false
  TINY_POWER.lastIndex = at
  return TINY_POWER.test(text)
}

const EVERY_MANY_DIGITS = new RegExp(MANY_DIGITS, "g")

/** Of a text with more of them, any may be a number. */
const SUSPECTS_MAX = 64

/**
 * Each place with many digits is looked at: ids and hashes have them, and most prices are doubles to the last digit. What
 * stands in the middle of a word, as digits of a hash do, is in a text, and no number. Neither is what no number of the
 * value was made of: the output of a tool is often JSON itself.
 */
export function hasInexact(text: string, value: unknown): boolean {
  const suspects = new Set<number>()
  EVERY_MANY_DIGITS.lastIndex = 0
  while (EVERY_MANY_DIGITS.test(text)) {
    let end = EVERY_MANY_DIGITS.lastIndex
    let start = end - 1
    while (end < text.length && isNumeral(text.charCodeAt(end))) end++
    while (start > 0 && isNumeral(text.charCodeAt(start - 1))) start--
    EVERY_MANY_DIGITS.lastIndex = end
    if (!isBeforeValue(text, start) || !isBehindValue(text, end)) continue
    const token = text.slice(start, end)
    if (NUMBER.test(token) && !isHeld(Number(token), token)) suspects.add(Number(token))
    if (suspects.size > SUSPECTS_MAX) return true
  }
  return suspects.size > 0 && hasOneOf(value, suspects)
}

function hasOneOf(value: unknown, numbers: ReadonlySet<number>): boolean {
  if (typeof value === "number") return numbers.has(value)
  if (typeof value !== "object" || value === null) return false
  for (const inner of Object.values(value)) if (hasOneOf(inner, numbers)) return true
  return false
}

/** Whether a value can begin here: behind a colon, a comma, a bracket or white space. */
function isBeforeValue(text: string, start: number): boolean {
  if (start === 0) return true
  const unit = text.charCodeAt(start - 1)
  return unit === 58 || unit === 44 || unit === 91 || isBlank(unit)
}

function isBehindValue(text: string, end: number): boolean {
  if (end === text.length) return true
  const unit = text.charCodeAt(end)
  return unit === 44 || unit === 93 || unit === 125 || isBlank(unit)
}

function isBlank(unit: number): boolean {
  return unit === 32 || unit === 9 || unit === 10 || unit === 13
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57
}

/** What a number is written with: digits, a sign, a point, an exponent. */
function isNumeral(unit: number): boolean {
  return isDigit(unit) || unit === 43 || unit === 45 || unit === 46 || isExponentMark(unit)
}

function isExponentMark(unit: number): boolean {
  return unit === 69 || unit === 101
}

// --- What a number is worth ---------------------------------------------------------------------------------------------

/** Whether a double is the number that its source wrote. Nearly every source writes a double as the engine does. */
export function isHeld(value: number, token: string): boolean {
  const text = String(value)
  return text === token || decimalText(text) === decimalText(token)
}

const NUMBER = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/

/** The value of a number as sign, digits without zeros at either end, and power of ten. */
export function decimalText(text: string): string {
  const parts = NUMBER.exec(text)
  if (parts === null) return text
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = parts
  const digits = `${whole}${fraction}`
  // Not with a pattern: one that looks for zeros at the end begins anew at every zero, and digits come by the million.
  let start = 0
  let end = digits.length
  while (digits.charCodeAt(start) === 48) start++
  while (end > start && digits.charCodeAt(end - 1) === 48) end--
  if (start === end) return "0"
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - end)
  return `${sign}${digits.slice(start, end)}e${power}`
}
