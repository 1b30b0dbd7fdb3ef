/**
 * Where in a text the words of a query stand: marked for the eye, and the lines around the first of them. Words are
 * found by what they begin with, because the index finds other forms of them too. The text is visible text already.
 */
import { enginePattern, wordsOfPattern } from "../../model/engine-pattern.ts"
import { cutToWidth, wrapToWidth } from "./table.ts"

export type Marker = (line: string) => string

const WORD_UNITS_MIN = 3
const BEGINNING_UNITS_MIN = 4
const ENDING_UNITS = 3

/** What to mark; nothing where nothing is to be. */
export function patternOf(query: string, mode: string | undefined): RegExp | undefined {
  if (query.trim() === "") return undefined
  if (mode === "exact") return new RegExp(escapeRegExp(query), "giu")
  if (mode === "pattern") return patternOfExpression(query)
  const quoted = [...query.matchAll(/"([^"]+)"/g)].map(([, phrase]) => phrase ?? "")
  const words = query
    .replace(/"[^"]*"/g, " ")
    .split(/[^\p{L}\p{N}_$./-]+/u)
    .filter((word) => word !== "")
  const telling = words.filter((word) => word.length >= WORD_UNITS_MIN || !/^[\p{Script=Latin}]+$/u.test(word))
  const parts = [...quoted.map(escapeRegExp), ...(telling.length > 0 ? telling : words).map(prefixPattern)]
  return parts.length === 0 ? undefined : new RegExp(parts.join("|"), "giu")
}

/** `charged` marks `charge` and `charging`; a word of few letters marks itself alone. */
function prefixPattern(word: string): string {
  if (!/^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]+$/u.test(word)) return escapeRegExp(word)
  const units = Math.max(BEGINNING_UNITS_MIN, word.length - ENDING_UNITS)
  if (word.length <= BEGINNING_UNITS_MIN) return `(?<!\\p{L})${escapeRegExp(word)}(?!\\p{L})`
  return `(?<!\\p{L})${escapeRegExp(word.slice(0, units))}\\p{L}{0,${word.length - units + ENDING_UNITS}}(?!\\p{L})`
}

/** Of a pattern that is not read here its words are marked. */
function patternOfExpression(query: string): RegExp | undefined {
  const pattern = enginePattern(query)
  if (pattern !== undefined) return new RegExp(query, "giu")
  const words = wordsOfPattern(query)
  return words.length === 0 ? undefined : new RegExp(words.map(escapeRegExp).join("|"), "giu")
}

function piecesOf(line: string, pattern: RegExp): string[] {
  const pieceUnits = enginePattern(pattern.source)?.pieceUnits ?? line.length
  if (line.length <= pieceUnits) return [line]
  return line.match(new RegExp(`.{1,${pieceUnits}}`, "gsu")) ?? [line]
}

/** Only what means something outside of brackets: with `u`, a sign that is escapeRegExp for nothing does not compile. */
function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")
}

/** Each match of some length marked. */
export function highlightMatches(line: string, pattern: RegExp | undefined, mark: Marker): string {
  if (pattern === undefined) return line
  const pieces = piecesOf(line, pattern)
  return pieces.map((piece) => piece.replace(pattern, (found) => (found === "" ? "" : mark(found)))).join("")
}

export interface ExcerptLayout {
  readonly width: number
  readonly linesMax: number
}

/** Lines of at most that width around the first match, `…` where more stands before or behind them. */
export function excerpt(text: string, pattern: RegExp | undefined, { width, linesMax }: ExcerptLayout): string[] {
  const lines = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .flatMap((line) => wrapLine(line.trimEnd(), width))
  const at =
    pattern === undefined
      ? 0
      : Math.max(
          0,
          lines.findIndex((line) => piecesOf(line, pattern).some((piece) => new RegExp(pattern, "iu").test(piece))),
        )
  const from = lines.length <= linesMax ? 0 : Math.min(Math.max(0, at - 1), lines.length - linesMax)
  const shown = lines.slice(from, from + linesMax)
  const isCutBefore = from > 0
  const isCutBehind = from + linesMax < lines.length
  return shown.map((line, index) => {
    const before = isCutBefore && index === 0 ? "… " : ""
    const behind = isCutBehind && index === shown.length - 1 ? " …" : ""
    return `${before}${line}${behind}`
  })
}

/** A word that is longer than the line is cut: a hit is a glimpse, the whole text is one command away. */
function wrapLine(line: string, width: number): string[] {
  if (!Number.isFinite(width)) return [line]
  return wrapToWidth(line, width).map((each) => cutToWidth(each, width))
}
