/** Which words in the user's place a person typed, and which OpenClaw put there, by how they begin. Knows text, no records. */
import { type Placed, splitAt } from "../extract.ts"
import { injectedText, type PartDraft, textPart } from "../parts.ts"

/** Texts that are the client's as a whole. */
const OPENINGS: readonly (readonly [opening: RegExp, injected: string])[] = [
  [/^\[cron:[^\]]*\]/, "scheduled-task"],
  [/^\[Subagent Context\]/, "agent-task"],
  [/^\[Inter-session message\]/, "teammate-message"],
  [/^System: \[/, "system-reminder"],
  [/^Read HEARTBEAT\.md if it exists/, "heartbeat"],
]

/** What stands before, behind or between what a person typed. */
const AROUND = new RegExp(
  [
    // When and by whom it was said, in a messenger.
    "^\\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \\d{4}-\\d\\d-\\d\\d[^\\]]*\\] ?",
    "^\\[[A-Z]\\w+ [^\\]\\n]*\\d{4}-\\d\\d-\\d\\d[^\\]\\n]*\\] ?",
    "(?:Conversation info|Sender|Replied message|Forwarded message context) \\(untrusted[^)]*\\):\\n```json\\n[\\s\\S]*?\\n```\\n*",
    "\\[Chat messages since your last reply - for context\\][\\s\\S]*?\\[Current message - respond to this\\]\\n?",
    "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>[\\s\\S]*?<<<END_OPENCLAW_INTERNAL_CONTEXT>>>\\n*",
    "<<<EXTERNAL_UNTRUSTED_CONTENT[^>]*>>>[\\s\\S]*?<<<END_EXTERNAL_UNTRUSTED_CONTENT[^>]*>>>\\n*",
    "^\\[media attached[^\\]]*\\]\\n*",
  ].join("|"),
  "g",
)

export function userTexts(text: Placed<string>): PartDraft<"text">[] {
  const kind = OPENINGS.find(([opening]) => opening.test(text.value))?.[1]
  if (kind !== undefined) return [injectedText(text, kind)]
  const found = [...text.value.matchAll(AROUND)]
  if (found.length === 0) return [textPart({ provenance: "conversational", text })]
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
