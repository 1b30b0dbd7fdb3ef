/** Which text in the user's place a person typed, and which Hermes put there, by how it begins. Knows text, no records. */
import { type Placed, splitAt } from "../extract.ts"
import { injectedText, type PartDraft, textPart } from "../parts.ts"

/** Texts that are the client's as a whole. */
const OPENINGS: readonly (readonly [opening: RegExp, injected: string])[] = [
  [/^\[CONTEXT (?:COMPACTION|SUMMARY)\b/, "compact-summary"],
  [/^\[System note: /, "system-reminder"],
  [/^\[IMPORTANT: The user has invoked the /, "skill"],
  [/^\[IMPORTANT: (?:Background process|MCP servers have been reloaded)/, "task-notification"],
  [/^\[SYSTEM: /, "system-reminder"],
  [/^\[ASYNC DELEGATION (?:BATCH )?COMPLETE/, "task-notification"],
  [/^\[Note: model was just switched /, "system-reminder"],
]

/** What stands behind or before what a person typed. */
const AROUND =
  /<memory-context>[\s\S]*?<\/memory-context>\s*|\n\n\[System note: [\s\S]*\]$|^\[(?:Replying to: "|The user sent (?:an image|a voice message)~)[^\]]*\]\s*/g

/** `injected`: all of it is of that kind. */
export function userTexts(text: Placed<string>, injected?: string): PartDraft<"text">[] {
  const kind = injected ?? OPENINGS.find(([opening]) => opening.test(text.value))?.[1]
  if (kind !== undefined) return [injectedText(text, kind)]
  const found = [...text.value.matchAll(AROUND)]
  let at = 0
  return splitAt(text, boundsOf(found)).map((piece) => {
    const isInjected = found.some(({ index }) => index === at)
    at += piece.value.length
    return isInjected
      ? injectedText(piece, "internal-context")
      : textPart({ provenance: "conversational", text: piece })
  })
}

/** In how many pieces a text is read that a person wrote. */
export function piecesOfText(text: string): number {
  if (OPENINGS.some(([opening]) => opening.test(text))) return 1
  const inner = boundsOf([...text.matchAll(AROUND)]).filter((bound) => bound > 0 && bound < text.length)
  return 1 + new Set(inner).size
}

function boundsOf(found: readonly RegExpExecArray[]): number[] {
  return found.flatMap((match) => [match.index, match.index + match[0].length])
}
