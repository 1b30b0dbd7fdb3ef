/**
 * Words that are spelled almost like another: so many letters put in, left out or changed. All terms of a large store are
 * looked through for them, so they are looked at as bytes, and nearly all are done with after their length and letters.
 * Pure.
 */

const NEWLINE = 0x0a
/** A letter outside of ASCII is several bytes, all of which may change with it. */
const BYTES_OF_LETTER = 3

/** Of the terms that stand in the text one in a line, those within the distance of the word. */
export function linesLike(text: Uint8Array, word: string, distance: number): { like: string; apart: number }[] {
  const own = Buffer.from(word)
  const isPlain = own.length === word.length
  const mask = maskOf(own, 0, own.length)
  const found: { like: string; apart: number }[] = []
  for (let from = 0; from < text.length; ) {
    let [end, letters, isPlainTerm] = [from, 0, true]
    for (let byte = text[end] as number; end < text.length && byte !== NEWLINE; byte = text[++end] as number) {
      letters |= 1 << (byte & 31)
      if (byte > 0x7f) isPlainTerm = false
    }
    const most = isPlain && isPlainTerm ? distance : distance * BYTES_OF_LETTER
    if (
      Math.abs(end - from - own.length) <= most &&
      bitsOf(letters & ~mask) <= most &&
      bitsOf(mask & ~letters) <= most
    ) {
      const like = Buffer.from(text.buffer, text.byteOffset + from, end - from).toString("utf8")
      const apart = apartness(word, like, distance)
      if (apart <= distance) found.push({ like, apart })
    }
    from = end + 1
  }
  return found
}

function maskOf(bytes: Uint8Array, from: number, to: number): number {
  let mask = 0
  for (let at = from; at < to; at++) mask |= 1 << ((bytes[at] as number) & 31)
  return mask
}

function bitsOf(mask: number): number {
  let bits = 0
  for (let rest = mask; rest !== 0; rest &= rest - 1) bits += 1
  return bits
}

/** The distance of Levenshtein, or anything above `most` where it is above. */
export function apartness(one: string, other: string, most: number): number {
  let before = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    let least = row
    for (let column = 1; column <= other.length; column++) {
      const changed = (before[column - 1] ?? 0) + (one[row - 1] === other[column - 1] ? 0 : 1)
      const cost = Math.min(changed, (before[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1)
      current.push(cost)
      least = Math.min(least, cost)
    }
    if (least > most) return least
    before = current
  }
  return before.at(-1) ?? 0
}

/** No term that begins so is less apart from the word: what comes after never brings them nearer. */
export function leastApart(start: string, word: string): number {
  let before = Array.from({ length: word.length + 1 }, (_, index) => index)
  for (let row = 1; row <= start.length; row++) {
    const current = [row]
    for (let column = 1; column <= word.length; column++) {
      const changed = (before[column - 1] ?? 0) + (start[row - 1] === word[column - 1] ? 0 : 1)
      current.push(Math.min(changed, (before[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    before = current
  }
  return Math.min(...before)
}

export function commonStart(one: string, other: string): string {
  let length = 0
  while (length < one.length && one[length] === other[length]) length += 1
  return one.slice(0, length)
}
