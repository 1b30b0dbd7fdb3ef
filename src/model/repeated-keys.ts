/**
 * Keys that stand twice in one object of a JSON text. `JSON.parse` keeps the last value and says nothing of the others, so
 * that a record with such a key would come back without it.
 */
import type { JsonValue } from "./json.ts"

/**
 * The first such key. A key ends in `":` and no text inside a string does, because its quotes are escaped: where there are as
 * many as the value has keys, nothing repeats, and nearly every record is told by that alone.
 */
export function repeatedKey(text: string, value: JsonValue): string | undefined {
  return countKeyEnds(text) === countKeys(value) && !text.includes(SPACED_END) ? undefined : findRepeated(text)
}

/** A key end that is not counted. No client writes others, with another white space. */
const SPACED_END = '" :'

function countKeyEnds(text: string): number {
  let count = 0
  for (let at = text.indexOf('":'); at >= 0; at = text.indexOf('":', at + 2))
    if (text.charCodeAt(at - 1) !== BACKSLASH) count++
  return count
}

function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) count += countKeys(value[index])
    return count
  }
  for (const key in value) {
    const inner = (value as Readonly<Record<string, unknown>>)[key]
    count += 1 + (typeof inner === "object" ? countKeys(inner) : 0)
  }
  return count
}

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
