/**
 * Where in a text the words of a query stand: marked for the eye, and the lines around the first of them. Words are
 * found by what they begin with, because the index finds other forms of them too. The text is visible text already.
 */
import { cutToWidth, wrapToWidth } from "./table.ts"

export type Marker = (line: string) => string

const WORD_UNITS_MIN = 3
const BEGINNING_UNITS_MIN = 4
const ENDING_UNITS = 3

/** What to mark; nothing where nothing is to be. */
export function patternOf(query: string, mode: string | undefined): RegExp | undefined {
  if (query.trim() === "") return undefined
  if (mode === "exact") return new RegExp(escaped(query), "giu")
  if (mode === "pattern") return expressionOf(query)
  const quoted = [...query.matchAll(/"([^"]+)"/g)].map(([, phrase]) => phrase ?? "")
  const words = query
    .replace(/"[^"]*"/g, " ")
    .split(/[^\p{L}\p{N}_$./-]+/u)
    .filter((word) => word !== "")
  const telling = words.filter((word) => word.length >= WORD_UNITS_MIN || !/^[\p{Script=Latin}]+$/u.test(word))
  const parts = [...quoted.map(escaped), ...(telling.length > 0 ? telling : words).map(beginning)]
  return parts.length === 0 ? undefined : new RegExp(parts.join("|"), "giu")
}

/** `charged` marks `charge` and `charging`; a word of few letters marks itself alone. */
function beginning(word: string): string {
  if (!/^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]+$/u.test(word)) return escaped(word)
  const units = Math.max(BEGINNING_UNITS_MIN, word.length - ENDING_UNITS)
  if (word.length <= BEGINNING_UNITS_MIN) return `(?<!\\p{L})${escaped(word)}(?!\\p{L})`
  return `(?<!\\p{L})${escaped(word.slice(0, units))}\\p{L}{0,${word.length - units + ENDING_UNITS}}(?!\\p{L})`
}

/**
 * The engine's patterns are not JavaScript's: what does not compile here marks nothing, and what the engine finds in linear
 * time could take for ever here. Of such a pattern its words are marked.
 */
function expressionOf(query: string): RegExp | undefined {
  const repetitions = repetitionsOf(query)
  if (repetitions === undefined || repetitions > REPETITIONS_MAX) {
    const words = query.replace(/\\./gsu, " ").match(/[\p{L}\p{N}_]{3,}/gu)
    return words === null ? undefined : new RegExp(words.map(escaped).join("|"), "giu")
  }
  try {
    return new RegExp(query, "giu")
  } catch {
    return undefined
  }
}

/** The time for a text grows with its length to the power of one more than these. */
const REPETITIONS_MAX = 3
/** Longer lines are looked at in pieces where there is more than one. */
const PIECE_UNITS = 120
const PATTERN_PIECE = /\\(?<escape>.)|\[\^?\]?(?:\\.|[^\]\\])*\]|(?<group>\))?(?<often>[*+]|\{\d*,?\d*\})|./gsu

/** How often something is repeated without an end; nothing where a group is, or where it refers back. */
function repetitionsOf(pattern: string): number | undefined {
  let repetitions = 0
  for (const { groups } of pattern.matchAll(PATTERN_PIECE)) {
    if (/[1-9k]/.test(groups?.["escape"] ?? "") || groups?.["group"] !== undefined) return undefined
    if (groups?.["often"] !== undefined) repetitions += 1
  }
  return repetitions
}

function piecesOf(line: string, pattern: RegExp): string[] {
  if (line.length <= PIECE_UNITS || (repetitionsOf(pattern.source) ?? 0) < 2) return [line]
  return line.match(new RegExp(`.{1,${PIECE_UNITS}}`, "gsu")) ?? [line]
}

/** Only what means something outside of brackets: with `u`, a sign that is escaped for nothing does not compile. */
function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")
}

/** Each match of some length marked. */
export function marked(line: string, pattern: RegExp | undefined, mark: Marker): string {
  if (pattern === undefined) return line
  const pieces = piecesOf(line, pattern)
  return pieces.map((piece) => piece.replace(pattern, (found) => (found === "" ? "" : mark(found)))).join("")
}

export interface ExcerptLook {
  readonly width: number
  readonly linesMax: number
}

/** Lines of at most that width around the first match, `…` where more stands before or behind them. */
export function excerpt(text: string, pattern: RegExp | undefined, { width, linesMax }: ExcerptLook): string[] {
  const lines = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .flatMap((line) => wrapped(line.trimEnd(), width))
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
function wrapped(line: string, width: number): string[] {
  if (!Number.isFinite(width)) return [line]
  return wrapToWidth(line, width).map((each) => cutToWidth(each, width))
}
