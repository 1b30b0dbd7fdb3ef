/** Analyses a query: what of it is meant literally, and how long it is. Decides which arms are asked. */

export interface QueryShape {
  /** The query without quotation marks, for the word and meaning arms. */
  readonly text: string
  /** Text in double quotes, meant literally. */
  readonly quoted: readonly string[]
  /** Words that are not language: identifiers, paths, file names, error codes, hashes, flags. */
  readonly identifiers: readonly string[]
  /** Words separated by white space, as people count them. */
  readonly wordCount: number
}

/** Excludes quotation marks inside, so that unclosed quotes cannot cause backtracking. */
const QUOTED = /"([^"]+)"|“([^“”]+)”/g
const IDENTIFIER =
  /^(?:--?[\w-]+|[\w.-]*\/[\w./-]+|\w+_\w[\w]*|[a-z]+[A-Z]\w*|[A-Z]+[a-z]+[A-Z]\w*|[\w-]+\.[a-z]{1,5}|[A-Z]{1,5}-?\d{2,}\w*|[0-9a-f]{7,40}|\w+::\w[\w:]*)$/
/** Longer words are not identifiers and are not tested by the pattern. */
const IDENTIFIER_UNITS_MAX = 300
const EDGES = /^[\s`'"“”([{<]+|[\s`'"“”)\]}>,;:.!?]+$/g

export function parseQuery(query: string): QueryShape {
  const quoted: string[] = []
  for (const [, straight, curly] of query.matchAll(QUOTED)) quoted.push((straight ?? curly ?? "").trim())
  const text = query.replace(QUOTED, " $1$2 ").replace(/\s+/g, " ").trim()
  const words = text.split(" ").filter(Boolean)
  const identifiers = words
    .filter((word) => word.length <= IDENTIFIER_UNITS_MAX)
    .map((word) => word.replace(EDGES, ""))
    .filter((word) => word.length >= 3 && IDENTIFIER.test(word))
  return { text, quoted: quoted.filter(Boolean), identifiers: [...new Set(identifiers)], wordCount: words.length }
}
