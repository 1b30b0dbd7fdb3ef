/** What kind of query this is: which of it is meant to the letter, and how long it is. Decides which arms are asked. */

export interface QueryShape {
  /** The query without its quotes: what words and meaning are asked for. */
  readonly text: string
  /** Stretches in double quotes: meant to the letter. */
  readonly quoted: readonly string[]
  /** Words that no language has: identifiers, paths, file names, error codes, hashes, flags. */
  readonly identifiers: readonly string[]
  /** Runs without white space, as people count words. */
  readonly wordCount: number
}

/** No quotation mark inside one: each stretch is read once, however many marks stay open. */
const QUOTED = /"([^"]+)"|“([^“”]+)”/g
const IDENTIFIER =
  /^(?:--?[\w-]+|[\w.-]*\/[\w./-]+|\w+_\w[\w]*|[a-z]+[A-Z]\w*|[A-Z]+[a-z]+[A-Z]\w*|[\w-]+\.[a-z]{1,5}|[A-Z]{1,5}-?\d{2,}\w*|[0-9a-f]{7,40}|\w+::\w[\w:]*)$/
/** No identifier is longer, and the patterns are not asked for what is. */
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
