/**
 * The tokenizer: splits text into terms, the same way for the index and for queries. Every language takes the same
 * steps. What a script needs (words without spaces, letters with case) comes from Unicode properties; there is no list,
 * stemmer or dictionary of any language (`search-language-neutral-index`). The rules are written out in `FORMAT.md`.
 *
 *   word                  itself, and prefixes of 4 and 6 units: `sessions sess* sessio*` meets `session sess* sessio*`
 *   identifier            itself without separators, its parts, and each two neighbouring parts joined
 *   script without spaces each character and each two neighbours: `数据库` becomes `数据 据库 数 据 库`
 *   joined by a sign      two words around one `.`, `/`, `-`, `:`, `@` or `\`: `login.ts`, `10:36`
 *   hexadecimal           its first 4 and 7 digits, as people shorten hashes
 *
 * Terms contain no white space.
 */

/** Marks a message whose text is only partly indexed. No word can equal it. */
export const TRUNCATED_TERM = "~cut~"
/** Longer runs are not words. Their beginning is a term, so that a hash or a key is found by the whole of it. */
const WORD_LENGTH_MAX = 64
/** An identifier of more parts is encoded data. */
const PARTS_MAX = 12
const STEM_LENGTHS = [4, 6] as const
const HASH_LENGTHS = [4, 7] as const
const HASH_LENGTH_MIN = 7
const HASH = /^(?=.*\d)[0-9a-f]+$/

/** The order of terms everywhere: by UTF-16 code units. */
export function compare(left: string, right: string): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}

// --- Classes of characters ----------------------------------------------------------------------------------------

const OTHER = 0
const LOWER = 1
const UPPER = 2
const DIGIT = 3
const UNDERSCORE = 4
const MARK = 5
/** Letters of scripts without spaces between words. */
const DENSE = 6
const PICTURE = 7
const UNKNOWN = 255

const DENSE_SCRIPTS = [
  "Han",
  "Hiragana",
  "Katakana",
  "Bopomofo",
  "Hangul",
  "Thai",
  "Lao",
  "Khmer",
  "Myanmar",
  "Tibetan",
]
const PATTERNS: readonly (readonly [pattern: RegExp, found: number])[] = [
  [new RegExp(`^(?=[\\p{L}\\p{M}\\p{N}])[${DENSE_SCRIPTS.map((name) => `\\p{scx=${name}}`).join("")}]`, "u"), DENSE],
  [/^[\p{Lu}\p{Lt}]/u, UPPER],
  [/^\p{L}/u, LOWER],
  [/^\p{N}/u, DIGIT],
  [/^\p{M}/u, MARK],
  [/^_/, UNDERSCORE],
  [/^\p{Extended_Pictographic}/u, PICTURE],
]

/** Classes by code unit, filled on first use. A surrogate stays unknown: its class depends on the pair. */
export const CLASSES = new Uint8Array(0x10000).fill(UNKNOWN)

function classOf(codePoint: number): number {
  const known = CLASSES[codePoint] ?? UNKNOWN
  if (known !== UNKNOWN) return known
  const character = String.fromCodePoint(codePoint)
  const found = PATTERNS.find(([pattern]) => pattern.test(character))?.[1] ?? OTHER
  if (codePoint < 0x10000 && !(codePoint >= 0xd800 && codePoint <= 0xdfff)) CLASSES[codePoint] = found
  return found
}

function isWordClass(found: number): boolean {
  return found >= LOWER && found <= MARK
}

/** The class of the character that starts at an index. */
export function classAt(text: string, at: number): number {
  const known = CLASSES[text.charCodeAt(at)] as number
  return known === UNKNOWN ? classOf(text.codePointAt(at) ?? 0) : known
}

function widthAt(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xd800 && unit <= 0xdbff && (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1
}

/** The end of the word that starts at an index; the index itself where none starts. */
export function endOfWord(text: Uint16Array, start: number, length: number): number {
  let end = start
  while (end < length) {
    const found = CLASSES[text[end] as number] as number
    if (isWordClass(found)) end++
    else if (found !== UNKNOWN) break
    else {
      const width = wordWidthAt(text, end, length)
      if (width === 0) break
      end += width
    }
  }
  return end
}

/** The width of a character in code units; 0 if it is not part of a word. */
function wordWidthAt(text: Uint16Array, at: number, length: number): number {
  const character = characterAt(text, at, length)
  return isWordClass(classAt(character, 0)) ? character.length : 0
}

export function characterAt(text: Uint16Array, at: number, length: number): string {
  const unit = text[at] as number
  const next = at + 1 < length ? (text[at + 1] as number) : 0
  const isPair = unit >= 0xd800 && unit <= 0xdbff && next >= 0xdc00 && next <= 0xdfff
  return isPair ? String.fromCharCode(unit, next) : String.fromCharCode(unit)
}

/** The classes outside words. */
export const CHARACTER = { none: OTHER, dense: DENSE, picture: PICTURE } as const

// --- Folding ------------------------------------------------------------------------------------------------------

const NOT_ASCII = /[^\0-\x7f]/
/** In these scripts a mark modifies a letter. In others, such as Thai or Devanagari, it is a letter itself. */
const ACCENTS = /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Hebrew}])\p{Mn}+/gu
/**
 * Letters that readers take for the same but lower-casing keeps apart, and the Arabic tatweel, which only stretches a
 * line.
 */
const EQUIVALENT: Readonly<Record<string, string>> = { ß: "ss", ς: "σ", ـ: "" }

/** Folds case, width, ligatures and accents, so that what reads the same compares equal. */
export function foldText(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase()
  const bare = text.normalize("NFKD").toLowerCase().replace(ACCENTS, "$1")
  return bare.replace(/[ßςـ]/g, (character) => EQUIVALENT[character] ?? character).normalize("NFC")
}

// --- Terms --------------------------------------------------------------------------------------------------------

/** Terms in the order of the text, with repetitions. */
export function indexTerms(text: string): string[] {
  return extractTerms(text, false)
}

/** Distinct terms of a query. Unlike the index, it shortens hashes from 4 digits on. */
export function queryTerms(query: string): string[] {
  return [...new Set(extractTerms(query, true))]
}

function extractTerms(text: string, isQuery: boolean): string[] {
  const terms: string[] = []
  // Folding keeps the length of ASCII, so the text is folded once and not word by word.
  const whole = NOT_ASCII.test(text) ? undefined : text.toLowerCase()
  let before: Run | undefined
  for (let at = 0; at < text.length; ) {
    const found = classAt(text, at)
    if (isWordClass(found)) {
      const run = readWord(text, at, whole)
      addWordTerms(terms, run, isQuery)
      if (run.word !== "") addJoinedTerms(terms, text, run, before)
      before = run
      at = run.end
    } else if (found === DENSE) {
      at = addDenseTerms(terms, text, at)
    } else {
      const next = at + widthAt(text, at)
      if (found === PICTURE) terms.push(text.slice(at, next))
      at = next
    }
  }
  return terms
}

/** The words of a text, each with its span and the term that stands for all of it. */
export function* findWordSpans(text: string): Generator<WordSpan> {
  for (let at = 0; at < text.length; ) {
    const run = isWordClass(classAt(text, at)) ? readWord(text, at, undefined) : undefined
    if (run !== undefined && run.word !== "") yield run
    at = run?.end ?? at + widthAt(text, at)
  }
}

/** A word and where it stands. */
export interface WordSpan {
  readonly start: number
  readonly end: number
  /** The folded word; for an identifier, its parts without separators. */
  readonly word: string
}

interface Run extends WordSpan {
  readonly parts: readonly string[]
  readonly hasDigit: boolean
}

export function readWord(text: string, start: number, whole: string | undefined): Run {
  const cuts: number[] = []
  let [end, hasDigit, isApart] = [start, false, false]
  let [last, lastButOne] = [OTHER, OTHER]
  while (end < text.length) {
    const found = classAt(text, end)
    if (!isWordClass(found)) break
    if (found === DIGIT) hasDigit = true
    if (found === UNDERSCORE) isApart = true
    const cut = cutAt(end, found, last, lastButOne)
    if (cut !== undefined) cuts.push(cut)
    lastButOne = last
    last = found
    end += widthAt(text, end)
  }
  if ((cuts.length === 0 && !isApart) || cuts.length >= PARTS_MAX || end - start > WORD_LENGTH_MAX) {
    const stop = Math.min(end, start + WORD_LENGTH_MAX)
    return { start, end, word: whole?.slice(start, stop) ?? foldText(text.slice(start, stop)), parts: [], hasDigit }
  }
  const parts = splitIdentifier(text, start, end, cuts)
  return { start, end, word: parts.join(""), parts: parts.length > 1 ? parts : [], hasDigit }
}

/** Where a new part of an identifier starts, if one does at this character. */
function cutAt(at: number, found: number, last: number, lastButOne: number): number | undefined {
  if (found === UPPER && (last === LOWER || last === DIGIT || last === MARK)) return at
  // In `HTTPServer` the new part starts one letter before the first lower-case one.
  return found === LOWER && last === UPPER && lastButOne === UPPER ? at - 1 : undefined
}

function splitIdentifier(text: string, start: number, end: number, cuts: readonly number[]): string[] {
  const places = [start, ...cuts, end]
  const pieces = places.slice(1).map((to, index) => text.slice(places[index], to))
  return pieces
    .flatMap((piece) => piece.split("_"))
    .filter((piece) => piece !== "")
    .map(foldText)
}

const DIGITS = /\p{N}/u

/** Adds the terms of a word on its own, whatever surrounds it. */
export function addWordTerms(terms: string[], { word, parts, hasDigit }: Run, isQuery: boolean): void {
  if (word === "") return
  if (parts.length === 0) {
    addPlain(terms, word, hasDigit, isQuery)
    return
  }
  terms.push(word)
  for (const part of parts) addPlain(terms, part, hasDigit && DIGITS.test(part), isQuery)
  if (parts.length > 2) for (let at = 1; at < parts.length; at++) terms.push(`${parts[at - 1]}${parts[at]}`)
}

function addPlain(terms: string[], word: string, hasDigit: boolean, isQuery: boolean): void {
  terms.push(word)
  if (!hasDigit) {
    if (word.length >= STEM_LENGTHS[0]) terms.push(`${word.slice(0, STEM_LENGTHS[0])}*`)
    if (word.length > STEM_LENGTHS[1]) terms.push(`${word.slice(0, STEM_LENGTHS[1])}*`)
    return
  }
  const isCut = isQuery && word.length >= HASH_LENGTHS[0]
  if ((word.length < HASH_LENGTH_MIN && !isCut) || !HASH.test(word)) return
  for (const length of HASH_LENGTHS) if (word.length >= length) terms.push(`${word.slice(0, length)}~`)
}

const JOINERS = "./-:@\\"

const JOINER_UNITS = new Uint8Array(0x10000)
for (const sign of JOINERS) JOINER_UNITS[sign.charCodeAt(0)] = 1
const PLUS = "+".charCodeAt(0)
const NUMBER_SIGN = "#".charCodeAt(0)

/** Whether a sign beside the word may join it with something. Beside most words there is none. */
export function isTouching(text: Uint16Array, length: number, start: number, end: number): boolean {
  if (start > 0 && JOINER_UNITS[text[start - 1] as number] === 1) return true
  if (end >= length) return false
  const next = text[end]
  return next === PLUS || next === NUMBER_SIGN
}

/** Adds what a word forms with the signs around it: `c++`, `c#`, `-z`, `login.ts`. */
export function addJoinedTerms(
  terms: string[],
  text: string,
  { start, end, word }: WordSpan,
  before: Omit<WordSpan, "start"> | undefined,
): void {
  const next = text[end]
  if (next === "+" && text[end + 1] === "+") terms.push(`${word}++`)
  if (next === "#" && !isWordClass(classOf(text.charCodeAt(end + 1) || 0))) terms.push(`${word}#`)
  const joiner = text[start - 1]
  if (joiner === undefined || !JOINERS.includes(joiner)) return
  if (before?.end === start - 1) {
    terms.push(`${before.word}${joiner}${word}`)
    return
  }
  if (joiner !== "-") return
  const lead = text[start - 2] === "-" ? text[start - 3] : text[start - 2]
  if (lead === undefined || " \t\n\"'`([,".includes(lead)) terms.push(`-${word}`)
}

export function addDenseTerms(terms: string[], text: string, start: number): number {
  let end = start
  while (end < text.length && classAt(text, end) === DENSE) end += widthAt(text, end)
  const characters = [...foldText(text.slice(start, end))]
  for (const [at, character] of characters.entries()) {
    const next = characters[at + 1]
    terms.push(character)
    if (next !== undefined) terms.push(`${character}${next}`)
  }
  return end
}
