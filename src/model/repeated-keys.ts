/**
 * Keys that stand twice in one object of a JSON text. `JSON.parse` keeps the last value and says nothing of the others, so
 * that a record with such a key would come back without it.
 */

/**
 * The first such key. `keys` is how many the parsed value has (`ParsedJson`). A key ends in `":`, and no text inside a string
 * does, because its quotes are escaped: where there are as many ends as keys nothing repeats, which tells nearly every record.
 */
export function repeatedKey(text: string, keys: number): string | undefined {
  return countKeyEnds(text) === keys ? undefined : findRepeated(text)
}

/** Not a number where a colon stands apart from its key, which is rare. Looks for one unit, which the engine finds fastest. */
function countKeyEnds(text: string): number {
  let count = 0
  for (let at = text.indexOf(":"); at >= 0; at = text.indexOf(":", at + 1)) {
    const before = text.charCodeAt(at - 1)
    if (before === QUOTE) {
      if (text.charCodeAt(at - 2) !== BACKSLASH) count++
    } else if (before <= SPACE && isBehindQuote(text, at)) return Number.NaN
  }
  return count
}

function isBehindQuote(text: string, colon: number): boolean {
  let at = colon - 1
  while (text.charCodeAt(at) <= SPACE) at--
  return text.charCodeAt(at) === QUOTE && text.charCodeAt(at - 1) !== BACKSLASH
}

const SPACE = 32
const QUOTE = 34
const BACKSLASH = 92
/** A string, with the colon that makes it a key, or a brace. Backtracks nowhere: every unit has one way to match. */
const TOKEN = /"((?:[^"\\]|\\.)*)"(\s*:)?|[{}]/gs

/** The text is JSON: so a string in front of a colon is a key of the innermost object that is open. */
function findRepeated(text: string): string | undefined {
  const open: Set<string>[] = []
  for (const [token, inside, colon] of text.matchAll(TOKEN)) {
    if (token === "{") open.push(new Set())
    else if (token === "}") open.pop()
    else if (colon !== undefined) {
      const key = JSON.parse(`"${inside}"`) as string
      const keys = open.at(-1)
      if (keys?.has(key)) return key
      keys?.add(key)
    }
  }
  return undefined
}
