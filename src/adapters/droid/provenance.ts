/** Which text in the user's place a person typed, and which Droid put there, which it marks with tags. Knows text, no records. */
import { type Placed, splitAt } from "../extract.ts"
import { injectedText, type PartDraft, textPart } from "../parts.ts"

const TAGGED = /<(system-reminder|system-notification|context_files)>[\s\S]*?<\/\1>\s*/g
const KINDS: Readonly<Record<string, string>> = {
  "system-reminder": "system-reminder",
  "system-notification": "task-notification",
  context_files: "file-content",
}

/** `injected`: all of it is of that kind, but for what its tags say. */
export function userTexts(text: Placed<string>, injected: string | undefined): PartDraft<"text">[] {
  if (text.value === "") return []
  const found = [...text.value.matchAll(TAGGED)]
  let at = 0
  return splitAt(text, boundsOf(found)).map((piece) => {
    const tagged = found.find(({ index }) => index === at)
    at += piece.value.length
    const kind = tagged === undefined ? injected : KINDS[tagged[1] ?? ""]
    return kind === undefined ? textPart({ provenance: "conversational", text: piece }) : injectedText(piece, kind)
  })
}

/** In how many pieces a text is read that a person wrote. */
export function piecesOfText(text: string): number {
  const inner = boundsOf([...text.matchAll(TAGGED)]).filter((bound) => bound > 0 && bound < text.length)
  return 1 + new Set(inner).size
}

function boundsOf(found: readonly RegExpExecArray[]): number[] {
  return found.flatMap((match) => [match.index, match.index + match[0].length])
}
