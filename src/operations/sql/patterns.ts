/**
 * The patterns of LIKE and ILIKE as regular expressions of the store. One may let more through than the pattern and never
 * less: the engine looks again at what it gets. Letters are alike here as they are there, character by character, which is
 * not what a regular expression calls case-blind; of letters beyond ASCII any is let through.
 */

export interface Pattern {
  readonly expression: string
  /** Whether it lets nothing else through. */
  readonly isExact: boolean
}

export type LetterCase =
  /** As they are written. */
  | "kept"
  /** Both sides are made small. */
  | "blind"
  /** The text is made small, the pattern is not. */
  | "lowered"

/** A half of a pair stands in the store behind this character: together they are one. */
const ANY = "(?:\\x{10FFFE}.|[^\\x{10FFFE}])"
/** Besides the capital, what else becomes this letter when it is made small. */
const ALSO_SMALL: Readonly<Record<string, string>> = { i: "\u0130", k: "\u212a" }

export function likePattern(pattern: string, letters: LetterCase): Pattern | undefined {
  return joined([...pattern].map((char) => WILD[char] ?? charPattern(char, letters)))
}

const WILD: Readonly<Record<string, string>> = { "%": ".*", _: ANY }

/** The text as it is, somewhere in it, or at one of its ends. */
export function textPattern(text: string, place: "whole" | "inside" | "start" | "end", letters: LetterCase) {
  const chars = [...text].map((char) => charPattern(char, letters))
  const before = place === "inside" || place === "end" ? [".*"] : []
  const behind = place === "inside" || place === "start" ? [".*"] : []
  return joined([...before, ...chars, ...behind])
}

const LOOSE = Symbol("any character of those that are alike")
const NEVER = Symbol("no text has it")
type Piece = string | typeof LOOSE | typeof NEVER

function charPattern(char: string, letters: LetterCase): Piece {
  const isLetter = /^[a-z]$/i.test(char)
  if (letters === "kept" || (char < "\u0080" && !isLetter)) return escaped(char)
  if (!isLetter) return LOOSE
  const small = char.toLowerCase()
  if (letters === "lowered" && char !== small) return NEVER
  return `[${small}${small.toUpperCase()}${ALSO_SMALL[small] ?? ""}]`
}

function joined(pieces: readonly Piece[]): Pattern | undefined {
  if (pieces.includes(NEVER)) return undefined
  const isExact = !pieces.includes(LOOSE)
  const body = pieces.map((piece) => (typeof piece === "string" ? piece : ANY)).join("")
  return { expression: `(?s:^${body}$)`, isExact }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/#&~-]/g, "\\$&")
}
