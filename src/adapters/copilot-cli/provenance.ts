/**
 * Which text of a prompt a person typed. The client keeps what was typed (`content`) and what it sends
 * (`transformedContent`): the same with the time in front, and with reminders and tagged files behind. Knows text, no records.
 */
import { type Placed, splitAt } from "../extract.ts"
import { injectedText, type PartDraft, textPart } from "../parts.ts"

/** Of a prompt that the client, a skill or an agent wrote: what it is, by how its `source` begins. */
const SOURCES: readonly (readonly [opening: string, kind: string])[] = [
  ["agent-", "subagent-prompt"],
  ["skill-", "skill"],
  ["command-", "command"],
]

/** What a foreign restore marks: the source says the kind itself. */
export const OTHER_SOURCE = "system-"

export function injectedBy(source: string): string {
  if (source.startsWith(OTHER_SOURCE)) return source.slice(OTHER_SOURCE.length)
  return SOURCES.find(([opening]) => source.startsWith(opening))?.[1] ?? "client-prompt"
}

/** A text of the user's slot. `injected`: what the client marks it as; nothing where a person typed it. */
export function userTextParts(text: Placed<string>, injected: string | undefined): PartDraft<"text">[] {
  if (injected === undefined) return [textPart({ provenance: "conversational", text })]
  return [injectedText(text, injected)]
}

/** What was sent, cut at the exact bounds of what was typed. Undefined where it does not hold that. */
export function sentParts(sent: Placed<string>, typed: string): PartDraft<"text">[] | undefined {
  // What was typed may be a digit, which the time has, too.
  const [clock = ""] = CLOCK.exec(sent.value) ?? []
  const start = typed === "" ? -1 : sent.value.indexOf(typed, clock.length)
  if (start < 0) return undefined
  const pieces = splitAt(sent, [start, start + typed.length])
  let at = 0
  return pieces.map((piece) => {
    const isTyped = at === start
    at += piece.value.length
    if (isTyped) return textPart({ provenance: "conversational", text: piece })
    return injectedText(piece, CLOCK.test(piece.value) ? "environment-context" : "system-reminder")
  })
}

const CLOCK = /^<current_datetime>[^<]*<\/current_datetime>\s*/
