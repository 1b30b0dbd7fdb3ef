/**
 * A pattern of the store's engine, read with JavaScript's own expressions: where in a text it matches is not the engine's to
 * say. The engine takes linear time for any pattern, and what is read here could take for ever; so only what repeats no
 * group and refers to none is read, on pieces of a text. Pure.
 */

export interface EnginePattern {
  readonly source: string
  /** So much of a text is looked at in one go: the time for it grows to the power of one more than what repeats in it. */
  readonly pieceUnits: number
}

const PIECE_UNITS = [8_192, 512, 120, 120] as const
const PIECE = /\\(?<escape>.)|\[\^?\]?(?:\\.|[^\]\\])*\]|(?<group>\))?(?<often>[*+]|\{\d*,?\d*\})|./gsu

/** Nothing where it cannot be read here, or not in time. */
export function enginePattern(source: string): EnginePattern | undefined {
  const pieceUnits = PIECE_UNITS[repetitionsOf(source) ?? PIECE_UNITS.length]
  if (pieceUnits === undefined) return undefined
  try {
    new RegExp(source, "u")
    return { source, pieceUnits }
  } catch {
    return undefined
  }
}

/** How often something is repeated without an end; nothing where a group is, or where it refers back. */
function repetitionsOf(source: string): number | undefined {
  let repetitions = 0
  for (const { groups } of source.matchAll(PIECE)) {
    if (/[1-9k]/.test(groups?.["escape"] ?? "") || groups?.["group"] !== undefined) return undefined
    if (groups?.["often"] !== undefined) repetitions += 1
  }
  return repetitions
}

/** The words of a pattern that most likely stand in what it matches. */
export function wordsOfPattern(source: string): string[] {
  return source.replace(/\\./gsu, " ").match(/[\p{L}\p{N}_]{3,}/gu) ?? []
}

/** Where the first match begins; nothing where none is found before it is over. */
export function firstMatch(
  text: string,
  { source, pieceUnits }: EnginePattern,
  isOver: () => boolean,
): number | undefined {
  const expression = new RegExp(source, "u")
  for (let from = 0; from < text.length && !isOver(); from += Math.ceil(pieceUnits / 2)) {
    const found = expression.exec(text.slice(from, from + pieceUnits))
    if (found !== null && found[0] !== "") return from + found.index
  }
  return undefined
}
