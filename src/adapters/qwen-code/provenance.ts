/**
 * Which text in the user's slot a person typed, and which the client put there, which it marks with tags and headings.
 * Knows text, no records.
 */
import { type Placed, splitAt } from "../extract.ts"
import { injectedText, type PartDraft, textPart } from "../parts.ts"

/** Texts that the client writes as a whole, by how they begin. */
const OPENINGS: readonly (readonly [opening: string, injected: string])[] = [
  ["<state_snapshot>", "compact-summary"],
  ["<task-notification>", "task-notification"],
  ["This is the Qwen Code. We are setting up the context for our chat.", "environment-context"],
]

const FILES_BEGIN = "\n--- Content from referenced files ---"
const FILES_END = "\n--- End of content ---"
const TAGGED = /<(system-reminder|qwen:user-prompt-submit-context)>[\s\S]*?<\/\1>\s*/g
const KINDS: Readonly<Record<string, string>> = { "system-reminder": "system-reminder" }

/** Reads the texts of one message in order. `injected` says that all of it is the client's. */
export function createUserTexts(injected: string | undefined) {
  let isInFiles = false
  return (text: Placed<string>): PartDraft<"text">[] => {
    const { value } = text
    const opening = OPENINGS.find(([start]) => value.startsWith(start))?.[1] ?? injected
    if (opening !== undefined) return [injectedText(text, opening)]
    if (isInFiles || value.startsWith(FILES_BEGIN)) {
      isInFiles = !value.endsWith(FILES_END)
      return [injectedText(text, "file-content")]
    }
    return authoredTexts(text)
  }
}

/** In how many pieces a text is read that a person wrote. */
export function piecesOfText(text: string): number {
  if (OPENINGS.some(([start]) => text.startsWith(start)) || text.startsWith(FILES_BEGIN)) return 1
  const bounds = [...text.matchAll(TAGGED)].flatMap((match) => [match.index, match.index + match[0].length])
  return 1 + new Set(bounds.filter((at) => at > 0 && at < text.length)).size
}

function authoredTexts(text: Placed<string>): PartDraft<"text">[] {
  const found = [...text.value.matchAll(TAGGED)]
  const bounds = found.flatMap((match) => [match.index, match.index + match[0].length])
  let at = 0
  return splitAt(text, bounds).map((piece) => {
    const tagged = found.find(({ index }) => index === at)
    at += piece.value.length
    if (tagged === undefined) return textPart({ provenance: "conversational", text: piece })
    return injectedText(piece, KINDS[tagged[1] ?? ""] ?? "hook")
  })
}
